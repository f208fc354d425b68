"""Every format, by suffix. A new format is one new file and one line here."""

from __future__ import annotations

from pathlib import Path

from graphsr.errors import InputError
from graphsr.files.format import Format
from graphsr.files.formats import exr, jpeg, netpbm, numpy_files, pfm, pillow_files, png, tiff

FORMATS: tuple[Format, ...] = (
    png.FORMAT,
    jpeg.FORMAT,
    tiff.FORMAT,
    numpy_files.NPY,
    numpy_files.NPZ,
    pfm.FORMAT,
    exr.FORMAT,
    netpbm.FORMAT,
    pillow_files.WEBP,
    pillow_files.BMP,
)

_BY_SUFFIX = {suffix: entry for entry in FORMATS for suffix in entry.suffixes}
FLOAT_SUFFIXES = ".tif, .npy, .pfm or .exr"


def format_of(path: Path) -> Format:
    """Return the format of a file to read; raise an `InputError` that lists the known suffixes if there is none."""
    entry = _BY_SUFFIX.get(path.suffix.lower())
    if entry is None:
        raise InputError(f"{path}: {_unknown(path)}; use one of {', '.join(_BY_SUFFIX)}")
    return entry


def output_format_of(path: Path) -> Format:
    """Return the format of a file to write; raise an `InputError` if it is unknown or read only."""
    entry = _BY_SUFFIX.get(path.suffix.lower())
    if entry is None or entry.write is None:
        reason = _unknown(path) if entry is None else f"{entry.name} files are read, but not written"
        suffixes = [suffix for suffix, known in _BY_SUFFIX.items() if known.write is not None]
        raise InputError(f"{path}: {reason}; use one of {', '.join(suffixes)}")
    return entry


def output_name(source: Path) -> str:
    """Return the file name of the target of a source: the same, or a PNG where the source's format is read only."""
    entry = _BY_SUFFIX.get(source.suffix.lower())
    return f"{source.stem}.png" if entry is not None and entry.write is None else source.name


def format_by_signature(start: bytes) -> Format | None:
    """Return the format that the first bytes of a file belong to."""
    return next((entry for entry in FORMATS if start.startswith(entry.signatures)), None)


def is_image(path: Path) -> bool:
    """Return whether a file has the suffix of a known format."""
    return path.suffix.lower() in _BY_SUFFIX


def _unknown(path: Path) -> str:
    return f"unknown file type {path.suffix}" if path.suffix else "the name has no file type"
