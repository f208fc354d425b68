"""The channels of a source: standardised, and where there are several, solved along their principal axes in blocks.

Many channels on the CPU are solved as they are, by a factorisation (backends/direct.py). For the others: the target is
linear in the source, prior and offsets, so any rotation of the channels may be solved instead. Along the principal axes
of the standardised channels most of the variance is in a few; the rest is small against the error allowed, which is the
same for all, and is reached after fewer iterations. If every component is within the tolerance, so is every channel: a
rotation leaves the sum of squared errors as it is. The first component goes alone: what it shows of the matrix (its
smallest eigenvalue) is what the errors of those that stop early are estimated by.
"""

from __future__ import annotations

import torch

from graphsr.graph import Edges, both_ways, net_flow, with_channels
from graphsr.scaling import mean_and_std
from graphsr.solver.matrix import Matrix
from graphsr.solver.problem import Problem

# Components are solved in blocks of together so many target pixels: beside the target, memory does not grow with K.
_PIXELS_AT_ONCE = 2**23
# Of many channels that a factorisation serves, at least so many are solved at once, however large the target is.
_LEAST_AT_ONCE = 16


def solve_channels(problem: Problem, matrix: Matrix, rtol: float) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Solve a problem with its matrix.

    Args:
        problem: What to solve.
        matrix: Its set-up.
        rtol: RMS error allowed, in standard deviations of each channel.

    Returns:
        The target (B, K, H, W), the iterations done and the RMS errors estimated, both (B, K).
    """
    # The minimiser moves and scales with its inputs, so it is sought in standard deviations about the mean.
    known = (problem.confidence > 0).expand_as(problem.source)
    mean, std = mean_and_std(problem.source, known)
    precision = torch.finfo(problem.source.dtype)
    unit = torch.where(std > precision.eps * mean.abs() + precision.tiny, std, torch.ones_like(std))
    source = (problem.source - mean) / unit * known
    start = (problem.start - mean).div_(unit)
    if source.shape[1] == 1 or problem.confidence.shape[1] > 1:  # nothing to share: one channel, or a matrix for each
        rhs = right_hand_side(problem, mean, unit)
        target, iterations, error = matrix.minimise(source, rhs, start, tolerance=rtol, relative=False)
    elif matrix.is_direct(source.shape[1]):
        target, iterations, error = _solve_blocks(problem, matrix, source, start, (mean, unit), rtol)
    else:
        target, iterations, error = _solve_components(problem, matrix, source, start, (mean, unit), rtol)
    return target.mul_(unit).add_(mean), iterations, error


def _solve_blocks(
    problem: Problem,
    matrix: Matrix,
    source: torch.Tensor,
    target: torch.Tensor,
    scale: tuple[torch.Tensor, torch.Tensor],
    rtol: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Improve a standardised target (B, K, H, W) in place, a block of channels after another."""
    mean, unit = scale
    iterations = torch.zeros(source.shape[:2], dtype=torch.int64)
    error = torch.zeros(source.shape[:2], dtype=torch.float64)
    count, pixels = source.shape[1], target.shape[-2] * target.shape[-1]
    # Blocks are of about the same size, so that all of them have many channels.
    blocks = max(1, min(-(-count * pixels // _PIXELS_AT_ONCE), count // _LEAST_AT_ONCE))
    for chosen in torch.arange(count).tensor_split(blocks):
        some = slice(int(chosen[0]), int(chosen[-1]) + 1)
        rhs = right_hand_side(problem, mean[:, some], unit[:, some], some)
        found = matrix.minimise(source[:, some], rhs, target[:, some], tolerance=rtol, relative=False)
        target[:, some], iterations[:, some], error[:, some] = found
    return target, iterations, error


def _solve_components(
    problem: Problem,
    matrix: Matrix,
    source: torch.Tensor,
    target: torch.Tensor,
    scale: tuple[torch.Tensor, torch.Tensor],
    rtol: float,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Improve a standardised target (B, K, H, W) in place, a block of principal components after another."""
    mean, unit = scale
    axes = _principal_axes(source)
    squares = torch.zeros(source.shape[:2], dtype=torch.float64)
    most = torch.zeros(source.shape[:2], dtype=torch.int64)
    at_once = max(1, _PIXELS_AT_ONCE // (target.shape[-2] * target.shape[-1]))
    for block in (axes[..., :1], *torch.split(axes[..., 1:], at_once, 2)):
        # The blocks before have changed the target along their own axes only, which are orthogonal to these.
        start = _along(block.mT, target)
        rhs = _right_hand_side_along(problem, block.mT / unit.flatten(2).mT, mean)
        components = matrix.minimise(_along(block.mT, source), rhs, start.clone(), tolerance=rtol, relative=False)
        found, iterations, error = components
        target.flatten(2).baddbmm_(block, found.sub_(start).flatten(2))
        squares += (block.cpu().double().square() @ error.square().unsqueeze(2)).squeeze(2)
        most = torch.maximum(most, iterations.amax(1, keepdim=True).expand_as(most))
    return target, most, squares.sqrt()


def _principal_axes(source: torch.Tensor) -> torch.Tensor:
    """Return the principal axes of the channels of a source (B, K, h, w), (B, K, K), largest variance first."""
    values = source.detach().double().flatten(2)
    axes: torch.Tensor = torch.linalg.eigh(values @ values.mT).eigenvectors
    return axes.flip(2).to(source.dtype).contiguous()


def _along(weights: torch.Tensor, values: torch.Tensor) -> torch.Tensor:
    """Combine channels (B, K, ...) by weights (B, J, K): (B, J, ...). One channel stands for K alike."""
    if values.shape[1] == 1:
        weights = weights.sum(2, keepdim=True)
    return (weights @ values.detach().to(weights.dtype).flatten(2)).reshape(*weights.shape[:2], *values.shape[2:])


def _right_hand_side_along(problem: Problem, weights: torch.Tensor, mean: torch.Tensor) -> torch.Tensor:
    """Return what `right_hand_side` does, of channels combined by weights (B, J, K) after the mean is subtracted."""
    rhs = problem.source.new_zeros(0)
    if bool((problem.prior_weight > 0).any()):
        prior = _along(weights, problem.prior) - _along(weights, mean)
        rhs = problem.prior_weight.unsqueeze(1) * prior
    if problem.offsets is not None:
        along = both_ways(lambda each: _along(weights, with_channels(each)).to(mean.dtype), problem.offsets)
        flow = edge_flow(problem.edges, along)
        rhs = rhs + flow if rhs.numel() else flow
    return rhs


def right_hand_side(
    problem: Problem, mean: torch.Tensor, unit: torch.Tensor, channels: slice = slice(None)
) -> torch.Tensor:
    """Return T z + B^T W o (B, K, H, W) in standard deviations `unit` about `mean`; empty if both are 0.

    Args:
        problem: What is solved.
        mean: (B, K, 1, 1), of the chosen channels.
        unit: The same.
        channels: Which channels of the problem.
    """
    rhs = problem.source.new_zeros(0)
    if bool((problem.prior_weight > 0).any()):
        rhs = (problem.prior[:, channels] - mean).div_(unit).mul_(problem.prior_weight.unsqueeze(1))
    if problem.offsets is not None:
        each = both_ways(with_channels, problem.offsets)
        chosen = both_ways(lambda one: one[:, channels] if one.shape[1] > 1 else one, each)
        flow = edge_flow(problem.edges, chosen) / unit
        rhs = rhs + flow if rhs.numel() else flow.expand_as(problem.start[:, channels]).contiguous()
    return rhs


def edge_flow(edges: Edges, offsets: Edges) -> torch.Tensor:
    """Return B^T W o of offsets (B, 1 or K, ...): (B, 1 or K, H, W)."""
    return net_flow(both_ways(lambda weight, offset: weight.unsqueeze(1) * offset, edges, offsets))
