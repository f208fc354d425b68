"""Rendered pairs whose source lies elsewhere than edge to edge, by a known amount."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch

from graphsr.sampling import Sampling
from graphsr.scenes import Scene, scene

MARGIN = 16


@dataclass(frozen=True, eq=False)
class PlacedPair:
    """A guide (H, W, 3), its depth (H, W), and a source (h, w) whose first pixel begins at `shift` (x, y)."""

    guide: np.ndarray
    depth: np.ndarray
    source: np.ndarray


@lru_cache
def rendered(seed: int, height: int, width: int) -> Scene:
    return scene(seed, (height, width))


def placed_pair(
    shift: tuple[float, float],
    *,
    seed: int = 3,
    factor: int = 4,
    scale: float = 1.0,
    source_size: tuple[int, int] = (32, 40),
) -> PlacedPair:
    """Return a pair whose source pixels begin `shift` (x, y) beside edge to edge and are `scale` times as large."""
    size = source_size[0] * factor, source_size[1] * factor
    whole = rendered(seed, size[0] + 2 * MARGIN, size[1] + 2 * MARGIN)
    inner = slice(MARGIN, -MARGIN), slice(MARGIN, -MARGIN)
    origin, step = (MARGIN + shift[1], MARGIN + shift[0]), (scale * factor, scale * factor)
    sampling = Sampling((whole.depth.shape[0], whole.depth.shape[1]), source_size, origin=origin, step=step)
    source = sampling(torch.from_numpy(whole.depth.astype(np.float64))).numpy()
    return PlacedPair(whole.guide[inner], whole.depth[inner], source)
