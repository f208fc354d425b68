"""Outliers: source pixels that neither their neighbours nor the graph can explain are switched off.

The loss of a source pixel is bounded: Tukey's biweight of how far it is from what the others say of it, in standard
deviations of that prediction. It is minimised by solves whose weights follow from the errors of the solve before. Such
a loss has many minima, and the first weights decide: they come from the medians of neighbours and rather switch off too
many, as the solves take back what the graph can explain.

At full confidence D y = s, and errors would say nothing. So these solves take the source for noisy, and judge the
pixels that are switched off, which the others alone predict: with A the matrix of the solve, the prediction of a pixel
has the variance u^2 (D A^-1 D^T)_ii. It is small where the graph connects the pixel to others and large where edges
of the guide part it from them: there it may well differ.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Real

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, pad

from graphsr.errors import InputError
from graphsr.measurements.noise import noise_confidence
from graphsr.solver import Problem, solve_problem
from graphsr.solver.progress import part

# Errors beyond so many standard deviations are suspected: in a look at the source alone, and in the first solve.
_SUSPECT = 3.0
# Solves switch errors off beyond so many standard deviations. A detail that the guide does not show has some, hardly
# ever more than _IF_RARE. Where more than a share of the pixels within a radius, and not just a few, have more than
# that, outliers are common, and smaller errors are likely to be outliers too.
_IF_COMMON, _IF_RARE = 2.5, 8.0
_COMMON, _A_FEW, _RADIUS = 0.01, 1, 20
# The least standard deviation of a source pixel's error, in those of the source: in that look, and in solves.
_FIRST_LEAST_ERROR, _LEAST_ERROR = 0.06, 0.03
# Solves take the source for noisy, by this part of its standard deviation.
_SOFTNESS = 0.1
# How many source pixels around a pixel decide whether it is an outlier, beside those that the graph connects it to.
REACH = _RADIUS + 3
_PROBES = 4
_TURNS = 2  # solves, each after the weights that follow from the one before
_RTOL, _PROBE_RTOL = 1e-2, 3e-2  # of these solves, which only have to tell outliers
# So small a prior weight changes no matrix; the prior divided by it is the right-hand side of a probe.
_PROBE_WEIGHT = 1e-9


@dataclass(frozen=True, eq=False)
class Inliers:
    """Which source pixels are no outliers.

    Attributes:
        weights: (B, K, h, w) from 0, switched off, to 1; 1 also where the source is missing.
        start: (B, K, H, W) a target to begin the next solve from.
    """

    weights: Tensor
    start: Tensor


def check_robust(robust: object) -> bool | float:
    """Return what `robust` says if it is valid; raise InputError if not."""
    if isinstance(robust, (bool, np.bool_)):
        return bool(robust)
    number = float(robust) if isinstance(robust, Real) else math.nan
    if not 0 < number < math.inf:
        raise InputError(
            f"robust: must be True, False or the error, above 0 in the source's units, of a wrong pixel, not {robust!r}"
        )
    return number


def soft_confidence(unit: float, factor: tuple[float, float]) -> float:
    """Return the confidence of source pixels in the solves that tell outliers; arguments as in `noise_confidence`."""
    return float(noise_confidence(torch.tensor(_SOFTNESS), unit, factor))


def find_inliers(
    prepare: Callable[[Tensor], Problem],
    source: Tensor,
    std: Tensor,
    noise: Tensor,
    unit: float,
    cutoff: float | None,
) -> Inliers:
    """Find the source pixels that fit to the others.

    Args:
        prepare: Makes the problem of weights (B, K, h, w) of the source pixels; 0 is missing.
        source: (B, K, h, w), NaN is missing.
        std: Standard deviation of the source (B, K, 1, 1).
        noise: Standard deviation of its noise (B, K, 1, 1), in the same units.
        unit: See `noise_confidence`.
        cutoff: The error, in the source's units, from which on a pixel is switched off; None: by the noise, the errors
            around and the variance of the prediction.
    """
    known = torch.isfinite(source)

    def least(part: float) -> Tensor:
        return noise.square() + (part * std).square()

    errors = source - _median_of_neighbours(source)
    allowed = cutoff or _SUSPECT * (least(_FIRST_LEAST_ERROR) + _local_variance(errors)).sqrt()
    weights = _switched_off(torch.ones_like(source), known & (errors.abs() > allowed), known)
    target: Tensor | None = None
    for turn in range(_TURNS):
        with part(turn / _TURNS, (turn + 1) / _TURNS):
            problem = prepare(weights)
            off = weights == 0
            softness = soft_confidence(unit, problem.sampling.factor)
            soft = replace(problem, confidence=problem.confidence.clamp_max(softness) * ~off, exact=False)
            target = solve_problem(soft if target is None else replace(soft, start=target), rtol=_RTOL).target
            errors = problem.sampling(target) - source
            variance = least(_LEAST_ERROR) + _local_variance(errors)
            variance = variance + (_SOFTNESS * std).square() * softness * _predicted_variance(soft, softness, off)
            allowed = cutoff or _allowed_deviations(off, errors / variance.sqrt(), known) * variance.sqrt()
            weights = torch.where(off, (1 - (errors / allowed).square()).clamp_min(0).square(), weights)
            if turn < _TURNS - 1:  # the next solve judges what this one suspects
                allowed = cutoff or _SUSPECT * variance.sqrt()
                weights = _switched_off(weights, known & ~off & (errors.abs() > allowed), known)
    assert target is not None
    return Inliers(weights, target)


def _allowed_deviations(off: Tensor, errors: Tensor, known: Tensor) -> Tensor:
    """Return how many standard deviations the error of a pixel may have (B, K, h, w).

    Args:
        off: Which pixels are switched off now.
        errors: Of all pixels, in standard deviations.
        known: Which pixels are known.
    """
    wrong, pixels = (
        avg_pool2d(each.to(errors.dtype), 2 * _RADIUS + 1, stride=1, padding=_RADIUS, divisor_override=1)
        for each in (off & (errors.abs() > _IF_RARE), known)
    )
    return torch.where(wrong > (_COMMON * pixels).clamp_min(_A_FEW), _IF_COMMON, _IF_RARE)


def _switched_off(weights: Tensor, wrong: Tensor, known: Tensor) -> Tensor:
    """Return the weights (B, K, h, w) with 0 at wrong pixels; channels that would lose every pixel stay as they are."""
    changed = torch.where(wrong, 0.0, weights)
    left = ((changed > 0) & known).flatten(2).any(2)[..., None, None]
    return torch.where(left, changed, weights)


def _predicted_variance(problem: Problem, scale: float, where: Tensor) -> Tensor:
    """Estimate the diagonal of D A^-1 D^T at some source pixels (B, K, h, w), by probes with random signs.

    Args:
        problem: Whose matrix is A.
        scale: Probes are multiplied by it, to be of the size of a target.
        where: (B, K, h, w) at which pixels; 0 elsewhere.
    """
    generator = torch.Generator().manual_seed(0)
    signs = torch.randint(0, 2, (_PROBES, *where.shape[2:]), generator=generator).to(problem.source) * 2 - 1
    found = []
    for channel in range(where.shape[1]):
        probes = signs * where[:, channel : channel + 1]
        solution = solve_problem(
            Problem(
                problem.edges,
                problem.sampling,
                torch.zeros_like(probes),
                problem.confidence[:, -1:]
                if problem.confidence.shape[1] == 1
                else problem.confidence[:, channel, None],
                prior=problem.sampling.adjoint(scale * probes) / _PROBE_WEIGHT,
                prior_weight=_PROBE_WEIGHT,
                start=probes.new_zeros((*probes.shape[:2], *problem.sampling.size)),
            ),
            rtol=_PROBE_RTOL,
        )
        found.append((problem.sampling(solution.target) * probes).mean(1).clamp_min(0) / scale)
    return torch.stack(found, 1)


def _local_variance(errors: Tensor) -> Tensor:
    """Return the variance of the errors (B, K, h, w) about each, from the median of 5 x 5.

    Where the graph tells little errors are large all around, and no pixel of them is to blame.
    """
    return (1.4826 * torch.nan_to_num(_windows(errors.abs(), 2).nanmedian(-1).values)).square()


def _median_of_neighbours(source: Tensor) -> Tensor:
    """Return the median of the eight pixels around each of (B, K, h, w); of itself where none is known."""
    around = _windows(source, 1)
    around = torch.cat([around[..., :4], around[..., 5:]], -1).nanmedian(-1).values
    return torch.where(torch.isfinite(around), around, source)


def _windows(values: Tensor, radius: int) -> Tensor:
    """Return the square windows about each pixel of (B, K, h, w), NaN beyond the border: (B, K, h, w, n)."""
    side = 2 * radius + 1
    padded = pad(values, (radius,) * 4, value=math.nan)
    return padded.unfold(2, side, 1).unfold(3, side, 1).flatten(-2)
