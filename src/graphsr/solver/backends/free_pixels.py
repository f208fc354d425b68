"""The pixels that no source pixel holds in place, and whether levels are worth their set-up there."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import torch

from graphsr.sampling import Sampling
from graphsr.solver.backends.levels import Levels
from graphsr.solver.contrast import hidden_eigenvalue

# Data that ties a pixel by less than this part of its edges' weights is weak: it may be taken for a pull on each pixel.
_WEAK = 1e-3
# A square without data of so many target pixels needs more iterations than the set-up of levels is worth.
_WIDE = 48
# Where there is none, levels wait for so many iterations, and help only if this part of the pixels is free.
_PATIENCE, _LEAST_FREE = 300, 0.02


def is_identity(sampling: Sampling) -> bool:
    """Return whether every source pixel is one target pixel, and so the data term diagonal."""
    return all(along.even and along.step == 1 for along in (sampling.rows, sampling.columns))


class FreePixels:
    """Where levels may correct the target of one image.

    Args:
        sampling: D.
        down: Edge weights (H-1, W).
        right: Edge weights (H, W-1).
        prior_weight: (H, W) or (1, 1).
        confidence: (h, w), 0 where missing.
        exact: Whether data are a constraint, and so never weak.
    """

    def __init__(
        self,
        sampling: Sampling,
        down: np.ndarray,
        right: np.ndarray,
        prior_weight: np.ndarray,
        confidence: np.ndarray,
        *,
        exact: bool,
    ) -> None:
        self.sampling, self.down, self.right, self.prior_weight = sampling, down, right, prior_weight
        self.confidence, self.known, self.exact = confidence, confidence > 0, exact

    @cached_property
    def is_weak(self) -> np.ndarray:
        """Which source pixels (h, w) have weak data. At factor 1 data is a pull on each pixel whatever it weighs."""
        if self.exact:
            return np.zeros_like(self.known)
        if is_identity(self.sampling):
            return self.known
        pixels = self.sampling.size[0] * self.sampling.size[1] / self.known.size
        firmest = 4 * max(self.down.max(initial=0), self.right.max(initial=0))
        if self.confidence[self.known].min() > _WEAK * pixels * firmest:
            return np.zeros_like(self.known)
        degree = np.zeros(self.sampling.size)
        degree[:-1] += self.down
        degree[1:] += self.down
        degree[:, :-1] += self.right
        degree[:, 1:] += self.right
        for axis, along in enumerate((self.sampling.rows, self.sampling.columns)):
            degree = np.minimum.reduceat(degree, np.minimum(along.first, along.size - 1), axis)
        return np.asarray(self.known & (self.confidence <= _WEAK * pixels * degree))

    @cached_property
    def covered(self) -> bool:
        """Whether every pixel lies in a source pixel, known or missing."""
        return all(bool((along.shares[:, 0] > 0).all()) for along in (self.sampling.rows, self.sampling.columns))

    @cached_property
    def exist(self) -> bool:
        """Whether there are any."""
        return not self.covered or not bool((self.known & ~self.is_weak).all())

    @cached_property
    def mask(self) -> np.ndarray:
        """Which pixels (H, W) are free."""
        firm = torch.from_numpy((self.known & ~self.is_weak).astype(np.float32))
        return (self.sampling.adjoint(firm) == 0).numpy()

    @cached_property
    def patience(self) -> int | None:
        """After how many iterations levels are worth their set-up; None: never."""
        if not self.exist or self.mask.mean() < _LEAST_FREE:
            return None
        return 0 if self._has_wide_hole else _PATIENCE

    @property
    def _has_wide_hole(self) -> bool:
        """Whether a square of _WIDE target pixels has no data."""
        (height, width), (rows, columns) = self.sampling.size, self.known.shape
        down, along = -(-_WIDE * rows // height), -(-_WIDE * columns // width)
        if down > rows or along > columns:
            return False
        sums = np.zeros((rows + 1, columns + 1), np.int64)
        np.cumsum(np.cumsum(self.known, 0), 1, out=sums[1:, 1:])
        inside = sums[down:, along:] - sums[:-down, along:] - sums[down:, :-along] + sums[:-down, :-along]
        return not bool(inside.all())

    @cached_property
    def slowest(self) -> float:
        """The smallest eigenvalue to expect before a solve has shown it; 1 if it shows in time."""
        return hidden_eigenvalue(self.down, self.right)

    @cached_property
    def levels(self) -> Levels:
        """The levels of these pixels, set up when first asked for."""
        if is_identity(self.sampling) and not self.exact:
            return Levels(self.down, self.right, self.prior_weight + self.confidence, self.mask)
        weak = np.where(self.is_weak, self.confidence, 0)
        return Levels(self.down, self.right, self.prior_weight, self.mask, self.sampling, weak)
