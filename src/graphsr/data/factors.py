"""Which factors a training draws."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from graphsr.errors import InputError


@dataclass(frozen=True)
class Factors:
    """Say which factors a training draws.

    Attributes:
        least, most: factors lie between these, small and large ones alike (their logarithms evenly).
        whole: probability that a factor is rounded to a power of two between the two.
    """

    least: float = 8.0
    most: float = 8.0
    whole: float = 1.0

    def __post_init__(self) -> None:
        if not 1 <= self.least <= self.most < math.inf:
            raise InputError("factors must be at least 1, and `least` not above `most`")

    def draw(self, size: tuple[int, int], rng: np.random.Generator) -> tuple[int, int]:
        """Draw the size (h, w) of a source for a target of `size` (H, W)."""
        if self.least == self.most:
            return round(size[0] / self.least), round(size[1] / self.least)
        factor = float(np.exp(rng.uniform(np.log(self.least), np.log(self.most))))
        if rng.random() < self.whole:
            factor = self._nearest_power_of_two(factor)
        return max(2, round(size[0] / factor)), max(2, round(size[1] / factor))

    def _nearest_power_of_two(self, factor: float) -> float:
        """Return the nearest power of two between the ends, or the factor itself if there is none."""
        low, high = math.ceil(math.log2(self.least)), math.floor(math.log2(self.most))
        return float(2 ** min(max(round(math.log2(factor)), low), high)) if low <= high else factor
