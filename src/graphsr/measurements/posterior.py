"""Marginal variances of the posterior: draw perturbations whose covariance is the matrix, solve, and take squares.

The energy is the negative logarithm of a Gaussian density of the target with covariance A^-1 (docs/how-it-works.md).
With independent signs xi on edges, source pixels and prior, eta = B^T W^(1/2) xi + D^T C^(1/2) xi + T^(1/2) xi has
covariance A, so that x = A^-1 eta has covariance A^-1, and the mean of x^2 over draws is its diagonal without bias.
With `exact` the draws average to 0 over every source pixel: the covariance under the constraint.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch

from graphsr.graph import Edges, both_ways, net_flow
from graphsr.solver import Problem, set_up
from graphsr.solver.gradient import demand
from graphsr.solver.progress import part

# One hash has a sign for each of so many draws.
MOST_DRAWS = 64
# RMS error allowed of a draw, as a part of it: far below the noise of the mean of squares.
_RTOL = 0.05
# Draws are solved side by side up to so many pixels together, which bounds the memory.
_PIXELS_AT_ONCE = 1 << 24
# What a hash begins with on edges down and right, on pixels (prior) and on source pixels.
_DOWN, _RIGHT, _PIXEL, _SOURCE = range(4)


def posterior_variance(
    problem: Problem, draws: int, *, origin: tuple[int, int] = (0, 0), source_origin: tuple[int, int] = (0, 0)
) -> torch.Tensor:
    """Estimate the diagonal of A^-1, A = L + D^T C D + T.

    Args:
        problem: One image; its source, prior, offsets and start are not used.
        draws: How many perturbations, at most 64. The estimate of a standard deviation is off by 1 / sqrt(2 draws).
        origin: Row and column of the first target pixel in the image that this is a window of: the same pixel has the
            same perturbations in all windows.
        source_origin: The same of the first source pixel.

    Returns:
        (1, 1 or K, H, W): one for all channels where they share their confidence.
    """
    device, channels = problem.source.device, problem.confidence.shape[1]
    if device.type == "mps":  # which has no double precision
        problem = problem.to("cpu")
    each = []
    for k in range(channels):
        which = f"uncertainty of channel {k + 1} of {channels}" if channels > 1 else "uncertainty"
        with part(k / channels, (k + 1) / channels, which):
            each.append(_variance(one_channel(problem, k).to(torch.float32), draws, origin, source_origin))
    return torch.stack(each)[None].to(device, problem.source.dtype)


def bytes_per_pixel(size: tuple[int, int], draws: int) -> int:
    """Return the most memory that the draws take for each pixel of (H, W)."""
    return 64 + 44 * _at_once(size, draws)


def _at_once(size: tuple[int, int], draws: int) -> int:
    """Return how many draws are solved side by side."""
    return max(1, min(draws, _PIXELS_AT_ONCE // (size[0] * size[1])))


def one_channel(problem: Problem, channel: int) -> Problem:
    """Return the problem of one channel; `channel` counts from 0, and what all channels share stays as it is."""
    only = slice(channel, channel + 1)

    def of(values: torch.Tensor) -> torch.Tensor:
        return values[:, only] if values.shape[1] > 1 else values

    offsets = problem.offsets
    if offsets is not None and offsets.down.ndim == 4:
        offsets = both_ways(of, offsets)
    return replace(
        problem,
        source=of(problem.source),
        confidence=of(problem.confidence),
        prior=of(problem.prior),
        offsets=offsets,
        start=of(problem.start),
    )


def _variance(problem: Problem, draws: int, origin: tuple[int, int], source_origin: tuple[int, int]) -> torch.Tensor:
    """Return (H, W)."""
    size = problem.sampling.size
    total = problem.source.new_zeros(size)
    at_once = _at_once(size, draws)
    bits = [_hashes(_shape(problem, kind), source_origin if kind == _SOURCE else origin, kind) for kind in range(4)]
    matrix = set_up(problem)
    for first in range(0, draws, at_once):
        last = min(first + at_once, draws)
        numbers = range(first, last)
        with part(first / draws, last / draws):
            rhs = torch.stack([_perturbation(problem, bits, k) for k in numbers])[None]
            source = torch.stack([_perturbed_source(problem, bits[_SOURCE], k) for k in numbers])[None]
            start = torch.zeros_like(rhs)
            found, iterations, error = matrix.minimise(source, rhs, start, tolerance=_RTOL, relative=True)
        if not float(error.max()) <= _RTOL and rhs.dtype == torch.float32:
            return _variance(problem.to(torch.float64), draws, origin, source_origin).to(total)
        demand("the solve for the uncertainty", float(error.max()), _RTOL, int(iterations.max()), "its own size")
        total += found[0].square().sum(0)
    return total / draws


def _perturbation(problem: Problem, bits: list[np.ndarray], draw: int) -> torch.Tensor:
    """Return B^T W^(1/2) xi + T^(1/2) xi (H, W)."""
    signs = Edges(*(_signs(bits[kind], draw, problem.source) for kind in (_DOWN, _RIGHT)))
    rhs = net_flow(both_ways(lambda sign, weight: sign * weight[0].sqrt(), signs, problem.edges))
    if bool((problem.prior_weight > 0).any()):
        rhs += _signs(bits[_PIXEL], draw, rhs) * problem.prior_weight[0].sqrt()
    return rhs


def _perturbed_source(problem: Problem, bits: np.ndarray, draw: int) -> torch.Tensor:
    """Return C^(-1/2) xi (h, w), so that D^T C of it is D^T C^(1/2) xi; 0 under the constraint and where missing."""
    confidence = problem.confidence[0, 0]
    if problem.exact:
        return torch.zeros_like(confidence)
    known = confidence > 0
    return torch.where(known, _signs(bits, draw, confidence) / torch.where(known, confidence, 1).sqrt(), 0)


def _shape(problem: Problem, kind: int) -> tuple[int, int]:
    height, width = problem.sampling.size
    return {
        _DOWN: (height - 1, width),
        _RIGHT: (height, width - 1),
        _PIXEL: (height, width),
        _SOURCE: problem.sampling.source_size,
    }[kind]


def _signs(bits: np.ndarray, draw: int, like: torch.Tensor) -> torch.Tensor:
    """Return the signs of one draw, -1 or 1, from hashes (rows, columns)."""
    chosen = ((bits >> np.uint64(draw)) & np.uint64(1)).astype(np.int8)
    return torch.from_numpy(chosen).to(like.device, like.dtype).mul_(2).sub_(1)


def _hashes(shape: tuple[int, int], origin: tuple[int, int], kind: int) -> np.ndarray:
    """Return 64 random bits for every place (rows, columns), which depend only on where it is in the whole image."""
    rows = (np.arange(shape[0]) + origin[0]).astype(np.uint64)[:, None]
    columns = (np.arange(shape[1]) + origin[1]).astype(np.uint64)
    return _mixed(_mixed(_mixed(np.uint64(kind)) + rows) + columns)


def _mixed(values: np.ndarray | np.uint64) -> np.ndarray:
    """Return a hash of each number (the finaliser of SplitMix64, Steele et al. 2014)."""
    with np.errstate(over="ignore"):
        mixed = np.asarray(values, np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))
