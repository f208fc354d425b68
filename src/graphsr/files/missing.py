"""Source pixels without a measurement: marked by a value in the file, NaN in the computation."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphsr.files.image import Array

_FEWEST_ZEROS = 0.005  # of all pixels
_NEAR_ZERO = 0.1  # of the median of the other pixels
_ISOLATION = 10  # zeros for each pixel that is near zero


def mark_missing(array: Array, missing: float | None) -> tuple[Array, NDArray[np.bool_]]:
    """Return the source as floats with NaN for missing pixels.

    Args:
        array: Any shape, any real type.
        missing: The value that marks a missing pixel; what is not finite is always missing.

    Returns:
        The values as floats of at least 32 bits, and where they are missing; both of the shape of `array`.
    """
    values = array.astype(np.result_type(array.dtype, np.float32))
    holes = ~np.isfinite(values)
    if missing is not None and not np.isnan(missing):
        holes |= _equal(array, missing)
    values[holes] = np.nan
    return values, holes


def _equal(array: Array, value: float) -> NDArray[np.bool_]:
    if array.dtype.kind != "f":
        return np.asarray(array == value)
    # A value typed in decimal (-3.4028235e38) has to meet what the file's narrower type made of it.
    with np.errstate(over="ignore"):
        return np.asarray(array == np.asarray(value).astype(array.dtype))


def suspected_missing(array: Array) -> float:
    """Return the share of zeros in an image if they look like holes rather than values, else 0.

    Holes are zeros that stand apart: hardly any other pixel is near zero. A dark picture has its zeros next
    to ones and twos, and an image of only two values is a mask, where zero means something. So it does among floats of
    both signs, and in several channels of them, as features have it.
    """
    zero = array == 0
    share = float(zero.mean())
    others = array[~zero & np.isfinite(array)].astype(np.float64)
    if share < _FEWEST_ZEROS or others.size == 0 or others.min() == others.max():
        return 0.0
    several = array.ndim > 2 and array.shape[2] > 1
    if array.dtype.kind == "f" and (several or others.min() < 0 < others.max()):
        return 0.0
    others = np.abs(others)
    near = np.count_nonzero(others < _NEAR_ZERO * np.median(others))
    return share if near * _ISOLATION <= np.count_nonzero(zero) else 0.0
