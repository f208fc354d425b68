"""Reading a file into an `Image`; every way that can fail ends in one line."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path

import numpy as np

from graphsr.errors import InputError
from graphsr.files.format import Format
from graphsr.files.image import Array, Image
from graphsr.files.limits import check_pixels, check_regular_file
from graphsr.files.registry import format_by_signature, format_of

_LONGEST_SIGNATURE = 8


def read_image(path: str | os.PathLike[str], *, bytes_per_pixel: int = 0) -> Image:
    """Read an image file.

    Args:
        path: A file whose suffix names one of the known formats.
        bytes_per_pixel: Memory that each of its pixels takes later on, to be refused before the file is decoded.

    Returns:
        The image: an array (H, W) or (H, W, C) in the file's own type and units, upright, without alpha channel.

    Raises:
        InputError: The file is not there, is damaged, holds no image or one too large for the memory.
    """
    path = Path(path)
    start = _first_bytes(path)
    entry = format_of(path)
    entry.require(path)
    try:
        check_pixels(path, entry.measure(path), bytes_per_pixel)
        image = entry.read(path)
    except InputError:
        raise
    except MemoryError as error:
        raise InputError(f"{path}: there is not enough memory to read it; crop it") from error
    except Exception as error:
        # Decoders meet damaged bytes with nearly any exception, so none of them may pass.
        raise InputError(f"{path}: {_diagnosis(entry, start, error)}") from error
    return replace(image, array=_checked(image.array, path))


def _first_bytes(path: Path) -> bytes:
    check_regular_file(path, "an image file")
    try:
        with path.open("rb") as stream:
            start = stream.read(_LONGEST_SIGNATURE)
    except OSError as error:
        raise InputError(f"{path}: cannot be opened ({error.strerror})") from error
    if not start:
        raise InputError(f"{path}: the file is empty")
    return start


def _diagnosis(entry: Format, start: bytes, error: Exception) -> str:
    actual = format_by_signature(start)
    if actual is not None and actual is not entry:
        return f"holds a {actual.name} image; give it the suffix {actual.suffixes[0]}"
    reason = (str(error).strip() or type(error).__name__).splitlines()[0]
    return f"cannot be read as {entry.name}; the file may be damaged ({reason})"


def _checked(array: Array, path: Path) -> Array:
    if array.dtype.kind not in "buif":
        raise InputError(f"{path}: holds values of type {array.dtype}; integers or real numbers are needed")
    if array.ndim not in (2, 3):
        raise InputError(f"{path}: holds an array of shape {array.shape}; (H, W) or (H, W, C) is needed")
    if array.size == 0:
        raise InputError(f"{path}: holds an array of shape {array.shape}, which has no pixels")
    if array.dtype.kind == "b":
        array = array.astype(np.uint8)
    return np.ascontiguousarray(array, dtype=array.dtype.newbyteorder("="))
