"""A disc as guide and source: an edge in every direction, whose place is known."""

from __future__ import annotations

import numpy as np
import torch

from graphsr.sampling import Sampling

SIZE, FACTOR = (96, 128), 4
NOMINAL = np.array([[FACTOR, 0.0, 0.0], [0.0, FACTOR, 0.0]])


def a_disc(radius: float, x: float, y: float) -> np.ndarray:
    """Return (H, W): 1 in a disc about x, y, and 0 outside, with pixels between at its rim."""
    row, column = np.indices(SIZE) + 0.5
    return np.clip(radius + 0.5 - np.hypot(column - x, row - y), 0, 1)


def source_of(target: np.ndarray) -> np.ndarray:
    """Return the means (h, w) of a target (H, W)."""
    return Sampling(SIZE, (SIZE[0] // FACTOR, SIZE[1] // FACTOR))(torch.from_numpy(target)).numpy()
