"""Every format, by suffix. A new format is one new file and one line here."""

from __future__ import annotations

from pathlib import Path

from graphsr.errors import InputError
from graphsr.files.format import Format
from graphsr.files.formats import exr, jpeg, numpy_files, pfm, png, tiff

FORMATS: tuple[Format, ...] = (
    png.FORMAT,
    jpeg.FORMAT,
    tiff.FORMAT,
    numpy_files.NPY,
    numpy_files.NPZ,
    pfm.FORMAT,
    exr.FORMAT,
)

_BY_SUFFIX = {suffix: entry for entry in FORMATS for suffix in entry.suffixes}
FLOAT_SUFFIXES = ".tif, .npy, .pfm or .exr"


def format_of(path: Path) -> Format:
    entry = _BY_SUFFIX.get(path.suffix.lower())
    if entry is None:
        named = f"unknown file type {path.suffix}" if path.suffix else "the name has no file type"
        raise InputError(f"{path}: {named}; use one of {', '.join(_BY_SUFFIX)}")
    return entry


def format_by_signature(start: bytes) -> Format | None:
    """The format that the first bytes of a file belong to."""
    return next((entry for entry in FORMATS if start.startswith(entry.signatures)), None)


def is_image(path: Path) -> bool:
    """Whether a file has the suffix of a format known here."""
    return path.suffix.lower() in _BY_SUFFIX
