"""Measure how outliers are found: beside the target without them, and beside nothing done about them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphsr.data import Pair
from graphsr.data.degradation import Degradation, degrade
from graphsr.experiments.benchmarks.validation_pairs import read_crops
from graphsr.models.base import Model
from graphsr.models.bicubic import Bicubic
from graphsr.upsampling import upsample


@dataclass(frozen=True)
class OutlierCase:
    """One source with outliers; RMSE of targets as a part of that of bicubic interpolation without outliers.

    Attributes:
        set: The data set.
        pair: Its pair.
        factor: Of the upsampling.
        wrong: How many source pixels are wrong.
        found: How many of these were switched off.
        lost: How many others were.
        nothing: RMSE with nothing done about outliers.
        robust: With `robust=True`.
        known: With the wrong ones marked as missing.
        clean: Of the source without outliers.
        clean_robust: Of that with `robust=True`.
        clean_lost: How many of its source pixels were switched off.
    """

    set: str
    pair: str
    factor: int
    wrong: int
    found: int
    lost: int
    nothing: float
    robust: float
    known: float
    clean: float
    clean_robust: float
    clean_lost: int


def measure(set_name: str, pair: Pair, factor: int, share: float, model: Model) -> OutlierCase:
    """Upsample the source of a pair, a share of whose pixels is anything, in all ways."""
    size = pair.size[0] // factor, pair.size[1] // factor
    rng = np.random.default_rng([factor, *pair.name.encode()])
    clean = degrade(pair.target, size, Degradation(), rng)
    source = degrade(pair.target, size, Degradation(outliers=share), rng)
    wrong = np.isfinite(source) & (source != clean)

    def rmse(target: np.ndarray) -> float:
        return float(np.sqrt(np.nanmean((target - pair.target) ** 2)))

    robust, clean_robust = (upsample(pair.guide, each, model=model, robust=True) for each in (source, clean))
    plain = [upsample(pair.guide, each, model=model) for each in (source, np.where(wrong, np.nan, source), clean)]
    scale = rmse(upsample(pair.guide, clean, model=Bicubic()).target) or 1.0
    nothing, known, without = (rmse(each.target) / scale for each in plain)
    assert robust.problem is not None
    off = (robust.problem.confidence[0].amin(0).cpu().numpy() == 0) & np.isfinite(source)
    return OutlierCase(
        set=set_name,
        pair=pair.name,
        factor=factor,
        wrong=int(wrong.sum()),
        found=int((off & wrong).sum()),
        lost=int((off & ~wrong).sum()),
        nothing=nothing,
        robust=rmse(robust.target) / scale,
        known=known,
        clean=without,
        clean_robust=rmse(clean_robust.target) / scale,
        clean_lost=clean_robust.report.switched_off,
    )


def run(
    data: Path,
    model: Model,
    *,
    factors: Sequence[int],
    share: float,
    pairs: int,
    side: int,
    update: Callable[[str], None],
) -> list[OutlierCase]:
    """Measure crops of the pairs of a folder of data sets; `update` is told what is being done."""
    cases = []
    for set_name, pair in read_crops(data, pairs, side):
        for factor in factors:
            update(f"{pair.name}, x{factor}")
            cases.append(measure(set_name, pair, factor, share, model))
    return cases
