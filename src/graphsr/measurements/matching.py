"""Fit the confidence of a stated noise to the pair at hand.

The unit of a model is that of an average scene. With the right confidence the errors D y - s are those of the noise, a
little smaller as the target follows it (Morozov's discrepancy principle). So the confidence is moved, not far, until
they are.
"""

from __future__ import annotations

import math
from dataclasses import replace

from torch import Tensor

from graphsr.solver import Problem, solve_problem

# RMS error of the source pixels at the best confidence, in standard deviations of the noise: fitted
# (docs/evidence/noise-and-outliers.md).
_EXPECTED = 0.8
# The confidence is moved by at most this factor, up or down: what is stated may be wrong.
_MOST_CHANGE = math.sqrt(10)
# How the logarithm of the error changes with that of the confidence: to begin with, and at most and least.
_SLOPE, _STEEPEST, _FLATTEST = -0.4, -1.0, -0.1
_STEPS = 2
_RTOL = 1e-2  # of the solves that only measure errors
# A confidence above this is that of a source almost without noise.
_CERTAIN = 0.5


def match_noise(problem: Problem, noise: Tensor) -> Problem:
    """Return the problem with its confidence moved so that the errors of the source pixels are those of the noise.

    Args:
        problem: Whose confidence follows from the noise.
        noise: Standard deviation (B, K, 1, 1), above 0, in the units of the source.
    """
    largest = float(problem.confidence.max())
    if largest > _CERTAIN:
        return problem
    # Pixels that count less were stated to be noisier: errors are measured in their own noise.
    share = problem.confidence / largest
    known = (share > 0).expand_as(problem.source)
    limit = math.log(_MOST_CHANGE)
    change, slope, before = 0.0, _SLOPE, None
    for _ in range(_STEPS):
        moved = replace(problem, confidence=problem.confidence * math.exp(change))
        target = solve_problem(moved, rtol=_RTOL).target
        errors = share * ((problem.sampling(target) - problem.source) / noise).square()
        excess = 0.5 * math.log(max(float(errors[known].mean()), 1e-12)) - math.log(_EXPECTED)
        if before is not None and abs(change - before[0]) > 1e-3:
            slope = min(max((excess - before[1]) / (change - before[0]), _STEEPEST), _FLATTEST)
        before = change, excess
        change = min(max(change - excess / slope, -limit), min(limit, -math.log(largest)))
        problem = replace(problem, start=target)
    return replace(problem, confidence=problem.confidence * math.exp(change))
