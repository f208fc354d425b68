"""Conversion of computed floats to the type of a file; every value that had to change is counted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from graphsr.files.image import Array


@dataclass(frozen=True)
class Change:
    """How many values were changed, and the largest change in the units of the image."""

    count: int = 0
    largest: float = 0.0


UNCHANGED = Change()


@dataclass(frozen=True, eq=False)
class Converted:
    """The values in their new type, and what that changed.

    `rounded` leaves out the values that were clipped; `missing` counts the NaN that were replaced by `missing_value`.
    """

    array: Array
    rounded: Change = UNCHANGED
    clipped: Change = UNCHANGED
    missing: int = 0
    missing_value: float | None = None


def convert(array: Array, dtype: np.dtype[Any], missing: float | None = None) -> Converted:
    """Convert values to another type, rounded and clipped where need be.

    Args:
        array: Values of any shape and real type.
        dtype: The type to convert to.
        missing: What NaN becomes; None leaves it in floats and makes it 0 in integers.

    Returns:
        The values of the same shape, and how many were changed by how much.
    """
    if array.dtype == dtype and missing is None:
        return Converted(array)
    fill = _fill(dtype, missing)
    values, holes = _filled(array, fill)
    limited = np.clip(values, *_limits(dtype))
    # Infinity has a place of its own in every float type, so it is not out of range there.
    outside = (limited != values) if dtype.kind in "iu" else (limited != values) & np.isfinite(values)
    stored = _cast(values, dtype)
    clipped = _change(values, limited, outside)
    inside = ~outside & np.isfinite(values)
    rounded = _change(values, stored.astype(values.dtype), inside & (stored != values))
    return Converted(stored, rounded, clipped, holes, fill if holes else None)


def convert_uncounted(array: Array, dtype: np.dtype[Any], missing: float | None = None) -> Array:
    """Return the values that `convert` does, in less than a tenth of its time, as nothing is counted."""
    if array.dtype == dtype and missing is None:
        return array
    return _cast(_filled(array, _fill(dtype, missing))[0], dtype)


def _fill(dtype: np.dtype[Any], missing: float | None) -> float | None:
    """Return what NaN becomes; None or NaN: it stays."""
    return 0.0 if dtype.kind in "iu" and (missing is None or np.isnan(missing)) else missing


def _filled(array: Array, fill: float | None) -> tuple[Array, int]:
    """Return the values as float64 (exact for every type up to 32 bits) with NaN replaced, and how many were."""
    values = array.astype(np.float64, copy=False)
    if fill is None or np.isnan(fill):
        return values, 0
    holes = np.isnan(values)
    count = int(np.count_nonzero(holes))
    return (np.where(holes, fill, values) if count else values), count


def _cast(values: Array, dtype: np.dtype[Any]) -> Array:
    """Return float64 values, rounded and clipped, in another type."""
    if dtype.kind in "iu":
        return np.asarray(np.rint(np.clip(values, *_limits(dtype))), dtype)
    with np.errstate(over="ignore"):
        stored = values.astype(dtype)
    if np.isinf(stored).any():  # of which some may be out of range
        outside = np.isfinite(values) & np.isinf(stored)
        stored[outside] = np.clip(values[outside], *_limits(dtype))
    return stored


def _limits(dtype: np.dtype[Any]) -> tuple[float, float]:
    if dtype.kind == "f":
        return float(np.finfo(dtype).min), float(np.finfo(dtype).max)
    low, high = int(np.iinfo(dtype).min), float(np.iinfo(dtype).max)
    # The largest 64-bit integer is no float64; the next float below it is the largest that can be cast.
    return float(low), high if int(high) <= np.iinfo(dtype).max else float(np.nextafter(high, 0))


def _change(before: Array, after: Array, where: Array) -> Change:
    count = int(where.sum())
    if not count:
        return UNCHANGED
    return Change(count, float(np.max(np.abs(after[where] - before[where]))))
