"""Writing an image in the units and, where the format allows, the type of the source."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from graphsr.errors import InputError
from graphsr.files.atomic import check_folder, whole_file
from graphsr.files.conversion import UNCHANGED, Change, convert
from graphsr.files.format import Format
from graphsr.files.image import Array, Image, channel_count
from graphsr.files.registry import FLOAT_SUFFIXES, output_format_of


@dataclass(frozen=True)
class WriteReport:
    """What writing did to the values. `compressed` is the change by lossy compression, in JPEG only."""

    path: Path
    format: str
    dtype: str
    shape: tuple[int, ...]
    rounded: Change = UNCHANGED
    clipped: Change = UNCHANGED
    compressed: Change = UNCHANGED
    missing: int = 0
    missing_value: float | None = None

    def notes(self) -> Iterator[str]:
        """Yield one sentence for each kind of change; none if the file holds the values as they were."""
        total = int(np.prod(self.shape))
        if self.rounded.count:
            amount = f"{self.rounded.count:,} of {total:,} values rounded"
            yield f"{amount} to {self.dtype}, by at most {self.rounded.largest:.3g}"
        if self.clipped.count:
            amount = f"{self.clipped.count:,} of {total:,} values clipped"
            yield f"{amount} to the range of {self.dtype}, by at most {self.clipped.largest:.3g}"
        if self.missing:
            yield f"{self.missing:,} missing values written as {self.missing_value:g}"
        if self.compressed.count:
            amount = f"{self.compressed.count:,} of {total:,} values changed"
            yield f"{amount} by {self.format} compression, by at most {self.compressed.largest:.3g}"


def check_output(
    path: str | os.PathLike[str],
    like: Image | DTypeLike,
    channels: int | None = None,
    missing: float | None = None,
) -> np.dtype[Any]:
    """Check, before anything is computed, that an image can be written.

    Args:
        path: The file to write; its suffix names the format.
        like: The source, or the type that the file should have where the format allows.
        channels: Those of the image to write; None for those of `like`.
        missing: The value that will be written for NaN.

    Returns:
        The type in which the image will be stored.

    Raises:
        InputError: The folder, the format, the type or the value for missing pixels does not allow it.
    """
    path = Path(path)
    entry = output_format_of(path)
    check_folder(path)
    entry.require(path)
    source = like.dtype if isinstance(like, Image) else np.dtype(like)
    dtype = _stored_type(path, entry, source)
    if channels is None:
        channels = like.channels if isinstance(like, Image) else 1
    entry.check_channels(path, channels)
    if missing is not None and dtype.kind in "iu" and not np.isnan(missing) and not _fits(missing, dtype):
        limits = np.iinfo(dtype)
        raise InputError(
            f"{path}: the missing value {missing:g} does not fit {dtype} ({limits.min} to {limits.max}); "
            f"choose one that does, or write {FLOAT_SUFFIXES}"
        )
    return dtype


def fractional_type(path: str | os.PathLike[str], otherwise: DTypeLike) -> np.dtype[Any]:
    """Return float32 where the format of a file holds it, else the type given: for values far below the source's."""
    single = np.dtype(np.float32)
    return single if output_format_of(Path(path)).stored_type(single) is not None else np.dtype(otherwise)


def check_picture(path: str | os.PathLike[str]) -> None:
    """Check, before anything is computed, that a colour picture can be written; raise an `InputError` if not."""
    if Path(path).suffix.lower() != ".png":
        raise InputError(f"{path}: pictures to look at are PNG files; give it the suffix .png")
    check_output(path, "uint8", channels=3)


def write_image(
    path: str | os.PathLike[str],
    array: Array,
    *,
    like: Image | DTypeLike | None = None,
    missing: float | None = None,
) -> WriteReport:
    """Write an image, whole or not at all; an existing file is replaced.

    Args:
        path: The file to write; its suffix names the format.
        array: (H, W) or (H, W, C).
        like: The source or a type: the file has its type where the format allows. None for the array's own.
        missing: The value written for NaN. None for NaN in floats and 0 in integers.

    Returns:
        How the file is stored, and what that changed of the values.
    """
    path = Path(path)
    if array.ndim not in (2, 3) or array.size == 0:
        raise InputError(f"{path}: the array to write has shape {array.shape}; (H, W) or (H, W, C) is needed")
    channels = channel_count(array)
    dtype = check_output(path, array.dtype if like is None else like, channels, missing)
    entry = output_format_of(path)
    converted = convert(array, dtype, missing)
    pixels = converted.array
    if pixels.ndim == 3 and channels == 1 and entry.channels is not None:
        pixels = pixels[..., 0]
    pixels = np.ascontiguousarray(pixels)
    compressed = UNCHANGED
    assert entry.write is not None  # as output_format_of saw to
    with whole_file(path) as temporary:
        entry.write(temporary, pixels, missing)
        if entry.lossy:
            compressed = _difference(entry.read(temporary).array, pixels)
    return WriteReport(
        path=path,
        format=entry.name,
        dtype=dtype.name,
        shape=pixels.shape,
        rounded=converted.rounded,
        clipped=converted.clipped,
        compressed=compressed,
        missing=converted.missing,
        missing_value=converted.missing_value,
    )


def _stored_type(path: Path, entry: Format, source: np.dtype[Any]) -> np.dtype[Any]:
    if source.kind not in "buif":
        raise InputError(f"{path}: values of type {source} cannot be written; integers or real numbers are needed")
    dtype = entry.stored_type(source)
    if dtype is None and entry.lossy:
        raise InputError(
            f"{path}: {entry.name} holds 8-bit pictures only and would spoil {source} values; "
            f"write {FLOAT_SUFFIXES if source.kind == 'f' else '.png, .tif or .npy'}"
        )
    if dtype is None:
        raise InputError(
            f"{path}: {entry.name} holds whole numbers only, and {source} values would lose their fractions; "
            f"write {FLOAT_SUFFIXES}"
        )
    return dtype


def _fits(value: float, dtype: np.dtype[Any]) -> bool:
    limits = np.iinfo(dtype)
    return float(value).is_integer() and limits.min <= value <= limits.max


def _difference(after: Array, before: Array) -> Change:
    change = np.abs(after.astype(np.float64) - before.astype(np.float64))
    return Change(int(np.count_nonzero(change)), float(change.max()))
