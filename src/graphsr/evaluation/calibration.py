"""Fit the constants that turn evidence into standard deviations to the true errors of a model."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.optimize import minimize

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
# How much it counts that the errors of every data set have the size that was predicted, and not only those of all.
_BALANCE = 3.0


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
    constants = fit_scale(samples)
    relative = samples.errors * np.exp(-samples.features @ constants)
    median, larger, largest = weighted_quantiles(relative, samples.weights, (0.5, 0.8, 0.95))
    std = largest / INTERVAL_95
    constants[0] += np.log(std)
    numbers = (*constants, median / std, larger / std)
    digest = models[0].digest() if len(models) == 1 else ""
    return Calibration(digest, *(round(float(number), 4) for number in numbers))


def fit_scale(samples: Samples) -> np.ndarray:
    """Fit the logarithm of the size of errors as a sum over features.

    Returns:
        (1 + F,), what the features are multiplied by.
    """
    features, errors = samples.features, samples.errors
    weights = samples.weights / samples.weights.sum()
    members = [np.flatnonzero(samples.groups == group) for group in np.unique(samples.groups) if group >= 0]

    def loss(constants: np.ndarray) -> tuple[float, np.ndarray]:
        logarithm = features @ constants
        squares = np.square(errors * np.exp(-logarithm)) / _TAIL
        score = 1 - (_TAIL + 1) * squares / (1 + squares)  # the derivative of each pixel's loss
        slope = 2 * (_TAIL + 1) * squares / np.square(1 + squares)
        value = float(weights @ (logarithm + 0.5 * (_TAIL + 1) * np.log1p(squares)))
        gradient = features.T @ (weights * score)
        for pixels in members:
            share = weights[pixels] / weights[pixels].sum()
            mean = float(share @ score[pixels])  # 0 where errors have the size that was predicted
            value += _BALANCE * mean**2
            gradient = gradient + 2 * _BALANCE * mean * (features[pixels].T @ (share * slope[pixels]))
        return value, gradient

    start = np.linalg.lstsq(features, np.log(errors + 1e-4), rcond=None)[0]
    return np.asarray(minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 500}).x)


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
