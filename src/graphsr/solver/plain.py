"""The path for any device, in plain torch: conjugate gradients with one relaxation as the preconditioner.

Relaxation and iteration are those of the fused path (lattice.py, conjugate.py), so both behave alike.
"""

from __future__ import annotations

import torch

from graphsr.graph import Edges, differences
from graphsr.sampling import Sampling
from graphsr.solver.estimate import error_after, smallest_ritz_value
from graphsr.solver.lattice import BOUND
from graphsr.solver.problem import Problem

_LOOK_EVERY = 5  # iterations; an estimate has to hold for two looks, as a slow mode may show late
_MOST_INNER = 500


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


class Relaxation:
    """Solves E z + D^T m = r, D z = C^-1 m by eliminating z: m = (C^-1 + D E^-1 D^T)^-1 D E^-1 r.

    That matrix is diagonal if every cell keeps pixels of its own and the straddling ones are taken last (lattice.py).
    With a factor between 1 and 2 cells have no pixel of their own; it is then solved by inner conjugate gradients.
    """

    def __init__(self, problem: Problem) -> None:
        sampling = self.sampling = problem.sampling
        diagonal = (BOUND * degree(problem.edges) + problem.ground).unsqueeze(1).clamp_min(1e-30)
        rows = torch.as_tensor(sampling.rows.straddles, device=diagonal.device)
        columns = torch.as_tensor(sampling.columns.straddles, device=diagonal.device)
        self.coupled = sampling.couples_cells
        straddles = (rows[:, None] | columns[None, :]).to(diagonal.dtype)
        if self.coupled:
            straddles = torch.zeros_like(straddles)
        self.straddling = bool(straddles.any())
        self.inside = (1 - straddles) / diagonal  # (B, 1, H, W)
        self.known = (problem.confidence > 0).to(diagonal.dtype)  # (B, 1 or K, h, w)
        self.slack = torch.where(self.known > 0, 1 / problem.confidence, torch.zeros_like(self.known))
        if problem.exact:
            self.slack = torch.zeros_like(self.slack)
        stiffness = _average_squared(sampling, self.inside) + self.slack
        self.gain = torch.where((self.known > 0) & (stiffness > 0), 1 / stiffness, torch.zeros_like(stiffness))
        load = sampling.adjoint((self.gain * sampling(straddles.expand_as(diagonal))).amax(1, keepdim=True))
        self.across = straddles / (diagonal + load)

    def __call__(self, r: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """z (B, K, H, W), D^T m and m . C^-1 m (B, K)"""
        average = self.sampling(self.inside * r)
        m = self.multipliers(average)
        pushed = self.sampling.adjoint(m)
        across = None
        if self.straddling:
            across = self.across * (r - pushed)
            m = self.multipliers(average + self.sampling(across))
            pushed = self.sampling.adjoint(m)
        z = self.inside * (r - pushed)
        return z if across is None else z + across, pushed, _dot(self.slack * m, m)

    def fit(self, shortfall: torch.Tensor) -> torch.Tensor:
        """The change of the target that lifts its averages by `shortfall` (B, K, h, w)."""
        return self.inside * self.sampling.adjoint(self.multipliers(shortfall))

    def multipliers(self, average: torch.Tensor) -> torch.Tensor:
        """(C^-1 + D E^-1 D^T)^-1 average, on the known cells. (B, K, h, w)"""
        if not self.coupled:
            return self.gain * average

        def matrix(m: torch.Tensor) -> torch.Tensor:
            return self.known * (self.slack * m + self.sampling(self.inside * self.sampling.adjoint(m)))

        r = self.known * average
        m = torch.zeros_like(r)
        p = z = self.gain * r
        gamma = _dot(r, z)
        goal = gamma * torch.finfo(r.dtype).eps ** 2
        for _ in range(_MOST_INNER):
            if bool((gamma <= goal).all()):
                break
            q = matrix(p)
            alpha = torch.where(gamma > goal, gamma / _dot(p, q).clamp_min(1e-300), torch.zeros_like(gamma))
            m, r = m + _each(alpha, m) * p, r - _each(alpha, m) * q
            z = self.gain * r
            new_gamma = _dot(r, z)
            beta = torch.where(gamma > goal, new_gamma / gamma.clamp_min(1e-300), torch.zeros_like(gamma))
            p = z + _each(beta, m) * p
            gamma = torch.where(gamma > goal, new_gamma, gamma)
        return m


def _dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """(B, K)"""
    return (a * b).sum((-2, -1), dtype=torch.float64)


def _each(factor: torch.Tensor, like: torch.Tensor) -> torch.Tensor:
    """(B, K) to be multiplied with (B, K, H, W)"""
    return factor.to(like.dtype)[..., None, None]


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
    relax = Relaxation(problem)
    sampling = problem.sampling
    known = (problem.confidence > 0).to(x.dtype)
    weight = torch.zeros_like(problem.confidence) if problem.exact else problem.confidence

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
    shape = x.shape[:2]
    pixels = x.shape[-2] * x.shape[-1]
    iterations = torch.zeros(shape, dtype=torch.int64)
    error = torch.full(shape, torch.inf, dtype=torch.float64)
    travelled = torch.zeros(shape, dtype=torch.float64, device=x.device)
    lengths: list[torch.Tensor] = []
    alphas: list[torch.Tensor] = []
    betas: list[torch.Tensor] = []
    p, q = torch.zeros_like(x), torch.zeros_like(x)
    gamma = alpha = torch.ones(shape, dtype=torch.float64, device=x.device)
    moving = torch.ones(shape, dtype=torch.bool, device=x.device)
    nothing = torch.zeros_like(gamma)
    held = torch.zeros(shape, dtype=torch.bool)
    # The products of sweeps.product, and the coefficients of conjugate.iterate.
    for n in range(1, most + 1):
        z, pushed, slack = relax(r)
        if problem.exact:
            # With the data as a constraint r matters only up to D^T: without that part it goes to 0.
            r, pushed = r - pushed, torch.zeros_like(pushed)
        image = laplacian(problem.edges, z) + problem.ground.unsqueeze(1) * z
        new_gamma, delta = _dot(r - pushed, z) + slack, _dot(image, z) + slack
        beta = new_gamma / gamma if n > 1 else nothing
        curvature = delta - beta * new_gamma / alpha if n > 1 else delta
        spoilt = curvature <= 0  # by rounding: begin anew from here
        beta, curvature = torch.where(spoilt, nothing, beta), torch.where(spoilt, delta, curvature)
        moving = moving & (new_gamma > 0) & (delta > 0)
        gamma = torch.where(moving, new_gamma, gamma)
        alpha = torch.where(moving, new_gamma / curvature, alpha)
        step, turn = _each(torch.where(moving, alpha, nothing), x), _each(torch.where(moving, beta, nothing), x)
        p, q = z + turn * p, image + pushed + turn * q
        x, r = x + step * p, r - step * q
        lengths.append(torch.where(moving, alpha, nothing) * (_dot(p, p) / pixels).sqrt())
        travelled = (travelled.square() + lengths[-1].square()).sqrt()
        alphas.append(torch.where(moving, alpha, nothing))
        if n > 1:
            betas.append(torch.where(moving, beta, nothing))
        if n % _LOOK_EVERY == 0 or n == most or not bool(moving.any()):
            going = iterations == 0  # nothing more is done, or estimated, for what has come to an end
            error = torch.where(going, _errors(lengths, alphas, betas), error)
            error = torch.where(going & (new_gamma <= 0).cpu(), 0.0, error)  # nothing is left of the residual
            error = torch.where(torch.isnan(new_gamma + delta).cpu(), torch.inf, error)
            rms = (_dot(x, x) / pixels).sqrt().cpu()
            bound = tolerance * rms if relative else torch.full_like(rms, tolerance)
            lost = (torch.maximum(*lengths[-2:]) <= torch.finfo(x.dtype).eps * travelled).cpu() if n > 1 else ~going
            good = error <= bound
            ended = (good & held) | lost | ~moving.cpu()
            held = good
            iterations = torch.where(going & ended, n, iterations)
            moving = moving & ~ended.to(x.device)
            if not bool(moving.any()):
                break
    iterations = torch.where(iterations == 0, n, iterations)
    if problem.exact:
        x = x + relax.fit(known * (source - sampling(x.double()))).to(x.dtype)
    rms = (_dot(x, x) / pixels).sqrt().cpu()
    error = torch.maximum(error, 0.5 * torch.finfo(x.dtype).eps * rms)
    return x, iterations, torch.where(rms > 0, error / rms, torch.zeros_like(rms)) if relative else error


def _errors(lengths: list[torch.Tensor], alphas: list[torch.Tensor], betas: list[torch.Tensor]) -> torch.Tensor:
    """(B, K) RMS errors; 0 for what has nowhere to go from the start."""
    alpha, beta = torch.stack(alphas).cpu().numpy(), torch.stack([*betas, alphas[-1]]).cpu().numpy()
    step = torch.stack(lengths).cpu().numpy()
    errors = torch.zeros(alpha.shape[1:], dtype=torch.float64)
    for b in range(alpha.shape[1]):
        for k in range(alpha.shape[2]):
            count = int((alpha[:, b, k] > 0).sum())
            if count:
                slowest = smallest_ritz_value(alpha[:count, b, k].copy(), beta[:count, b, k].copy(), count)
                errors[b, k] = error_after(step[-1, b, k], step[max(len(step) - 2, 0), b, k], slowest)
    return errors
