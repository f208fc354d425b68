"""The solve as a differentiable operation: y = A^-1 b, and its gradient by one more solve with the same matrix."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch.autograd.function import once_differentiable

from graphsr.errors import ConvergenceError
from graphsr.graph import differences, with_channels
from graphsr.solver.backends.diagonal import measures_twice
from graphsr.solver.backends.projection import Projection
from graphsr.solver.backends.torch_backend import Relaxation, laplacian, relaxation
from graphsr.solver.channels import right_hand_side, solve_channels
from graphsr.solver.matrix import Matrix, set_up
from graphsr.solver.problem import Problem


@dataclass
class Outcome:
    """How a differentiable solve went; filled in by its forward pass."""

    iterations: int = 0
    error: float = 0.0


def differentiable_solve(problem: Problem, matrix: Matrix, rtol: float) -> tuple[torch.Tensor, Outcome]:
    """Solve a problem with its matrix.

    Returns:
        The target (B, K, H, W), differentiable in all tensors of the problem but `start`, and how it went: the most
        iterations and the largest error of the batch.
    """
    offsets = problem.offsets
    outcome = Outcome()
    target: torch.Tensor = _Solve.apply(  # type: ignore[no-untyped-call]
        problem.edges.down,
        problem.edges.right,
        problem.source,
        problem.confidence,
        None if offsets is None else offsets.down.to(problem.source.dtype),
        None if offsets is None else offsets.right.to(problem.source.dtype),
        problem.prior,
        problem.prior_weight,
        problem,
        matrix,
        rtol,
        outcome,
    )
    return target, outcome


class _Solve(torch.autograd.Function):
    """y = A^-1 b. The gradient is g = A^-1 dl/dy, then products of g with what each input multiplies."""

    @staticmethod
    def forward(ctx: Any, *arguments: Any) -> torch.Tensor:
        tensors = arguments[:8]
        problem, matrix, rtol, outcome = arguments[8:]
        with torch.autocast(problem.source.device.type, enabled=False):  # which is for networks, not for a solve
            target, iterations, error = solve_channels(problem, matrix, rtol)
        outcome.iterations, outcome.error = int(iterations.max()), float(error.max())
        ctx.save_for_backward(*tensors, target)
        ctx.matrix, ctx.problem, ctx.rtol = matrix, problem, rtol
        return target

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor) -> Any:
        *_, target = ctx.saved_tensors
        problem: Problem = ctx.problem
        rms = grad.square().mean((-2, -1), keepdim=True).sqrt()
        unit = torch.where(rms > 0, rms, torch.ones_like(rms))
        g, iterations, error = _adjoint_solve(ctx.matrix, problem, grad / unit, ctx.rtol)
        if not error <= ctx.rtol and target.dtype == torch.float32:  # like the target, once more in double precision
            wide = problem.to(torch.float64)
            g, iterations, error = _adjoint_solve(set_up(wide), wide, (grad / unit).double(), ctx.rtol)
        demand("the gradient", error, ctx.rtol, iterations, "its own size")
        g = g.to(target.dtype)
        return *_gradients(problem, target, grad, g * unit, ctx.needs_input_grad), None, None, None, None


def _adjoint_solve(
    matrix: Matrix, problem: Problem, grad: torch.Tensor, rtol: float
) -> tuple[torch.Tensor, int, float]:
    """Return A^-1 grad (B, K, H, W), the most iterations and the largest error, relative to its size."""
    g, iterations, error = matrix.minimise(
        torch.zeros_like(problem.source), grad.contiguous(), torch.zeros_like(grad), tolerance=rtol, relative=True
    )
    return g, int(iterations.max()), float(error.max())


def _gradients(
    problem: Problem, target: torch.Tensor, grad: torch.Tensor, g: torch.Tensor, wanted: tuple[bool, ...]
) -> list[torch.Tensor | None]:
    """Return the gradients of down, right, source, confidence, both offsets, prior and prior weight.

    Args:
        problem: What was solved.
        target: Its solution y (B, K, H, W).
        grad: dl/dy (B, K, H, W).
        g: A^-1 dl/dy (B, K, H, W).
        wanted: Which of the eight are.
    """
    step, answer = differences(target), differences(g)
    offset_down, offset_right = (
        (None, None) if problem.offsets is None else (problem.offsets.down, problem.offsets.right)
    )
    grads: list[torch.Tensor | None] = [None] * 8
    for place, y, answered, weight, offset in (
        (0, step.down, answer.down, problem.edges.down, offset_down),
        (1, step.right, answer.right, problem.edges.right, offset_right),
    ):
        if wanted[place]:
            shift = 0 if offset is None else with_channels(offset)
            grads[place] = -(answered * (y - shift)).sum(1)
        if offset is not None and wanted[place + 4]:
            flow = weight.unsqueeze(1) * answered
            grads[place + 4] = flow.sum_to_size(with_channels(offset).shape).reshape(offset.shape)
    if wanted[2] or (wanted[3] and not problem.exact):
        # Where source pixels measure nearly the same, the multipliers are not unique.
        relaxed = None if measures_twice(problem.sampling) else relaxation(problem, exact=True)
        if relaxed is None:
            of_source = problem.confidence * problem.sampling(g)
        else:
            of_source = _multipliers(problem, relaxed, grad, g)
        if wanted[2]:
            grads[2] = of_source
        if wanted[3] and not problem.exact:
            each = _of_confidence(problem, relaxed, target, g, of_source)
            grads[3] = each if problem.confidence.shape[1] == each.shape[1] else each.sum(1, keepdim=True)
    if wanted[6]:
        grads[6] = problem.prior_weight.unsqueeze(1) * g
    if wanted[7]:
        pull = -(g * (target - problem.prior)).sum(1)
        grads[7] = pull if problem.prior_weight.shape == pull.shape else pull.sum((-2, -1), keepdim=True)
    return grads


def _of_confidence(
    problem: Problem,
    relaxed: Relaxation | Projection | None,
    target: torch.Tensor,
    g: torch.Tensor,
    of_source: torch.Tensor,
) -> torch.Tensor:
    """Return -(D g)(D y - s), (B, K, h, w).

    Where the data term is stiff both factors are differences of nearly equal averages, all rounding. But
    C (s - D y) and C D g are the multipliers of the two solves, which are precise just there.
    """
    sampling, confidence = problem.sampling, problem.confidence
    direct = -sampling(g) * (sampling(target) - problem.source) * (confidence > 0)
    if relaxed is None or sampling.couples_cells:
        return direct
    nothing = torch.zeros_like(problem.source)
    rhs = right_hand_side(problem, nothing[..., :1, :1], torch.ones_like(nothing[..., :1, :1]))
    of_data = _multipliers(problem, relaxed, rhs if rhs.numel() else torch.zeros_like(target), target)
    weights = [weight.max() for weight in (problem.edges.down, problem.edges.right) if weight.numel()]
    stiff = torch.stack(weights).max() if weights else confidence.new_zeros(())
    return torch.where(confidence > stiff, -of_source * of_data / confidence.clamp_min(1e-30).square(), direct)


def _multipliers(
    problem: Problem, relaxed: Relaxation | Projection, rhs: torch.Tensor, solution: torch.Tensor
) -> torch.Tensor:
    """Return the m (B, K, h, w) of  (L + T) solution + D^T m = rhs.

    For the gradient it is that of the source. Without exact fidelity m = C D g as well, but at small lambda g is so
    large that its averages are all rounding.
    """
    rest = rhs - laplacian(problem.edges, solution) - problem.prior_weight.unsqueeze(1) * solution
    return relaxed.recover(rest)


def demand(what: str, error: float, rtol: float, iterations: int, of: str = "the source's standard deviation") -> None:
    """Raise ConvergenceError unless the error is within rtol."""
    if not error <= rtol:
        raise ConvergenceError(
            f"{what} reached an estimated error of {error:.1e} of {of} after {iterations} iterations, "
            f"not {rtol:.0e}. Try float64, a larger rtol, a prior_weight, or edge "
            "weights with less contrast (the floor of graphsr.affinity)"
        )
