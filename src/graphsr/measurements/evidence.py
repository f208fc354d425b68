"""What a solved problem says about the errors of its target: the features of the calibration.

All are logarithms, in standard deviations of the source where they have its units, and depend only on what is near a
pixel, so that tiles agree.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch.nn.functional import avg_pool2d, max_pool2d, pad

from graphsr.graph import edge_energies
from graphsr.sampling import Sampling, fill_holes, interpolate_source
from graphsr.solver import Problem

# Less than this part of the source's standard deviation counts as this: below lies rounding.
_LEAST = 1e-4
# Source pixels each way over which the noise of the source is taken as the same.
_NOISE_WINDOW = 31


class Evidence(NamedTuple):
    """Features of every target pixel, each (B, K, H, W)."""

    factor: torch.Tensor  # log2 of the factor, 0 at x8
    posterior: torch.Tensor  # log of the posterior's standard deviation, per unit of noise
    energy: torch.Tensor  # log of the noise's unit: the root of the energy that the target has around the pixel
    change: torch.Tensor  # log of how far the target is from the interpolated source
    contrast: torch.Tensor  # log of the range of the source around the pixel
    roughness: torch.Tensor  # log of how far the source around the pixel is from a plane
    noise: torch.Tensor  # mean log of how far the source in a wide window is from a sum of rows and columns


def evidence(problem: Problem, target: torch.Tensor, variance: torch.Tensor, std: torch.Tensor) -> Evidence:
    """Return the features of a target.

    Args:
        problem: What was solved.
        target: (B, K, H, W), its solution.
        variance: (B, 1 or K, H, W), of the posterior.
        std: (B, K, 1, 1), the source's standard deviation.
    """
    sampling, known = problem.sampling, (problem.confidence > 0).expand_as(problem.source)
    source = fill_holes(problem.source, known) / std
    inner = -max_pool2d(pad(-known.to(source.dtype), (1, 1, 1, 1), value=-1.0), 3, 1) > 0
    across, along = _bend(source, -2), _bend(source, -1)

    def at_pixels(logarithm: torch.Tensor, where: torch.Tensor) -> torch.Tensor:
        """Return (B, K, h, w) at the target pixels; from around them where it is not."""
        ends = logarithm.amin((-2, -1), keepdim=True), logarithm.amax((-2, -1), keepdim=True)
        return interpolate_source(logarithm, sampling, where).clamp(*ends)

    factor = 0.5 * math.log2(math.prod(sampling.factor)) - 3.0
    return Evidence(
        factor=target.new_full((1, 1, 1, 1), factor).expand_as(target),
        # Neighbours have nearly the same variance, and their mean is less noisy.
        posterior=0.5 * torch.log(_mean_around(variance, 3)),
        energy=at_pixels(_log(_energy(problem, target, known).sqrt() / std), known),
        # Not from where the solve began, which with a stated noise is nearly the target.
        change=_log(_smoothed((target / std - interpolate_source(source, sampling, known)).abs(), sampling)),
        contrast=at_pixels(_log(_range(source, known)), known),
        roughness=at_pixels(_log(_mean_around(across.abs() + along.abs(), 3, inner)), inner),
        noise=at_pixels(_mean_around(_log(_bend(across, -1).abs()), _NOISE_WINDOW, inner), inner),
    )


def _log(values: torch.Tensor) -> torch.Tensor:
    return torch.log(values + _LEAST)


def _bend(values: torch.Tensor, dim: int) -> torch.Tensor:
    """Return half the second difference of (B, K, h, w) along an axis; beyond the border the last value is repeated."""
    size = values.shape[dim]
    before = torch.cat([values.narrow(dim, 0, 1), values.narrow(dim, 0, size - 1)], dim)
    after = torch.cat([values.narrow(dim, 1, size - 1), values.narrow(dim, size - 1, 1)], dim)
    return 0.5 * (before + after) - values


def _mean_around(values: torch.Tensor, window: int, counted: torch.Tensor | None = None) -> torch.Tensor:
    """Return means of (B, K, h, w) over `window` pixels each way, of those that are counted; 0 where there are none."""
    half = (window // 2,) * 4
    weight = torch.ones_like(values) if counted is None else counted.to(values.dtype)
    total, count = (avg_pool2d(pad(each, half), window, 1) for each in (values * weight, weight))
    return total / count.clamp_min(1e-9)


def _energy(problem: Problem, target: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
    """Return the energy of every source pixel and those around it, in the mean of the known ones, (B, K, h, w).

    If all terms of the energy are of the size that the model gives them, it is the variance of the noise.
    """
    terms = edge_energies(problem.edges, target, problem.offsets)
    down, right = terms.down, terms.right
    # Half of an edge belongs to each of its pixels.
    each = 0.5 * (pad(down, (0, 0, 0, 1)) + pad(down, (0, 0, 1, 0)) + pad(right, (0, 1)) + pad(right, (1, 0)))
    size = math.prod(problem.sampling.factor)
    energy = size * problem.sampling(each)
    if not problem.exact:
        energy = energy + problem.confidence * (problem.sampling(target) - problem.source).square()
    return _mean_around(energy, 3, known)


def _range(source: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
    """Return the largest minus the smallest of the known pixels of the 3 x 3 around each, (B, K, h, w)."""
    ends = [max_pool2d(torch.where(known, sign * source, -torch.inf), 3, 1, 1) for sign in (1, -1)]
    return torch.where(known, ends[0] + ends[1], 0)


def _smoothed(values: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Return means of (B, K, H, W) over windows of about half a source pixel."""
    half = [max(0, round(step / 4)) for step in sampling.factor]
    padded = pad(values, (half[1], half[1], half[0], half[0]), mode="replicate")
    return avg_pool2d(padded, (2 * half[0] + 1, 2 * half[1] + 1), 1)
