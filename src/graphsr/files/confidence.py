"""The confidence of every source pixel, read from a file."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphsr.errors import InputError
from graphsr.files.reading import read_image

# The largest of whole numbers must be at least this part of what their type can hold.
_FULL_AT_LEAST = 1 / 16


def read_confidence(path: str | os.PathLike[str], size: tuple[int, int]) -> NDArray[np.float32]:
    """Read the confidences of source pixels: 0 is missing, 1 is full confidence.

    Floats are taken as they are, with NaN for missing. Whole numbers count as fractions of the type's largest
    (255 in an 8-bit mask is 1), unless they are only zeros and ones. Levels such as 0, 1 and 2 are refused, as nobody
    means two parts of 255 by 2.

    Args:
        path: An image file with one channel.
        size: The source's (h, w), which the file must have.

    Returns:
        Confidences (h, w), float32, from 0 to 1.
    """
    image = read_image(path)
    if image.channels != 1:
        raise InputError(f"{path}: a confidence has one channel, and the file holds {image.channels}")
    if image.size != size:
        raise InputError(
            f"{path}: the confidence has {image.size[1]} x {image.size[0]} pixels; "
            f"it needs those of the source, {size[1]} x {size[0]}"
        )
    values = image.array.reshape(size).astype(np.float32)
    values[np.isnan(values)] = 0
    return values / np.float32(full_confidence(path, image.dtype, float(values.min()), float(values.max())))


def full_confidence(path: str | os.PathLike[str], dtype: np.dtype[Any], low: float, high: float) -> float:
    """Return the number in a file that stands for full confidence.

    Args:
        path: The file, for messages.
        dtype: The type of its numbers.
        low: The smallest of them.
        high: The largest of them.
    """
    full = 1
    if dtype.kind in "iu" and high > 1:
        full = int(np.iinfo(dtype).max)
        if high < _FULL_AT_LEAST * full:
            raise InputError(
                f"{path}: whole numbers count as parts of {full}, and the largest is {high:g}; if that is meant to be "
                f"full confidence, divide by {high:g} and save floats"
            )
    if low < 0 or not high <= full:
        raise InputError(f"{path}: a confidence lies between 0 and 1; the file holds {low if low < 0 else high:g}")
    return full


def confidence_number(text: str | os.PathLike[str] | None) -> float | None:
    """Return the number that stands where a file may, or None; a file of that name is a file."""
    if text is None or Path(text).exists():
        return None
    try:
        float(os.fspath(text))
    except ValueError:
        return None
    return one_confidence(os.fspath(text))


def one_confidence(text: str) -> float:
    """Return the number that a text says, one confidence for all source pixels; it is never taken for a file."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not 0 < number <= 1:  # nor NaN
        raise InputError(f"--confidence {text}: one number for all source pixels must be above 0 and at most 1")
    return number
