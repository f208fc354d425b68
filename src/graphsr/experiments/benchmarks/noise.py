"""Measure how a stated noise is turned into a confidence: beside the best one that a search finds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphsr.data import Pair
from graphsr.data.degradation import Degradation, degrade
from graphsr.experiments.benchmarks.validation_pairs import read_crops
from graphsr.measurements.noise import Noise
from graphsr.models.base import Model
from graphsr.upsampling import upsample

# The confidences searched, one for all source pixels: half a decade apart.
CONFIDENCES = tuple(10 ** (-power / 2) for power in range(13))
# A case is close if its RMSE is at most so much above the best.
CLOSE = 0.05
WAYS = ("stated", "auto", "nothing said")


@dataclass(frozen=True)
class NoiseCase:
    """One noisy source.

    Attributes:
        set: The data set.
        pair: Its pair.
        factor: Of the upsampling.
        noise: Standard deviation, as a part of the range of the source.
        best: The least RMSE of `CONFIDENCES`.
        excess: RMSE above that, as a part of it, for each of `WAYS`.
    """

    set: str
    pair: str
    factor: int
    noise: float
    best: float
    excess: tuple[float, ...]


def measure(set_name: str, pair: Pair, factor: int, noise: float, model: Model) -> NoiseCase:
    """Upsample the source of a pair with noise of a part of its range, in all ways; the same noise every time."""
    size = pair.size[0] // factor, pair.size[1] // factor
    rng = np.random.default_rng([factor, *pair.name.encode()])
    clean = degrade(pair.target, size, Degradation(), rng)
    source = degrade(pair.target, size, Degradation(noise=noise), rng)
    sigma = noise * float(np.nanmax(clean) - np.nanmin(clean))

    def rmse(confidence: float | None = None, said: Noise | None = None) -> float:
        target = upsample(pair.guide, source, model=model, confidence=confidence, noise=said).target
        return float(np.sqrt(np.nanmean((target - pair.target) ** 2)))

    best = min(rmse(confidence) for confidence in CONFIDENCES)
    found = rmse(said=sigma), rmse(said="auto"), rmse()
    return NoiseCase(set_name, pair.name, factor, noise, best, tuple(each / best - 1 for each in found))


@dataclass(frozen=True)
class NoiseRow:
    """What one way costs over all cases: the mean and the largest excess, and the part of the cases that are close."""

    way: str
    mean: float
    largest: float
    close: float


def summarise(cases: Sequence[NoiseCase]) -> list[NoiseRow]:
    """Summarise cases, a row for each of `WAYS`."""
    columns = np.array([case.excess for case in cases]).T
    return [
        NoiseRow(way, float(each.mean()), float(each.max()), float(np.mean(each <= CLOSE)))
        for way, each in zip(WAYS, columns, strict=True)
    ]


def run(
    data: Path,
    model: Model,
    *,
    factors: Sequence[int],
    noises: Sequence[float],
    pairs: int,
    side: int,
    update: Callable[[str], None],
) -> list[NoiseCase]:
    """Measure crops of the pairs of a folder of data sets; `update` is told what is being done."""
    cases = []
    for set_name, pair in read_crops(data, pairs, side):
        for factor in factors:
            for noise in noises:
                update(f"{pair.name}, x{factor}, noise of {noise:g}")
                cases.append(measure(set_name, pair, factor, noise, model))
    return cases
