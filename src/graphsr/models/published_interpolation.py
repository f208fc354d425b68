"""The interpolation of the reference implementation, for its checkpoints only.

Clough-Tocher on a Delaunay triangulation of the known cells' centres, and the nearest value outside their hull: not
bicubic, not symmetric, constant along the border. Networks trained with it expect just that.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy.interpolate import CloughTocher2DInterpolator, NearestNDInterpolator
from scipy.spatial import QhullError


def interpolate_published(source: torch.Tensor, size: tuple[int, int], known: torch.Tensor) -> torch.Tensor:
    """(B, K, h, w) -> (B, K, H, W); known (B, 1 or K, h, w)."""
    known = known.expand_as(source)
    out = np.empty((*source.shape[:2], *size), np.float32)
    for place in np.ndindex(source.shape[0], source.shape[1]):
        out[place] = _one(source[place].detach().cpu().numpy(), known[place].cpu().numpy(), size)
    return torch.from_numpy(out).to(source)


def _one(source: np.ndarray, known: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    rows, columns = np.nonzero(known)
    factors = size[0] / source.shape[0], size[1] / source.shape[1]
    points = np.stack([(rows + 0.5) * factors[0] - 0.5, (columns + 0.5) * factors[1] - 0.5], 1)
    values = source[known].astype(np.float64)
    grid = np.stack(np.meshgrid(np.arange(size[0]), np.arange(size[1]), indexing="ij"), -1)
    nearest = NearestNDInterpolator(points, values)(grid)
    try:
        smooth = CloughTocher2DInterpolator(points, values)(grid)
    except QhullError:  # too few cells, or all in a line
        return np.asarray(nearest)
    return np.asarray(np.where(np.isfinite(smooth), smooth, nearest))
