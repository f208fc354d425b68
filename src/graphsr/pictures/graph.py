"""Edge weights as a picture."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphsr.pictures.colour import robust_range
from graphsr.pictures.palette import Picture


def graph_picture(down: NDArray[Any], right: NDArray[Any], size: tuple[int, int]) -> Picture:
    """Show the logarithm of the weaker edge weight of each pixel, below or right of it: dark lines where it is cut.

    Args:
        down: (H-1, W).
        right: (H, W-1).
        size: The most rows and columns to show; of more pixels the weakest is shown, so that thin lines stay.

    Returns:
        (rows, columns, 3), grey.
    """
    logarithm = np.log10(np.maximum(_pooled(weaker_edge(down, right), size), np.finfo(np.float32).tiny))
    low, high = robust_range(logarithm, percentiles=(1, 99))
    grey = np.rint(255 * np.clip((logarithm - low) / (high - low), 0, 1)).astype(np.uint8)
    return np.repeat(grey[..., None], 3, axis=2)


def weaker_edge(down: NDArray[Any], right: NDArray[Any]) -> NDArray[np.float32]:
    """Return the weaker of the edge weights below and right of each pixel (H, W), of down (H-1, W), right (H, W-1)."""
    weakest = np.full((right.shape[0], down.shape[1]), np.inf, np.float32)
    weakest[:-1] = down
    weakest[:, :-1] = np.minimum(weakest[:, :-1], right)
    # The last pixel has edges above and left of it alone, a single one has none.
    weakest[-1, -1] = min([*down[-1:, -1], *right[-1, -1:]], default=1)
    return weakest


def _pooled(values: NDArray[np.float32], size: tuple[int, int]) -> NDArray[np.float32]:
    """Return the smallest of blocks, as few as fit into `size`."""
    for axis, most in enumerate(size):
        step = -(-values.shape[axis] // most)
        values = np.minimum.reduceat(values, np.arange(0, values.shape[axis], step), axis=axis)
    return values
