"""The linear solve: y = argmin of data term + graph term + prior, differentiable in all that goes in.

Forward and backward are one solve each with the same matrix. On the CPU the fused path runs (fused.py); elsewhere, or
when asked for, the plain torch path (plain.py). Both stop on an estimate of the error of the answer.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any, Literal

import torch
from torch.autograd.function import once_differentiable

from graphsr.errors import ConvergenceError, InputError
from graphsr.graph import Edges, differences
from graphsr.sampling import Sampling, interpolate_source
from graphsr.solver import problem as checks
from graphsr.solver.problem import Problem

__all__ = ["SolveReport", "solve", "solve_with_report"]

Path = Literal["auto", "fused", "plain"]
_SHARP = 1e3


@dataclass(frozen=True)
class SolveReport:
    """How a solve went: the worst image and channel of the batch."""

    iterations: int
    error: float  # estimated RMS error of the target, relative to the source's standard deviation
    seconds: float


def solve(
    edges: Edges,
    source: torch.Tensor,
    size: tuple[int, int] | Sampling,
    *,
    confidence: torch.Tensor | None = None,
    offsets: Edges | None = None,
    prior: torch.Tensor | None = None,
    prior_weight: torch.Tensor | float | None = None,
    exact: bool = False,
    start: torch.Tensor | None = None,
    rtol: float = 1e-4,
    path: Path = "auto",
) -> torch.Tensor:
    """The target (B, K, H, W) that best fits the source (B, K, h, w) on the graph `edges`.

    Minimises  sum conf (D y - s)^2 + sum w (y_p - y_q - o)^2 + sum t (y - z)^2,  or, with `exact`, the last two sums
    among the targets that average back to the source. Differentiable in edges, source, confidence, offsets, prior and
    prior_weight, at the price of one more solve.

    edges         weights (B, H-1, W) and (B, H, W-1), positive
    source        (B, K, h, w) float32 or float64; NaN = missing
    size          (H, W), at least (h, w); the factor may be any number and differ per axis. Or a Sampling, where the
                  source does not cover the target edge to edge
    confidence    (B, 1 or K, h, w), 0 = missing; default 1. Its gradient comes from the misfit, which below lambda
                  1e-4 is mostly rounding in single precision
    offsets       differences y_p - y_q to prefer along the edges, shaped like edges or with a channel axis
    prior         (B, K, H, W) a guess z; default the interpolated source, if a weight is given
    prior_weight  its weight t: a number or (B, H, W)
    start         (B, K, H, W) where to begin; default the interpolated source. It does not change the answer
    rtol          RMS error allowed against the exact minimiser, relative to the source's standard deviation
    path          "fused" (CPU kernels), "plain" (torch, any device) or "auto"; a factor between 1 and 2 is always plain

    Raises ConvergenceError if rtol cannot be reached.
    """
    return solve_with_report(
        edges, source, size, confidence=confidence, offsets=offsets, prior=prior, prior_weight=prior_weight,
        exact=exact, start=start, rtol=rtol, path=path,
    )[0]  # fmt: skip


def solve_with_report(
    edges: Edges,
    source: torch.Tensor,
    size: tuple[int, int] | Sampling,
    *,
    confidence: torch.Tensor | None = None,
    offsets: Edges | None = None,
    prior: torch.Tensor | None = None,
    prior_weight: torch.Tensor | float | None = None,
    exact: bool = False,
    start: torch.Tensor | None = None,
    rtol: float = 1e-4,
    path: Path = "auto",
) -> tuple[torch.Tensor, SolveReport]:
    """`solve`, and how it went."""
    began = time.perf_counter()
    if source.device.type == "mps":  # which has no double precision
        return _on_cpu(edges, source, size, confidence, offsets, prior, prior_weight, exact, start, rtol)
    if not 0 < rtol < 1:
        raise InputError(f"solve: rtol must lie between 0 and 1, not {rtol}")
    if path not in ("auto", "fused", "plain"):
        raise InputError(f"solve: path must be 'auto', 'fused' or 'plain', not {path!r}")
    if path == "fused" and source.device.type != "cpu":
        raise InputError(f"solve: path 'fused' runs on the CPU, but the source is on {source.device}")
    source, confidence = checks.check_source(source, confidence)
    sampling = _sampling(size, source)
    checks.check_edges(edges, source.shape[0], sampling.size, source.dtype)
    shape = (*source.shape[:2], *sampling.size)
    if prior is not None and prior_weight is None:
        raise InputError("solve: a prior needs a prior_weight")
    ground = checks.check_prior_weight(0.0 if prior_weight is None else prior_weight, source, sampling.size)
    # Where the interpolated source is the prior as well as the start, the target follows it.
    follow = prior is None and prior_weight is not None
    interpolated = interpolate_source(source if follow else source.detach(), sampling, confidence.detach() > 0)
    prior = interpolated if prior is None else checks.check_like_target("prior", prior, shape, source.dtype)
    start = interpolated if start is None else checks.check_like_target("start", start, shape, source.dtype)
    offset_tensors: tuple[torch.Tensor | None, torch.Tensor | None] = (None, None)
    if offsets is not None:
        checks.check_offsets(offsets, shape)
        offset_tensors = (offsets.down.to(source.dtype), offsets.right.to(source.dtype))

    settings = _Settings(sampling, exact, rtol, _fused(path, source) and not sampling.couples_cells)
    inputs = [edges.down, edges.right, source, confidence, *offset_tensors, prior, ground, start.detach()]
    in_double = _needs_double(settings, edges)
    if in_double:
        inputs = [x if x is None else x.double() for x in inputs]
    target, iterations, error = _Solve.apply(*inputs, settings)
    if in_double:  # and rounded at the end
        error = error.clamp_min(0.5 * torch.finfo(source.dtype).eps)
    _demand("the solve", error, rtol, iterations)
    return target.to(source.dtype), SolveReport(int(iterations), float(error), time.perf_counter() - began)


def _on_cpu(
    edges: Edges,
    source: torch.Tensor,
    size: tuple[int, int] | Sampling,
    confidence: torch.Tensor | None,
    offsets: Edges | None,
    prior: torch.Tensor | None,
    prior_weight: torch.Tensor | float | None,
    exact: bool,
    start: torch.Tensor | None,
    rtol: float,
) -> tuple[torch.Tensor, SolveReport]:
    def moved(value: Any) -> Any:
        if isinstance(value, Edges):
            return Edges(value.down.cpu(), value.right.cpu())
        return value.cpu() if isinstance(value, torch.Tensor) else value

    target, report = solve_with_report(
        moved(edges), source.cpu(), size, confidence=moved(confidence), offsets=moved(offsets), prior=moved(prior),
        prior_weight=moved(prior_weight), exact=exact, start=moved(start), rtol=rtol,
    )  # fmt: skip
    return target.to(source.device), report


def _sampling(size: tuple[int, int] | Sampling, source: torch.Tensor) -> Sampling:
    if not isinstance(size, Sampling):
        return Sampling(size, (source.shape[-2], source.shape[-1]))
    if size.source_size != tuple(source.shape[-2:]):
        raise InputError(f"solve: {size} is not for a source of shape {tuple(source.shape)}")
    return size


def _contrast(edges: Edges) -> float:
    """The strongest tie over the weakest."""
    ties = [weights.detach() for weights in (edges.down, edges.right) if weights.numel()]
    return max(float(t.max()) for t in ties) / min(float(t.min()) for t in ties) if ties else 1.0


def _needs_double(settings: _Settings, edges: Edges) -> bool:
    """Where single precision would not keep the promise of rtol."""
    sampling = settings.sampling
    if settings.fused:
        return settings.exact and sampling.straddles
    # The inner solves of coupled cells have to be better than single precision; and this path does not refine.
    return sampling.couples_cells or settings.exact or _contrast(edges) > _SHARP


def _fused(path: Path, source: torch.Tensor) -> bool:
    return path == "fused" or (path == "auto" and source.device.type == "cpu")


@dataclass(frozen=True)
class _Settings:
    sampling: Sampling
    exact: bool
    rtol: float
    fused: bool


class _Solve(torch.autograd.Function):
    """y = A^-1 b. The gradient is g = A^-1 dl/dy, then products of g with what each input multiplies."""

    @staticmethod
    def forward(
        ctx: Any,
        down: torch.Tensor,
        right: torch.Tensor,
        source: torch.Tensor,
        confidence: torch.Tensor,
        offset_down: torch.Tensor | None,
        offset_right: torch.Tensor | None,
        prior: torch.Tensor,
        ground: torch.Tensor,
        start: torch.Tensor,
        settings: _Settings,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        from graphsr.solver.engine import engine_for

        problem = Problem(Edges(down, right), settings.sampling, confidence, ground, settings.exact)
        engine = engine_for(problem, source.shape[1], settings.fused)
        # The minimiser moves and scales with its inputs, so it is sought in units of the source about its mean.
        known = (confidence > 0).expand_as(source)
        count = known.sum((-2, -1), keepdim=True)
        mean = (source * known).sum((-2, -1), keepdim=True) / count
        spread = (((source - mean) * known).square().sum((-2, -1), keepdim=True) / count).sqrt()
        tiny = torch.finfo(source.dtype).eps * mean.abs() + torch.finfo(source.dtype).tiny
        unit = torch.where(spread > tiny, spread, torch.ones_like(spread))
        push = source.new_zeros(0)
        if bool((ground > 0).any()):
            push = ground.unsqueeze(1) * (prior - mean) / unit
        if offset_down is not None and offset_right is not None:
            flow = checks.edge_flow(problem.edges, Edges(offset_down, offset_right)) / unit
            push = push + flow if push.numel() else flow.expand_as(start).contiguous()
        target, iterations, error = engine.minimise(
            (source - mean) / unit * known,
            push,
            (start - mean) / unit,
            tolerance=settings.rtol,
            relative=False,
        )
        target = target.mul_(unit).add_(mean)
        ctx.save_for_backward(down, right, source, confidence, offset_down, offset_right, prior, ground, target)
        ctx.engine, ctx.settings = engine, settings
        worst, most = error.max(), iterations.max()
        ctx.mark_non_differentiable(most, worst)
        return target, most, worst

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: torch.Tensor, *_: Any) -> Any:
        down, right, source, confidence, offset_down, offset_right, prior, ground, target = ctx.saved_tensors
        settings: _Settings = ctx.settings
        sampling = settings.sampling
        unit = grad.square().mean((-2, -1), keepdim=True).sqrt()
        unit = torch.where(unit > 0, unit, torch.ones_like(unit))
        g, iterations, error = ctx.engine.minimise(
            torch.zeros_like(source), (grad / unit).contiguous(), torch.zeros_like(target),
            tolerance=settings.rtol, relative=True,
        )  # fmt: skip
        _demand("the gradient", error, settings.rtol, iterations, "its own size")
        g = g * unit

        wanted = ctx.needs_input_grad
        step, answer = differences(target), differences(g)
        grads: list[torch.Tensor | None] = [None] * 10
        for place, along, turn, weight, offset in (
            (0, step.down, answer.down, down, offset_down),
            (1, step.right, answer.right, right, offset_right),
        ):
            if wanted[place]:
                shift = 0 if offset is None else offset.unsqueeze(1) if offset.ndim == 3 else offset
                grads[place] = -(turn * (along - shift)).sum(1)
            if offset is not None and wanted[place + 4]:
                flow = weight.unsqueeze(1) * turn
                grads[place + 4] = flow.sum(1) if offset.ndim == 3 else flow
        if wanted[2]:
            grads[2] = _multipliers(Problem(Edges(down, right), sampling, confidence, ground, True), grad, g)
        if wanted[3] and not settings.exact:
            misfit = -sampling(g) * (sampling(target) - source) * (confidence > 0)
            grads[3] = misfit if confidence.shape[1] == misfit.shape[1] else misfit.sum(1, keepdim=True)
        if wanted[6]:
            grads[6] = ground.unsqueeze(1) * g
        if wanted[7]:
            pull = -(g * (target - prior)).sum(1)
            grads[7] = pull if ground.shape == pull.shape else pull.sum((-2, -1), keepdim=True)
        return tuple(grads)


def _multipliers(problem: Problem, grad: torch.Tensor, g: torch.Tensor) -> torch.Tensor:
    """The mu of  (L + T) g + D^T mu = grad, which is the gradient with respect to the source.

    Without exact fidelity mu = C D g as well, but at small lambda g is so large that its averages are all rounding.
    """
    from graphsr.solver.plain import Relaxation, laplacian

    relax = Relaxation(problem)
    rest = grad - laplacian(problem.edges, g) - problem.ground.unsqueeze(1) * g
    return relax.multipliers(problem.sampling(relax.inside * rest))


def _demand(
    what: str, error: torch.Tensor, rtol: float, iterations: torch.Tensor, of: str = "the source's standard deviation"
) -> None:
    worst = float(error.max())
    if not worst <= rtol:
        raise ConvergenceError(
            f"{what} reached an estimated error of {worst:.1e} of {of} after {int(iterations.max())} iterations, "
            f"not {rtol:.0e}. Try float64, a larger rtol, a prior_weight, or edge "
            "weights with less contrast (the floor of graphsr.affinity)"
        )
