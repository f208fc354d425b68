"""How far each source pixel is to be trusted, read from a file."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from graphsr.errors import InputError
from graphsr.files.reading import read_image


def read_confidence(path: str | os.PathLike[str], size: tuple[int, int]) -> NDArray[np.float32]:
    """Confidences (h, w) for a source of that size: 0 is missing, 1 is full trust.

    Floats are taken as they are, with NaN for missing. Whole numbers count as fractions of the type's largest
    (255 in an 8-bit mask is 1), unless they are only zeros and ones.
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
    if values.min() < 0 or not np.all(np.isfinite(values)):
        raise InputError(f"{path}: a confidence is 0 or more and finite; the file holds {_worst(values):g}")
    return values


def _worst(values: NDArray[np.float32]) -> float:
    return float(values.min() if values.min() < 0 else values.max())
