"""The public solve: a problem, or its tensors, in; the target out."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import overload

import torch

from graphsr.errors import InputError
from graphsr.graph import Edges, both_ways
from graphsr.sampling import Sampling
from graphsr.solver.backends.gram import blurs
from graphsr.solver.contrast import hidden_eigenvalue
from graphsr.solver.gradient import demand, differentiable_solve
from graphsr.solver.matrix import Backend, Matrix, set_up, uses_numba
from graphsr.solver.problem import Problem


@dataclass(frozen=True, eq=False)
class Solution:
    """The solution of a problem, and how it was reached: the worst image and channel of the batch.

    Attributes:
        target: (B, K, H, W), differentiable in all that went in.
        iterations: The most that were needed.
        error: Estimated RMS error of the target against the exact minimiser, in standard deviations of the source.
        seconds: Time taken.
    """

    target: torch.Tensor
    iterations: int
    error: float
    seconds: float


@overload
def solve(edges: Problem, *, rtol: float | None = ..., backend: Backend = ...) -> torch.Tensor: ...
@overload
def solve(
    edges: Edges,
    source: torch.Tensor,
    size: tuple[int, int] | Sampling,
    *,
    confidence: torch.Tensor | None = ...,
    offsets: Edges | None = ...,
    prior: torch.Tensor | None = ...,
    prior_weight: torch.Tensor | float | None = ...,
    exact: bool = ...,
    start: torch.Tensor | None = ...,
    rtol: float | None = ...,
    backend: Backend = ...,
) -> torch.Tensor: ...
def solve(
    edges: Edges | Problem,
    source: torch.Tensor | None = None,
    size: tuple[int, int] | Sampling | None = None,
    *,
    confidence: torch.Tensor | None = None,
    offsets: Edges | None = None,
    prior: torch.Tensor | None = None,
    prior_weight: torch.Tensor | float | None = None,
    exact: bool = False,
    start: torch.Tensor | None = None,
    rtol: float | None = None,
    backend: Backend = "auto",
) -> torch.Tensor:
    """Return the target that best fits the source on the pixel graph.

    It minimises  sum conf (D y - s)^2 + sum w (y_p - y_q - o)^2 + sum t (y - z)^2,  or, with `exact`, the last two sums
    among the targets that average back to the source. Differentiable in edges, source, confidence, offsets, prior and
    prior_weight, at the price of one more solve.

    Args:
        edges: Edge weights w, down (B, H-1, W) and right (B, H, W-1), positive; or a whole Problem, such as
            `result.problem`, and then nothing else but rtol and backend. Edges without a batch axis, such as
            `result.edges`, go with a source (h, w), (K, h, w) or (1, K, h, w).
        source: s (B, K, h, w) float32 or float64; NaN is missing.
        size: (H, W), at least (h, w); the factor may be any number and differ per axis. Or a Sampling, where the source
            does not cover the target edge to edge.
        confidence: (B, 1 or K, h, w), 0 is missing; default 1.
        offsets: Differences o = y_p - y_q to prefer along the edges, shaped like edges or with a channel axis.
        prior: z (B, K, H, W); default the interpolated source, if a weight is given.
        prior_weight: t, a number or (B, H, W).
        exact: Whether the target averages back to the source exactly.
        start: (B, K, H, W) where to begin; default the interpolated source. It does not change the answer.
        rtol: RMS error allowed against the exact minimiser, relative to the source's standard deviation. Default 1e-4,
            or that of the Problem.
        backend: "numba" (CPU kernels), "torch" (any device) or "auto".

    Returns:
        The target (B, K, H, W), or as many axes as the source has.

    Raises:
        ConvergenceError: If rtol cannot be reached, in double precision neither.

    Example:
        >>> import torch, graphsr
        >>> edges = graphsr.affinity(torch.rand(1, 3, 8, 8), 0.5)
        >>> graphsr.solve(edges, torch.rand(1, 1, 4, 4), (8, 8)).shape
        torch.Size([1, 1, 8, 8])
    """
    if isinstance(edges, Problem):
        if source is not None or size is not None:
            raise InputError("solve: a Problem holds the source and the size; give only rtol and backend beside it")
        return solve_problem(edges, rtol=rtol, backend=backend).target
    if source is None or size is None:
        raise InputError("solve: edges need a source and a size")
    axes = source.ndim
    if edges.down.ndim == 2:  # without a batch axis, and so may be all else
        edges = both_ways(lambda each: each[None], edges)
        source, confidence, prior, start = (_batched(each, axes) for each in (source, confidence, prior, start))
        if offsets is not None and offsets.down.ndim < axes:
            offsets = both_ways(lambda each: each[None], offsets)
    assert source is not None
    if source.ndim != 4:
        raise InputError(f"solve: source must be (B, K, h, w), not {tuple(source.shape)}")
    sampling = size if isinstance(size, Sampling) else Sampling(size, (source.shape[-2], source.shape[-1]))
    problem = Problem(edges, sampling, source, confidence, prior, prior_weight, offsets, exact, start)
    target = solve_problem(problem, rtol=rtol, backend=backend).target
    return target.reshape(target.shape[4 - axes :]) if axes < 4 else target


def _batched(values: torch.Tensor | None, axes: int) -> torch.Tensor | None:
    """Add the axes that a source of so many lacks of (B, K, h, w)."""
    if values is None:
        return None
    for _ in range(4 - axes):
        values = values[None]
    return values


def solve_problem(
    problem: Problem, *, rtol: float | None = None, backend: Backend = "auto", matrix: Matrix | None = None
) -> Solution:
    """Solve a problem; in double precision where single precision cannot keep rtol.

    Args:
        problem: What to solve.
        rtol: RMS error allowed against the exact minimiser, relative to the source's standard deviation. Default the
            problem's.
        backend: See `solve`.
        matrix: The set-up of a problem with the same edges, sampling, confidence, prior weight and `exact`
            (`graphsr.solver.set_up`), to be used again.

    Raises:
        ConvergenceError: If rtol cannot be reached.
    """
    began = time.perf_counter()
    if rtol is None:
        rtol = problem.rtol
    if not 0 < rtol < 1:
        raise InputError(f"solve: rtol must lie between 0 and 1, not {rtol}")
    device, dtype = problem.source.device, problem.source.dtype
    if device.type == "mps":  # which has no double precision
        problem = problem.to("cpu")
    if matrix is None and dtype == torch.float32 and not _needs_double(problem, backend):
        target, outcome = differentiable_solve(problem, set_up(problem, backend), rtol)
        if outcome.error <= rtol:
            return Solution(target.to(device), outcome.iterations, outcome.error, time.perf_counter() - began)
    if matrix is None:
        problem = problem.to(torch.float64)
    target, outcome = differentiable_solve(problem, matrix or set_up(problem, backend), rtol)
    if not outcome.error <= rtol and matrix is None and backend != "torch" and problem.sampling.couples_cells:
        # Of source pixels that share target pixels the kernels may stall, by how a processor adds up.
        target, outcome = differentiable_solve(problem, set_up(problem, "torch"), rtol)
    error = max(outcome.error, 0.5 * torch.finfo(dtype).eps)  # rounded at the end
    demand("the solve", error, rtol, outcome.iterations)
    return Solution(target.to(device, dtype), outcome.iterations, error, time.perf_counter() - began)


def _needs_double(problem: Problem, backend: Backend) -> bool:
    """Return whether single precision would surely not keep the promise of rtol."""
    sampling = problem.sampling
    if any(
        hidden_eigenvalue(down.cpu().numpy(), right.cpu().numpy()) < 1
        for down, right in zip(problem.edges.down.detach(), problem.edges.right.detach(), strict=True)
    ):
        return True
    if sampling.couples_cells:
        # The kernels keep averages in double precision, and notice where that is not enough (`ProjectedSystem`).
        return not uses_numba(problem, backend) or blurs(sampling)
    return problem.exact and (sampling.straddles or not uses_numba(problem, backend))
