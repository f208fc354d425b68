"""The figures of one result, and their means."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields

import numpy as np
from scipy import ndimage

from graphsr.data.footprints import average
from graphsr.evaluation.protocols import Case

# To centimetres; what is not a length in space stays as it is.
_TO_SHOWN = {"m": (100.0, "cm"), "mm": (0.1, "cm")}
# An edge is a step of more than this part of the map's range; near is within so many pixels.
_EDGE_STEP = 0.03
_NEAR_PIXELS = 4
_PUBLISHED_BATCH = 8


@dataclass(frozen=True)
class Figures:
    """Hold the figures of one result, in centimetres where the unit is a length, else in the map's own unit.

    Attributes:
        mse, mae, rmse: over the pixels that count.
        low_resolution_mse: of the target averaged back, against the source.
        edge_mse: within 4 pixels of an edge of the true map; NaN without edges.
        smooth_mse: elsewhere.
        variance: of the true map: what the errors are to be seen against.
        seconds: that it took.
        pixels: how many count.
    """

    mse: float
    mae: float
    rmse: float
    low_resolution_mse: float
    edge_mse: float
    smooth_mse: float
    variance: float
    seconds: float
    pixels: float


def shown_unit(unit: str) -> tuple[float, str]:
    """Return what values in a unit are multiplied by to be shown, and the unit they are shown in."""
    return _TO_SHOWN.get(unit, (1.0, unit))


def measure(case: Case, target: np.ndarray, seconds: float) -> Figures:
    """Measure a result.

    Args:
        case: what was upsampled.
        target: (H, W), the result.
        seconds: that it took.

    Returns:
        Its figures.
    """
    times, _ = shown_unit(case.pair.unit)
    truth = case.pair.target
    error = np.where(case.counted, (target.astype(np.float64) - truth) * times, np.nan)
    near = _near_edges(truth) & case.counted
    back = (average(target, (case.source.shape[0], case.source.shape[1])) - case.source.astype(np.float64)) * times
    mse = float(np.nanmean(error**2))
    return Figures(
        mse=mse,
        mae=float(np.nanmean(np.abs(error))),
        rmse=mse**0.5,
        low_resolution_mse=float(np.nanmean(back**2)),
        edge_mse=_mean_square(error[near]),
        smooth_mse=_mean_square(error[case.counted & ~near]),
        variance=float(np.nanvar(np.where(case.counted, truth, np.nan)) * times**2),
        seconds=seconds,
        pixels=float(case.counted.sum()),
    )


def _mean_square(errors: np.ndarray) -> float:
    return float(np.mean(errors**2)) if errors.size else float("nan")


def _near_edges(truth: np.ndarray) -> np.ndarray:
    """Return (H, W): True near a step of the true map (H, W)."""
    low, high = np.nanpercentile(truth, [1, 99])
    limit = _EDGE_STEP * max(float(high - low), 1e-12)
    edge = np.zeros(truth.shape, bool)
    with np.errstate(invalid="ignore"):
        down, right = np.abs(np.diff(truth, axis=0)) > limit, np.abs(np.diff(truth, axis=1)) > limit
    edge[:-1] |= down
    edge[1:] |= down
    edge[:, :-1] |= right
    edge[:, 1:] |= right
    return np.asarray(ndimage.binary_dilation(edge, np.ones((3, 3), bool), iterations=_NEAR_PIXELS - 1))


def mean(figures: Sequence[Figures]) -> Figures:
    """Return the means over results, each counted once."""
    return Figures(**{f.name: _mean([getattr(one, f.name) for one in figures]) for f in fields(Figures)})


def _mean(values: Sequence[float]) -> float:
    """Return the mean of those that are numbers: a patch without edges has no error at edges."""
    numbers = [value for value in values if not np.isnan(value)]
    return float(np.mean(numbers)) if numbers else float("nan")


def published_means(figures: Sequence[Figures]) -> tuple[float, float]:
    """Return MSE and MAE as the reference implementation averages: over the pixels of 8 patches, then over batches."""
    batches = [figures[n : n + _PUBLISHED_BATCH] for n in range(0, len(figures), _PUBLISHED_BATCH)]

    def of(name: str) -> float:
        weights = [[one.pixels for one in batch] for batch in batches]
        values = [[getattr(one, name) for one in batch] for batch in batches]
        return float(np.mean([np.average(v, weights=w) for v, w in zip(values, weights, strict=True)]))

    return of("mse"), of("mae")
