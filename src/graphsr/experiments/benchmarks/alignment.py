"""How well shifted sources are aligned: known shifts of real pairs, found from the edges of guide and source."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from graphsr.data import Pair, open_pairs
from graphsr.errors import InputError
from graphsr.measurements.alignment import find_alignment
from graphsr.sampling import Sampling
from graphsr.upsampling import upsample

# Kind of data set, and its folder in --data.
SETS = (
    ("hci", "hci"),
    ("middlebury-views", "middlebury"),
    ("gso", "gso"),
    ("sintel", "sintel"),
    ("nyuv2-precise", "nyuv2"),
)
FACTORS = (4, 8, 16)
SHIFTS = (0.5, 6.0)
CLOSE = 0.25
# Guide pixels around the part that is shown, so that a shifted source measures something everywhere.
_MARGIN = 8


@dataclass(frozen=True)
class Case:
    """One pair with its source shifted, x and y in guide pixels.

    Attributes:
        set: The data set.
        pair: Its pair.
        factor: Of the upsampling.
        shift: The true one.
        found: What was found for it; None: unchanged.
        unshifted: What was found for the same source without a shift; None: unchanged.
        rmse: Of targets: aligned, not aligned, and without any shift; None where not measured.
    """

    set: str
    pair: str
    factor: int
    shift: tuple[float, float]
    found: tuple[float, float] | None
    unshifted: tuple[float, float] | None
    rmse: tuple[float, float, float] | None

    @property
    def error(self) -> float:
        """Return how far the shift that was used is from the true one."""
        x, y = self.found or (0.0, 0.0)
        return math.hypot(x - self.shift[0], y - self.shift[1])

    @property
    def difference(self) -> float:
        """Return the same where the pair's own misalignment is subtracted: what was found without a shift."""
        x, y = self.unshifted or (0.0, 0.0)
        return math.hypot(*(f - s - u for f, s, u in zip(self.found or (0.0, 0.0), self.shift, (x, y), strict=True)))

    @property
    def rmse_ratio(self) -> float:
        """Return the RMSE of the aligned target over that without any shift."""
        return math.nan if self.rmse is None else self.rmse[0] / self.rmse[2]


def read_pairs(data: Path, most: int) -> Iterator[tuple[str, Pair]]:
    """Yield the validation pairs of every set in a folder, at most so many of each, evenly spaced, with its name."""
    found = [(kind, data / folder) for kind, folder in SETS if (data / folder).is_dir()]
    if not found:
        raise InputError(f"{data}: none of the folders {', '.join(folder for _, folder in SETS)} is in it")
    for kind, folder in found:
        pairs = open_pairs(kind, folder, "val")
        for number in np.unique(np.linspace(0, len(pairs) - 1, min(most, len(pairs))).astype(int)):
            yield kind, pairs[int(number)]


def measure(set_name: str, pair: Pair, factor: int, rng: np.random.Generator, *, solve: bool) -> Case:
    """Shift the source of a pair by a random distance within `SHIFTS`, in a random direction, and align it.

    Args:
        set_name: The data set.
        pair: The pair.
        factor: Of the upsampling.
        rng: Where the shift is drawn from.
        solve: Whether to measure targets of the colour model too.
    """
    direction, length = rng.uniform(0, 2 * math.pi), rng.uniform(*SHIFTS)
    shift = length * math.cos(direction), length * math.sin(direction)
    size = tuple((side - 2 * _MARGIN) // factor * factor for side in pair.size)
    inner = tuple(slice(_MARGIN, _MARGIN + side) for side in size)
    guide, truth = pair.guide[inner], pair.target[inner]
    moved, still = (_source(pair.target, size, factor, each) for each in (shift, (0.0, 0.0)))
    rmse = None
    if solve:
        runs = (upsample(guide, moved, model="colour", align="shift"), upsample(guide, moved, model="colour"))
        targets = (*(run.target for run in runs), upsample(guide, still, model="colour").target)
        aligned, plain, best = (float(np.sqrt(np.nanmean((target - truth) ** 2))) for target in targets)
        rmse = aligned, plain, best
    found, unshifted = (_found(guide, source) for source in (moved, still))
    return Case(set_name, pair.name, factor, shift, found, unshifted, rmse)


def _source(target: np.ndarray, size: tuple[int, ...], factor: int, shift: tuple[float, float]) -> np.ndarray:
    """Return the source (h, w) of the part of `size` of a target that lies `shift` (x, y) further on."""
    source_size = size[0] // factor, size[1] // factor
    origin = _MARGIN + shift[1], _MARGIN + shift[0]
    sampling = Sampling((target.shape[0], target.shape[1]), source_size, origin=origin, step=(factor, factor))
    values = torch.from_numpy(target.astype(np.float64))
    mean, share = sampling.masked(torch.nan_to_num(values), torch.isfinite(values))
    return np.where(share.numpy() > 0, mean.numpy(), np.nan)


def _found(guide: np.ndarray, source: np.ndarray) -> tuple[float, float] | None:
    matrix = find_alignment(guide, source[None], "shift").matrix
    return None if matrix is None else (float(matrix[0, 2]), float(matrix[1, 2]))


@dataclass(frozen=True)
class Summary:
    """What was measured of some cases: parts of them, and medians in guide pixels and of RMSE ratios."""

    cases: int
    aligned: float
    close: float
    close_to_unshifted: float
    error: float
    rmse_ratio: float
    rmse_within: float  # part of the cases whose RMSE is within 10 % of that without a shift


def summarise(cases: list[Case]) -> Summary:
    """Summarise cases."""
    ratios = np.array([case.rmse_ratio for case in cases])
    ratios = ratios[np.isfinite(ratios)]
    return Summary(
        len(cases),
        float(np.mean([case.found is not None for case in cases])),
        float(np.mean([case.error <= CLOSE for case in cases])),
        float(np.mean([case.difference <= CLOSE for case in cases])),
        float(np.median([case.error for case in cases])),
        float(np.median(ratios)) if ratios.size else math.nan,
        float(np.mean(ratios <= 1.1)) if ratios.size else math.nan,
    )


def run(data: Path, factors: tuple[int, ...], most: int, *, solve: bool, update: Callable[[str], None]) -> list[Case]:
    """Measure the pairs of a folder of data sets at every factor; `update` is told what is being done."""
    cases = []
    for set_name, pair in read_pairs(data, most):
        for factor in factors:
            update(f"{pair.name}, x{factor}")
            # The same shift whichever other pairs and factors are measured.
            rng = np.random.default_rng([factor, *pair.name.encode()])
            cases.append(measure(set_name, pair, factor, rng, solve=solve))
    return cases
