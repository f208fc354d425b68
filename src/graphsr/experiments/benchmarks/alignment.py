"""How well shifted sources are aligned: known shifts of pairs, found from the edges of guide and source.

Maps of sensors, and some rendered ones, lie a fraction of a pixel beside their guides. So there are scenes rendered
here, which are aligned by construction; and of all pairs it is measured how their maps lie, at twice their pixels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from graphsr.data import Pair
from graphsr.measurements.alignment import find_alignment
from graphsr.models.base import Model
from graphsr.sampling import Sampling
from graphsr.scenes import scene
from graphsr.upsampling import upsample

RENDERED = "rendered"
# Seeds of scenes that no model was trained on.
FIRST_SEED = 1_000_000
_SCENE_SIZE = (480, 640)
Shift = tuple[float, float]
SHIFTS = (0.5, 6.0)
CLOSE = 0.25
OWN_FACTOR = 2
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
        own: How the map itself lies: what was found for a source at `OWN_FACTOR` without a shift; None: nothing.
        rmse: Of targets: aligned, not aligned, and without any shift; None where not measured.
    """

    set: str
    pair: str
    factor: int
    shift: Shift
    found: Shift | None
    own: Shift | None
    rmse: tuple[float, float, float] | None

    @property
    def error(self) -> float:
        """Return how far the shift that was used is from the true one."""
        x, y = self.found or (0.0, 0.0)
        return math.hypot(x - self.shift[0], y - self.shift[1])

    @property
    def difference(self) -> float:
        """Return the same where the pair's own misalignment is subtracted."""
        (x, y), (own_x, own_y) = self.found or (0.0, 0.0), self.own or (0.0, 0.0)
        return math.hypot(x - self.shift[0] - own_x, y - self.shift[1] - own_y)

    @property
    def rmse_ratio(self) -> float:
        """Return the RMSE of the aligned target over that without any shift."""
        return math.nan if self.rmse is None else self.rmse[0] / self.rmse[2]


def rendered_pairs(count: int) -> Iterator[tuple[str, Pair]]:
    """Yield scenes that are aligned by construction: colour and depth are of the same centres of pixels."""
    for seed in range(FIRST_SEED, FIRST_SEED + count):
        drawn = scene(seed, _SCENE_SIZE)
        yield RENDERED, Pair(f"rendered/{seed}", drawn.guide, drawn.depth, "m")


def measure(
    set_name: str,
    pair: Pair,
    factor: int,
    rng: np.random.Generator,
    *,
    model: Model,
    solve: bool,
    own: Shift | None = None,
) -> Case:
    """Shift the source of a pair by a random distance within `SHIFTS`, in a random direction, and align it.

    Args:
        set_name: The data set.
        pair: The pair.
        factor: Of the upsampling.
        rng: Where the shift is drawn from.
        model: Whose graph refines the shift, if it is a learned one, in evaluation mode.
        solve: Whether to measure its targets too.
        own: How the map itself lies, see `own_shift`.
    """
    direction, length = rng.uniform(0, 2 * math.pi), rng.uniform(*SHIFTS)
    shift = length * math.cos(direction), length * math.sin(direction)
    guide, truth, moved = _placed(pair, factor, shift)
    rmse = None
    if solve:
        still = _placed(pair, factor, (0.0, 0.0))[2]
        runs = (upsample(guide, moved, model=model, align="shift"), upsample(guide, moved, model=model))
        targets = (*(run.target for run in runs), upsample(guide, still, model=model).target)
        aligned, plain, best = (float(np.sqrt(np.nanmean((target - truth) ** 2))) for target in targets)
        rmse = aligned, plain, best
    return Case(set_name, pair.name, factor, shift, _found(guide, moved, model), own, rmse)


def own_shift(pair: Pair) -> Shift | None:
    """Return how the map of a pair lies on its guide, x and y in guide pixels; None where it does not tell."""
    guide, _, source = _placed(pair, OWN_FACTOR, (0.0, 0.0))
    return _found(guide, source)


def _placed(pair: Pair, factor: int, shift: Shift) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the inner part of guide and map, and a source of it that lies `shift` (x, y) further on."""
    size = tuple((side - 2 * _MARGIN) // factor * factor for side in pair.size)
    inner = tuple(slice(_MARGIN, _MARGIN + side) for side in size)
    return pair.guide[inner], pair.target[inner], _source(pair.target, size, factor, shift)


def _source(target: np.ndarray, size: tuple[int, ...], factor: int, shift: Shift) -> np.ndarray:
    """Return the source (h, w) of the part of `size` of a target that lies `shift` (x, y) further on."""
    source_size = size[0] // factor, size[1] // factor
    origin = _MARGIN + shift[1], _MARGIN + shift[0]
    sampling = Sampling((target.shape[0], target.shape[1]), source_size, origin=origin, step=(factor, factor))
    values = torch.from_numpy(target.astype(np.float64))
    mean, share = sampling.masked(torch.nan_to_num(values), torch.isfinite(values))
    return np.where(share.numpy() > 0, mean.numpy(), np.nan)


@torch.no_grad()
def _found(guide: np.ndarray, source: np.ndarray, model: Model | None = None) -> Shift | None:
    refining = model if model is not None and model.predicts_edges else None
    matrix = find_alignment(guide, source[None], "shift", refining).matrix
    return None if matrix is None else (float(matrix[0, 2]), float(matrix[1, 2]))


@dataclass(frozen=True)
class Summary:
    """What was measured of some cases: parts of them, and medians in guide pixels and of RMSE ratios."""

    cases: int
    aligned: float
    close: float
    close_to_own: float
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


def run(
    pairs: Iterable[tuple[str, Pair]],
    factors: Sequence[int],
    *,
    model: Model,
    solve: bool,
    update: Callable[[str], None],
) -> list[Case]:
    """Measure pairs, each with the name of its set, at every factor; `update` is told what is being done."""
    cases = []
    for set_name, pair in pairs:
        update(f"{pair.name}, the map itself")
        own = own_shift(pair)
        for factor in factors:
            update(f"{pair.name}, x{factor}")
            # The same shift whichever other pairs and factors are measured.
            rng = np.random.default_rng([factor, *pair.name.encode()])
            cases.append(measure(set_name, pair, factor, rng, model=model, solve=solve, own=own))
    return cases
