"""The path for any device, in plain torch: conjugate gradients with one relaxation as the preconditioner.

The relaxation is that of the fused path's finest level (cycle.py, lattice.py), so small lambda, holes, any factor and
exact fidelity behave alike; without the coarse levels a sharp graph takes more iterations.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from graphsr.graph import Edges, differences
from graphsr.sampling import Sampling
from graphsr.solver.cycle import DAMPING
from graphsr.solver.estimate import CAUTION, SAFETY, error_after, smallest_ritz_value
from graphsr.solver.problem import Problem

_LOOK_EVERY = 10


def laplacian(edges: Edges, values: torch.Tensor) -> torch.Tensor:
    """L y for (B, K, H, W)."""
    step = differences(values)
    down, right = edges.down.unsqueeze(1) * step.down, edges.right.unsqueeze(1) * step.right
    out = torch.zeros_like(values)
    out[..., :-1, :] += down
    out[..., 1:, :] -= down
    out[..., :-1] += right
    out[..., 1:] -= right
    return out


def degree(edges: Edges) -> torch.Tensor:
    """The sum of the ties of each pixel, (B, H, W)."""
    height, width = edges.size
    total = edges.down.new_zeros((*edges.down.shape[:-2], height, width))
    total[..., :-1, :] += edges.down
    total[..., 1:, :] += edges.down
    total[..., :-1] += edges.right
    total[..., 1:] += edges.right
    return total


@dataclass(frozen=True)
class Relaxation:
    """Solves E z + D^T m = r, D z = C^-1 m (+ shortfall), straddling pixels last (see lattice.py)."""

    sampling: Sampling
    inside: torch.Tensor  # (B, 1, H, W) E^-1, 0 for straddling pixels
    across: torch.Tensor  # (B, 1, H, W) the inverse diagonal of straddling pixels, 0 for the others
    gain: torch.Tensor  # (B, 1 or K, h, w)

    @classmethod
    def of(cls, problem: Problem) -> Relaxation:
        sampling, edges = problem.sampling, problem.edges
        diagonal = (DAMPING * degree(edges) + problem.ground).unsqueeze(1).clamp_min(1e-30)
        rows = torch.as_tensor(sampling.rows.straddles, device=diagonal.device)
        columns = torch.as_tensor(sampling.columns.straddles, device=diagonal.device)
        straddles = (rows[:, None] | columns[None, :]).to(diagonal.dtype)
        inside = (1 - straddles) / diagonal
        known = problem.confidence > 0
        slack = torch.where(known, 1 / problem.confidence, torch.zeros_like(problem.confidence))
        stiffness = _average_squared(sampling, inside) + (0 if problem.exact else slack)
        gain = torch.where(known & (stiffness > 0), 1 / stiffness, torch.zeros_like(stiffness))
        load = sampling.adjoint((gain * sampling(straddles.expand_as(diagonal))).amax(1, keepdim=True))
        return cls(sampling, inside, straddles / (diagonal + load), gain)

    def __call__(self, r: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """z (B, K, H, W) and D^T m"""
        answer = self.sampling(self.inside * r)
        pushed = self.sampling.adjoint(self.gain * answer)
        if not self.straddling:
            return self.inside * (r - pushed), pushed
        across = self.across * (r - pushed)
        pushed = self.sampling.adjoint(self.gain * (answer + self.sampling(across)))
        return self.inside * (r - pushed) + across, pushed

    @property
    def straddling(self) -> bool:
        return bool(self.sampling.rows.straddles.any() or self.sampling.columns.straddles.any())

    def fit(self, shortfall: torch.Tensor) -> torch.Tensor:
        """The change of the target that lifts its averages by `shortfall` (B, K, h, w)."""
        return self.inside * self.sampling.adjoint(self.gain * shortfall)


def _average_squared(sampling: Sampling, values: torch.Tensor) -> torch.Tensor:
    """Sum over the pixels of each cell of D_cp^2 values_p."""
    rows = torch.as_tensor(sampling.rows.taps, dtype=values.dtype, device=values.device)
    columns = torch.as_tensor(sampling.columns.taps, dtype=values.dtype, device=values.device)
    first_row = torch.as_tensor(sampling.rows.first, device=values.device)
    first_column = torch.as_tensor(sampling.columns.first, device=values.device)
    height, width = sampling.size
    total: torch.Tensor = values.new_zeros(1)
    for tap in range(rows.shape[1]):
        line = values.index_select(-2, (first_row + tap).clamp_max(height - 1))
        total = total + rows[:, tap, None] ** 2 * line
    squared: torch.Tensor = values.new_zeros(1)
    for tap in range(columns.shape[1]):
        line = total.index_select(-1, (first_column + tap).clamp_max(width - 1))
        squared = squared + columns[:, tap] ** 2 * line
    return squared


def minimise(
    problem: Problem,
    source: torch.Tensor,
    push: torch.Tensor,
    x: torch.Tensor,
    *,
    tolerance: float,
    relative: bool,
    most: int,
) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Like fused.minimise for a whole batch: the improved x (B, K, H, W), iterations and errors (B, K)."""
    relax = Relaxation.of(problem)
    sampling = problem.sampling
    known = (problem.confidence > 0).to(x.dtype)
    weight = torch.zeros_like(problem.confidence) if problem.exact else problem.confidence

    def dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        return (a * b).sum((-2, -1), dtype=torch.float64)

    # In double precision, as in fused.minimise: what is left of the data term is a small difference.
    x = x + relax.fit(known * (source - sampling(x.double()))).to(x.dtype)
    edges = Edges(problem.edges.down.double(), problem.edges.right.double())
    start = x.double()
    r = (
        push
        + sampling.adjoint(weight * (source - sampling(start)))
        - laplacian(edges, start)
        - problem.ground.unsqueeze(1) * start
    ).to(x.dtype)
    owns = not relax.straddling or min(sampling.rows.taps.shape[1], sampling.columns.taps.shape[1]) > 2
    safety = SAFETY if owns else CAUTION
    rounding = 0.0 if relative else 8.0 * torch.finfo(x.dtype).eps
    shape = x.shape[:2]
    pixels = x.shape[-2] * x.shape[-1]
    iterations = torch.zeros(shape, dtype=torch.int64)
    error = torch.full(shape, torch.inf, dtype=torch.float64)
    travelled = torch.zeros(shape, dtype=torch.float64, device=x.device)
    lengths: list[torch.Tensor] = []
    alphas: list[torch.Tensor] = []
    betas: list[torch.Tensor] = []
    z, pushed = relax(r)
    p, gamma = z, dot(r, z)
    q = _product(problem, z, pushed)
    for n in range(1, most + 1):
        curvature = dot(p, q)
        moving = (gamma > 0) & (curvature > 0)
        alpha = torch.where(moving, gamma / curvature.clamp_min(1e-300), torch.zeros_like(gamma))
        step = alpha.to(x.dtype)[..., None, None]
        x, r = x + step * p, r - step * q
        lengths.append(alpha * (dot(p, p) / pixels).sqrt())
        travelled = (travelled.square() + lengths[-1].square()).sqrt()
        alphas.append(alpha)
        z, pushed = relax(r)
        new_gamma = dot(r, z)
        beta = torch.where(gamma > 0, new_gamma / gamma.clamp_min(1e-300), torch.zeros_like(gamma))
        betas.append(beta)
        gamma = new_gamma
        turn = beta.to(x.dtype)[..., None, None]
        p, q = z + turn * p, _product(problem, z, pushed) + turn * q
        if n % _LOOK_EVERY == 0 or n == most or not bool(moving.any()):
            error = _errors(lengths, alphas, betas, safety, rounding)
            bound = tolerance * travelled.cpu() if relative else torch.full(shape, tolerance, dtype=torch.float64)
            iterations = torch.where((iterations == 0) & (error <= bound), n, iterations)
            if bool((error <= bound).all()) or not bool(moving.any()):
                break
    iterations = torch.where(iterations == 0, n, iterations)
    if problem.exact:
        x = x + relax.fit(known * (source - sampling(x.double()))).to(x.dtype)
    return x, iterations, error


def _product(problem: Problem, z: torch.Tensor, pushed: torch.Tensor) -> torch.Tensor:
    """A z for a relaxed z, whose D^T C D z is D^T m: computed anew it would be rounding only."""
    return laplacian(problem.edges, z) + problem.ground.unsqueeze(1) * z + pushed


def _errors(
    lengths: list[torch.Tensor],
    alphas: list[torch.Tensor],
    betas: list[torch.Tensor],
    safety: float,
    rounding: float,
) -> torch.Tensor:
    alpha, beta = torch.stack(alphas).cpu().numpy(), torch.stack(betas).cpu().numpy()
    step = torch.stack(lengths[-2:]).cpu().numpy()
    errors = torch.zeros(alpha.shape[1:], dtype=torch.float64)
    for b in range(alpha.shape[1]):
        for k in range(alpha.shape[2]):
            count = int((alpha[:, b, k] > 0).sum())
            if count:
                slowest = smallest_ritz_value(alpha[:count, b, k].copy(), beta[:count, b, k].copy(), count)
                errors[b, k] = error_after(step[-1, b, k], step[0, b, k], slowest, safety)
                if step[-1, b, k] <= rounding:
                    errors[b, k] = float(step[-1, b, k])
    return errors
