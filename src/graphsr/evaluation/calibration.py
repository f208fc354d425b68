"""Fit the constants that turn evidence into standard deviations to the true errors of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.optimize import minimize
from scipy.special import expit

from graphsr.data.pair import Pair
from graphsr.errors import InputError
from graphsr.evaluation.protocols import Case, cases, protocol
from graphsr.measurements.evidence import Evidence, evidence
from graphsr.measurements.posterior import posterior_variance
from graphsr.measurements.uncertainty import DRAWS, no_graph, source_std
from graphsr.models.base import Model
from graphsr.models.calibration import INTERVAL_95, Calibration
from graphsr.upsampling import upsample

# Pixels of a patch that are fitted to: more of them say the same.
_PIXELS = 1500
# Every third patch is also fitted to with a hole in its source, which counts half.
_HOLE_EVERY, _HOLE_WEIGHT = 3, 0.5
# Errors have long tails: the likelihood is that of Student's distribution with so many degrees of freedom.
_TAIL = 2.5
# How much it counts that intervals hold the part of the errors of every data set that they should, and not only of all.
_COVERAGE = 10.0
# An interval counts as holding an error by a sigmoid of this width, of the logarithms, so that it has a gradient.
_WIDTH = 0.3
_LEVELS = np.array([0.5, 0.8, 0.95])


@dataclass(frozen=True, eq=False)
class Samples:
    """Hold the pixels to fit to.

    Attributes:
        features: (P, 1 + F), 1 and the evidence.
        errors: (P,), absolute, in standard deviations of the source.
        weights: (P,), how much each counts.
        groups: (P,), the number of the data set each is from; -1: of none.
    """

    features: np.ndarray
    errors: np.ndarray
    weights: np.ndarray
    groups: np.ndarray


def fit_calibration(
    models: Sequence[Model],
    sets: Sequence[tuple[str, Sequence[Pair]]],
    factors: Sequence[float],
    *,
    most: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Calibration:
    """Fit constants by maximum likelihood, every data set and factor counting alike.

    Args:
        models: One, or several whose common constants are wanted.
        sets: Names and pairs of data sets, none of which a model was trained on.
        factors: Those to fit at.
        most: Take at most so many pairs of each.
        progress: Called with what is being done.

    Returns:
        The constants, with the digest of the model if there is one.
    """
    rng = np.random.default_rng(0)
    parts: list[Samples] = []
    for group, (name, pairs) in enumerate(sets):
        for factor in factors:
            found = list(cases(pairs, protocol("patches"), factor, most))
            if not found:
                raise InputError(f"{name}: no image is large enough for patches to fit to")
            holed = [_with_hole(case) for case in found[::_HOLE_EVERY]]
            for model in models:
                for case in found:
                    progress(f"{name} x{factor:g}: {case.pair.name}")
                    parts.append(_sample(model, case, rng, 1 / len(found), group))
                parts += [_sample(model, case, rng, _HOLE_WEIGHT / len(holed), -1) for case in holed]
    samples = Samples(*(np.concatenate([getattr(p, n) for p in parts]) for n in Samples.__dataclass_fields__))
    constants, intervals = fit_scale(samples)
    std = intervals[-1] / INTERVAL_95
    constants[0] += np.log(std)
    digest = models[0].digest() if len(models) == 1 else ""
    return Calibration(digest, *(round(float(number), 4) for number in (*constants, *(intervals[:-1] / std))))


def fit_scale(samples: Samples) -> tuple[np.ndarray, np.ndarray]:
    """Fit the logarithm of the size of errors as a sum over features, and the intervals that hold parts of the errors.

    Returns:
        (1 + F,), what the features are multiplied by, and (L,), how many times their size 50, 80 and 95 % of the errors
        are at most.
    """
    features, errors = samples.features, samples.errors
    weights = samples.weights / samples.weights.sum()
    log_errors = np.log(errors + 1e-7)
    members = [np.flatnonzero(samples.groups == group) for group in np.unique(samples.groups) if group >= 0]
    count = features.shape[1]

    def loss(unknowns: np.ndarray) -> tuple[float, np.ndarray]:
        constants, log_intervals = unknowns[:count], unknowns[count:]
        logarithm = features @ constants
        squares = np.square(errors * np.exp(-logarithm)) / _TAIL
        score = 1 - (_TAIL + 1) * squares / (1 + squares)  # the derivative of each pixel's loss
        value = float(weights @ (logarithm + 0.5 * (_TAIL + 1) * np.log1p(squares)))
        gradient = np.concatenate([features.T @ (weights * score), np.zeros(_LEVELS.size)])
        for pixels in members:
            share = weights[pixels] / weights[pixels].sum()
            for place, level in enumerate(_LEVELS):
                held = expit((logarithm[pixels] + log_intervals[place] - log_errors[pixels]) / _WIDTH)
                excess = float(share @ held) - level
                value += _COVERAGE * excess**2
                slope = 2 * _COVERAGE * excess * share * held * (1 - held) / _WIDTH
                gradient[:count] += features[pixels].T @ slope
                gradient[count + place] += slope.sum()
        return value, gradient

    first = np.linalg.lstsq(features, np.log(errors + 1e-4), rcond=None)[0]
    sizes = weighted_quantiles(errors * np.exp(-features @ first), weights, list(_LEVELS))
    start = np.concatenate([first, np.log(np.maximum(sizes, 1e-9))])
    found = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x
    constants = np.asarray(found[:count])
    counted = samples.groups >= 0
    sizes = weighted_quantiles((errors * np.exp(-features @ constants))[counted], weights[counted], list(_LEVELS))
    return constants, np.array(sizes)  # not those of the sigmoids, which are a little wider


def weighted_quantiles(values: np.ndarray, weights: np.ndarray, parts: Sequence[float]) -> list[float]:
    """Return the values below which lie these parts of the weight."""
    order = np.argsort(values)
    below = np.cumsum(weights[order]) / weights.sum()
    places = np.minimum(np.searchsorted(below, parts), values.size - 1)
    return [float(value) for value in values[order][places]]


def _with_hole(case: Case) -> Case:
    """Return the case without the middle third of its source, each way."""
    source = case.source.copy()
    rows, columns = (slice(n // 3, n - n // 3) for n in source.shape)
    source[rows, columns] = np.nan
    return replace(case, source=source)


def _sample(model: Model, case: Case, rng: np.random.Generator, weight: float, group: int) -> Samples:
    """Return some pixels of a case, which together count `weight`."""
    result = upsample(case.pair.guide, case.source, model=model)
    if result.problem is None:
        raise no_graph(model)
    target = torch.from_numpy(result.target)[None, None]
    std = source_std(result.problem)
    seen = evidence(result.problem, target, posterior_variance(result.problem, DRAWS), std)
    counted = np.flatnonzero(case.counted)
    chosen = rng.choice(counted, min(_PIXELS, counted.size), replace=False)
    columns = [getattr(seen, name).numpy().reshape(-1)[chosen] for name in Evidence._fields]
    error = np.abs(result.target - case.pair.target).reshape(-1)[chosen] / float(std)
    return Samples(
        features=np.stack([np.ones(chosen.size), *columns], 1),
        errors=error,
        weights=np.full(chosen.size, weight / chosen.size),
        groups=np.full(chosen.size, group),
    )
