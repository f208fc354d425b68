"""Undoing rounding: an 8-bit map is a staircase where the surface was a slope.

The map is smoothed, but no value may leave its step: rounding the result gives the input again. Across jumps of more
than one step nothing flows, so edges stay.
"""

from __future__ import annotations

import numpy as np
from numba import njit

# Enough for treads of some ten pixels. More changes little and costs time.
_ROUNDS = 40
# How far a value may move, in steps. At 0.5 it would lie on the boundary and might round to the next step.
_FARTHEST = np.float32(0.499)


# NaN must keep its meaning: comparisons with it are false.
@njit(cache=True, nogil=True)
def _smooth(levels, rounds):  # type: ignore[no-untyped-def]
    height, width = levels.shape
    now, then = levels.copy(), levels.copy()
    for _ in range(rounds):
        for i in range(height):
            for j in range(width):
                own = levels[i, j]
                total, count = np.float32(0), np.float32(0)
                for side in range(4):
                    a = i + (side == 0) - (side == 1)
                    b = j + (side == 2) - (side == 3)
                    if 0 <= a < height and 0 <= b < width and abs(levels[a, b] - own) <= 1:
                        total += now[a, b]
                        count += 1
                value = total / count if count > 0 else own
                then[i, j] = min(max(value, own - _FARTHEST), own + _FARTHEST)
        now, then = then, now
    return now


def undo_staircase(target: np.ndarray, step: float) -> np.ndarray:
    """Smooth a map that was rounded, without leaving the steps it was rounded to.

    Args:
        target: (H, W) float32, in multiples of `step` plus a constant; NaN = unknown.
        step: 0 leaves the map as it is.

    Returns:
        (H, W) float32.
    """
    if step <= 0:
        return target
    base = np.nanmin(target) if np.isfinite(target).any() else 0.0
    levels = np.round((target - base) / step).astype(np.float32)  # NaN compares as too far, so nothing flows there
    smooth = np.asarray(_smooth(levels, _ROUNDS))
    return np.where(np.isfinite(target), base + step * smooth, np.nan).astype(np.float32)
