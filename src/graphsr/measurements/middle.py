"""The middle of a large pair, where a part is enough."""

from __future__ import annotations

import math

import numpy as np

from graphsr.axes import Axis
from graphsr.sampling import Sampling


def middle(
    guide: np.ndarray, source: np.ndarray, sampling: Sampling, pixels: int
) -> tuple[np.ndarray, np.ndarray, Sampling]:
    """Return the middle of a pair, and how its source lies there.

    Args:
        guide: (H, W, C).
        source: (K, h, w).
        sampling: How the source lies.
        pixels: So many of the guide, about; a smaller pair is returned as it is.
    """
    part = math.sqrt(pixels / (guide.shape[0] * guide.shape[1]))
    if part >= 1:
        return guide, source, sampling
    (rows, down, top), (columns, across, left) = (_inner(along, part) for along in (sampling.rows, sampling.columns))
    guide, source = guide[down, across], source[:, rows, columns]
    placed = Sampling(
        (guide.shape[0], guide.shape[1]),
        (source.shape[1], source.shape[2]),
        origin=(top, left),
        step=sampling.factor,
        footprint=sampling.footprint,
    )
    return guide, source, placed


def _inner(along: Axis, part: float) -> tuple[slice, slice, float]:
    """Return which source pixels are the middle part of an axis, their target pixels, and where the first begins."""
    count = max(1, round(part * along.cells))
    first = (along.cells - count) // 2
    begin, end = (along.origin + cell * along.step for cell in (first, first + count))
    pixels = slice(max(0, math.floor(begin)), min(along.size, math.ceil(end)))
    return slice(first, first + count), pixels, begin - pixels.start
