"""The confidence of every source pixel, read from a file."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from graphsr.errors import InputError
from graphsr.files.reading import read_image


def read_confidence(path: str | os.PathLike[str], size: tuple[int, int]) -> NDArray[np.float32]:
    """Read the confidences of source pixels: 0 is missing, 1 is full confidence.

    Floats are taken as they are, with NaN for missing. Whole numbers count as fractions of the type's largest
    (255 in an 8-bit mask is 1), unless they are only zeros and ones.

    Args:
        path: An image file with one channel.
        size: The source's (h, w), which the file must have.

    Returns:
        Confidences (h, w), float32, all finite and 0 or more.
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
    if image.dtype.kind in "iu" and image.array.max() > 1:
        values /= np.float32(np.iinfo(image.dtype).max)
    low, high = float(values.min()), float(values.max())
    if low < 0 or not np.isfinite(high):
        raise InputError(f"{path}: a confidence is 0 or more and finite; the file holds {low if low < 0 else high:g}")
    return values
