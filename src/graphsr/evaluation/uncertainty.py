"""How far the uncertainty of a target can be trusted: coverage of intervals, and sparsification."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy import ndimage

from graphsr.data.degradation import Degradation
from graphsr.data.pair import Pair
from graphsr.errors import InputError
from graphsr.evaluation.options import NO_OPTIONS, Options
from graphsr.evaluation.protocols import CLEAN, Case, Protocol, cases
from graphsr.measurements.uncertainty import calibration_of
from graphsr.models.base import Model
from graphsr.upsampling import Upsampled, upsample_with

# The parts of the errors that intervals should hold.
LEVELS = (0.5, 0.8, 0.95)
# Parts of the pixels that are removed, the most uncertain first.
REMOVED = np.arange(0.0, 1.0, 0.05)
# A guide edge is where the gradient of the grey guide, smoothed by one pixel, is among this part of the largest.
_EDGE_PART = 0.1


@dataclass(frozen=True, eq=False)
class Trust:
    """Hold how well uncertainties tell the errors: of one result, or means over many.

    Attributes:
        coverage: (L,) part of the pixels whose error is within the interval of each of `LEVELS`.
        by_uncertainty: (N,) RMSE of the pixels that remain when `REMOVED` of them, the most uncertain, are removed, as
            a part of that of all.
        by_edge_distance: (N,) the same when those nearest to an edge of the guide are removed first.
        by_error: (N,) the same when those with the largest error are removed first: the best there can be.
    """

    coverage: np.ndarray
    by_uncertainty: np.ndarray
    by_edge_distance: np.ndarray
    by_error: np.ndarray


@dataclass(frozen=True, eq=False)
class TrustEvaluation:
    """Hold the figures of one model on one data set at one factor; `patches` are how many were measured."""

    model: str
    data: str
    protocol: str
    degradation: str
    factor: float
    patches: int
    trust: Trust


def measure_trust(case: Case, target: np.ndarray, uncertainty: np.ndarray, intervals: Mapping[float, float]) -> Trust:
    """Measure the uncertainty of a result.

    Args:
        case: What was upsampled.
        target: (H, W), the result.
        uncertainty: (H, W), its standard deviations.
        intervals: How many of them should hold each of `LEVELS` of the errors.

    Returns:
        Its figures, over the pixels that count.
    """
    error = np.abs(target.astype(np.float64) - case.pair.target)[case.counted]
    std = uncertainty.astype(np.float64)[case.counted]
    near = edge_distance(case.pair.guide)[case.counted]
    return Trust(
        coverage=np.array([np.mean(error <= intervals[level] * std) for level in LEVELS]),
        by_uncertainty=sparsification(error, std),
        by_edge_distance=sparsification(error, -near),
        by_error=sparsification(error, error),
    )


def sparsification(error: np.ndarray, uncertainty: np.ndarray) -> np.ndarray:
    """Return the RMSE of what remains when `REMOVED` of the pixels are removed, as a part of that of all.

    Args:
        error: (P,).
        uncertainty: (P,): the largest are removed first; where they are equal, in the order of the pixels.

    Returns:
        (N,); 1 at first, and 0 throughout where there is no error.
    """
    squares = np.square(error[np.argsort(uncertainty, kind="stable")])
    means = np.cumsum(squares) / np.arange(1, squares.size + 1)
    remaining = np.maximum(np.rint((1 - REMOVED) * squares.size).astype(int), 1)
    rmse = np.sqrt(means[remaining - 1])
    return np.asarray(rmse / rmse[0] if rmse[0] > 0 else np.zeros_like(rmse))


def edge_distance(guide: np.ndarray) -> np.ndarray:
    """Return (H, W): how far each pixel is from the nearest edge of the guide (H, W, C), in pixels."""
    grey = guide.reshape(*guide.shape[:2], -1).astype(np.float64).mean(2)
    steepness = ndimage.gaussian_gradient_magnitude(grey, 1.0)
    edges = steepness >= max(np.quantile(steepness, 1 - _EDGE_PART), 1e-9)
    if not edges.any():
        return np.full(grey.shape, np.inf)
    return np.asarray(ndimage.distance_transform_edt(~edges))


def mean_trust(found: Sequence[Trust]) -> Trust:
    """Return the means over results, each counted once."""
    names = ("coverage", "by_uncertainty", "by_edge_distance", "by_error")
    return Trust(**{name: np.mean([getattr(one, name) for one in found], axis=0) for name in names})


def evaluate_uncertainty(
    models: Sequence[tuple[str, Model]],
    data: str,
    pairs: Sequence[Pair],
    how: Protocol,
    factors: Sequence[float],
    *,
    degradation: Degradation = CLEAN,
    options: Options = NO_OPTIONS,
    most: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
    keep: Callable[[str, Case, Upsampled], None] = lambda *_: None,
) -> Iterator[TrustEvaluation]:
    """Measure the uncertainty of all models on the same cases; arguments as of `evaluation.evaluate.evaluate`.

    `keep` is called with the name of the model, every case and its result.

    Yields:
        One evaluation for each model and factor.
    """
    intervals = {name: calibration_of(model, quiet=True).intervals for name, model in models}
    for factor in (1.0,) if how.own_sources else factors:
        found: dict[float, dict[str, list[Trust]]] = {}
        for number, case in enumerate(cases(pairs, how, factor, most, degradation)):
            at = round(case.factor, 2) if how.own_sources else factor
            for name, model in models:
                progress(f"{data} x{at:g}: {case.pair.name}, {number + 1}, {name}")
                told = replace(options.for_model(model), uncertainty=True)
                result = upsample_with(told, case.pair.guide, case.source, model)
                assert result.uncertainty is not None
                one = measure_trust(case, result.target, result.uncertainty, intervals[name])
                keep(name, case, result)
                found.setdefault(at, {}).setdefault(name, []).append(one)
        if not found:
            raise InputError(f"{data}: no image is large enough for the protocol {how.name!r}")
        for at in sorted(found):
            for name, each in found[at].items():
                yield TrustEvaluation(name, data, how.name, str(degradation), at, len(each), mean_trust(each))
