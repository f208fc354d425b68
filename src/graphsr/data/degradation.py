"""From the true map to a source: averaging, and what real sensors do to it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from graphsr.sampling import Sampling


@dataclass(frozen=True)
class Degradation:
    """What happens to a source beyond averaging. The defaults are the published protocol: nothing."""

    noise: float = 0.0  # standard deviation at the farthest pixel, at most, in standard deviations of the map
    missing_at_edges: float = 0.0  # the probability that a cell on a depth edge is missing, at most
    missing: float = 0.0  # the part of cells missing anywhere, at most
    shift: float = 0.0  # guide against source, pixels of the target, at most


@dataclass(frozen=True)
class Factors:
    """Which factors are drawn: log-uniform between two ends, rounded to powers of two with the probability `whole`."""

    least: float = 8.0
    most: float = 8.0
    whole: float = 1.0

    def draw(self, size: tuple[int, int], rng: np.random.Generator) -> tuple[int, int]:
        """The source size (h, w) for a target of `size`. A whole factor must divide the size."""
        if self.least == self.most:
            return round(size[0] / self.least), round(size[1] / self.least)
        factor = float(np.exp(rng.uniform(np.log(self.least), np.log(self.most))))
        if rng.random() < self.whole:
            factor = self._whole(factor)
        return max(2, round(size[0] / factor)), max(2, round(size[1] / factor))

    def _whole(self, factor: float) -> float:
        """The nearest power of two between the ends, if there is one."""
        low, high = math.ceil(math.log2(self.least)), math.floor(math.log2(self.most))
        return float(2 ** min(max(round(math.log2(factor)), low), high)) if low <= high else factor


def average(target: np.ndarray, source_size: tuple[int, int]) -> np.ndarray:
    """(H, W) with NaN -> (h, w): the mean of the known pixels of each cell, NaN where there is none."""
    sampling = Sampling((target.shape[0], target.shape[1]), source_size)
    values = torch.from_numpy(np.ascontiguousarray(target, dtype=np.float64))
    mean, share = sampling.masked(torch.nan_to_num(values), torch.isfinite(values))
    return np.where(share.numpy() > 0, mean.numpy(), np.nan).astype(np.float32)


def degrade(target: np.ndarray, source_size: tuple[int, int], how: Degradation, rng: np.random.Generator) -> np.ndarray:
    """The source (h, w), NaN = missing, that a sensor would give of `target` (H, W)."""
    if how.shift > 0:
        target = _shifted(target, rng.uniform(-how.shift, how.shift, 2))
    source = average(target, source_size)
    spread = float(np.nanstd(source)) or 1.0
    if how.missing_at_edges > 0:
        jump = _largest_jump(source)
        edge = jump > 0.3 * spread
        source[edge & (rng.random(source.shape) < rng.uniform(0, how.missing_at_edges))] = np.nan
    if how.missing > 0:
        source[rng.random(source.shape) < rng.uniform(0, how.missing) * (rng.random() < 0.5)] = np.nan
    if how.noise > 0:
        # The error of triangulating sensors grows with the square of the distance.
        far = np.nanmax(np.abs(source)) or 1.0
        strength = rng.uniform(0, how.noise) * spread * (source / far) ** 2
        source = source + np.nan_to_num(strength).astype(np.float32) * rng.standard_normal(source.shape, np.float32)
    if not np.isfinite(source).any():
        return average(target, source_size)
    return source.astype(np.float32)


def _shifted(target: np.ndarray, by: np.ndarray) -> np.ndarray:
    """Moved by whole pixels, the border repeated."""
    rows = np.clip(np.arange(target.shape[0]) + round(float(by[0])), 0, target.shape[0] - 1)
    columns = np.clip(np.arange(target.shape[1]) + round(float(by[1])), 0, target.shape[1] - 1)
    return target[np.ix_(rows, columns)]


def _largest_jump(source: np.ndarray) -> np.ndarray:
    """(h, w) the largest difference to a neighbour; 0 where unknown."""
    jump = np.zeros_like(source)
    for axis in (0, 1):
        step = np.nan_to_num(np.abs(np.diff(source, axis=axis)))
        ahead = [slice(None)] * 2
        behind = [slice(None)] * 2
        ahead[axis], behind[axis] = slice(1, None), slice(None, -1)
        jump[tuple(ahead)] = np.maximum(jump[tuple(ahead)], step)
        jump[tuple(behind)] = np.maximum(jump[tuple(behind)], step)
    return jump
