"""The backend for any device, in plain torch: the whole batch at once.

Preconditioner and iteration are those of the CPU kernels (lattice.py, sweeps.py), so both behave alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from graphsr.graph import Edges, both_ways, differences, net_flow
from graphsr.sampling import Sampling
from graphsr.solver.backends.diagonal import Diagonal, measures_twice
from graphsr.solver.backends.free_pixels import FreePixels
from graphsr.solver.backends.lattice import BOUND
from graphsr.solver.backends.levels import Levels
from graphsr.solver.backends.projection import LARGEST, MARGIN, Projection
from graphsr.solver.iteration import Stepwise, minimise
from graphsr.solver.problem import Problem
from graphsr.solver.stopping import Progress, see_largest

_PRECISION: dict[torch.dtype, np.finfo[Any]] = {
    torch.float32: np.finfo(np.float32),
    torch.float64: np.finfo(np.float64),
}
# As in the CPU backend.
_DELICATE = {torch.float32: 1e3, torch.float64: 1e10}


class TorchMatrix:
    """The matrix of a problem, set up on its device."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.relaxation = problem, preconditioner(problem)
        # Levels are there only where source pixels share no target pixels.
        self._free = _free_pixels(problem) if isinstance(self.relaxation, Relaxation) else []
        # See `graphsr.solver.iteration.System`.
        self._slowest = min([1.0, *(free.slowest for image in self._free for free in image)])

    def is_direct(self, channels: int) -> bool:
        """See `graphsr.solver.matrix.Matrix.is_direct`."""
        return False

    def minimise(
        self, source: torch.Tensor, rhs: torch.Tensor, start: torch.Tensor, *, tolerance: float, relative: bool
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """See `graphsr.solver.matrix.Matrix.minimise`."""
        system = _TorchSystem(self.problem, self.relaxation, self._free, source, rhs, start)
        system.slowest = self._slowest
        iterations, error = minimise(system, tolerance, relative)
        self._slowest = system.slowest
        shape = start.shape[:2]
        return system.x, torch.from_numpy(iterations).reshape(shape), torch.from_numpy(error).reshape(shape)


class _TorchSystem(Stepwise):
    """All images and channels of a batch: source (B, K, h, w), rhs (B, K, H, W) or empty, x (B, K, H, W)."""

    most: int | None = None  # see `graphsr.solver.iteration.System`

    def __init__(
        self,
        problem: Problem,
        relaxation: Relaxation | Projection | Diagonal,
        free: list[list[FreePixels]],
        source: torch.Tensor,
        rhs: torch.Tensor,
        x: torch.Tensor,
    ) -> None:
        self.problem, self.relaxation, self.free, self.source = problem, relaxation, free, source
        self.seen = np.array([LARGEST])
        self.x = x
        self.rhs = rhs if rhs.numel() else torch.zeros_like(x)
        self.count, self.pixels = x.shape[0] * x.shape[1], x.shape[2] * x.shape[3]
        self.exact, self.precision, self.slowest = problem.exact, _PRECISION[x.dtype], 1.0
        diagonal = degree(problem.edges) + problem.prior_weight
        self.delicate = float(diagonal.max()) > _DELICATE[x.dtype] * float(diagonal.min())
        self.largest, self.has_levels = 1.0, False
        self.rounding = 0.5 * float(self.precision.eps)
        self.known = (problem.confidence > 0).to(x.dtype)
        self.confidence = torch.zeros_like(problem.confidence) if problem.exact else problem.confidence

    @property
    def patience(self) -> int | None:
        waits = [free.patience for image in self.free for free in image if free.patience is not None]
        return min(waits) if waits and not self.has_levels and self.x.device.type == "cpu" else None

    def add_levels(self) -> None:
        self.largest, self.has_levels = Levels.largest_of_sum, True
        self.slowest = min([Levels.smallest, *(free.slowest for image in self.free for free in image)])

    def hidden_error(self) -> np.ndarray:
        if self.has_levels or not any(free.exist for image in self.free for free in image):
            return np.zeros(self.count)
        if self.exact:
            self.fit()
        self.restart()
        lift = self._lift()
        return np.asarray(np.sqrt(_on_host(_dot(lift, lift))[:, 0] / self.pixels))

    def _lift(self) -> torch.Tensor:
        """Return the correction by levels (B, K, H, W), computed on the CPU."""
        residuals = self.r.cpu().numpy()
        lift = np.zeros_like(residuals)
        for image, free in enumerate(self.free):
            for k in range(residuals.shape[1]):
                one = free[min(k, len(free) - 1)]
                if one.exist:
                    lift[image, k] = one.levels.on_pixels(one.levels.correction(residuals[image, k]))
        return torch.from_numpy(lift).to(self.x.device)

    def fit(self) -> None:
        shortfall = self.known * (self.source - self.problem.sampling(self.x.double()))
        self.x = self.x + self.relaxation.fit(shortfall).to(self.x.dtype)

    def restart(self) -> None:
        problem, x = self.problem, self.x.double()
        edges = both_ways(torch.Tensor.double, problem.edges)
        pull = problem.sampling.adjoint(self.confidence * (self.source - problem.sampling(x)))
        self.r = (self.rhs + pull - laplacian(edges, x) - problem.prior_weight.unsqueeze(1) * x).to(self.x.dtype)
        self.p, self.q, self.change = (torch.zeros_like(self.x) for _ in range(3))

    def product(self, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        z, pushed, compliance = self.relaxation(self.r)
        if self.exact:
            # With the data as a constraint r matters only up to D^T: without that part it goes to 0.
            self.r, pushed = self.r - pushed, torch.zeros_like(pushed)
        if self.has_levels:
            lift = self._lift()
            # C D lift, nothing where a source pixel is firmly known: then the two parts of z share no source pixel.
            measured = self.problem.sampling(lift)
            told = self.confidence * measured
            compliance = compliance + _dot(told, 2 * self.problem.sampling(z) + measured)
            z, pushed = z + lift, pushed + self.problem.sampling.adjoint(told)
        smooth = laplacian(self.problem.edges, z) + self.problem.prior_weight.unsqueeze(1) * z
        self.z, self.w = z, smooth + pushed
        gamma, delta = _dot(self.r - pushed, z) + compliance, _dot(smooth, z) + compliance
        return _on_host(gamma), _on_host(delta)

    def learn(self, progress: Progress, n: int) -> None:
        if not isinstance(self.relaxation, Relaxation):  # whose eigenvalues do not exceed 1
            see_largest(progress, n, self.seen)
            self.largest = MARGIN * float(self.seen[0])

    def advance(self, alpha: np.ndarray, beta: np.ndarray, active: np.ndarray) -> np.ndarray:
        step, turn = (self._each(np.where(active, coefficient, 0.0)) for coefficient in (alpha, beta))
        self.p, self.q = self.z + turn * self.p, self.w + turn * self.q
        self.change, self.r = self.change + step * self.p, self.r - step * self.q
        return _on_host(_dot(self.p, self.p))

    def accept(self) -> None:
        self.x = self.x + self.change

    def rms(self) -> np.ndarray:
        return np.asarray(np.sqrt(_on_host(_dot(self.x, self.x))[:, 0] / self.pixels))

    def _each(self, coefficients: np.ndarray) -> torch.Tensor:
        """Return (B * K,) coefficients as (B, K, 1, 1) on the device."""
        values = torch.as_tensor(coefficients, dtype=self.x.dtype, device=self.x.device)
        return values.reshape(*self.x.shape[:2], 1, 1)


def _free_pixels(problem: Problem) -> list[list[FreePixels]]:
    """Return the free pixels of each image, and of each channel if they have confidences of their own."""
    down, right, prior_weight, confidence = (
        values.detach().cpu().contiguous().numpy()
        for values in (problem.edges.down, problem.edges.right, problem.prior_weight, problem.confidence)
    )
    return [
        [
            FreePixels(problem.sampling, down[image], right[image], prior_weight[image], one, exact=problem.exact)
            for one in confidence[image]
        ]
        for image in range(len(down))
    ]


def _on_host(values: torch.Tensor) -> np.ndarray:
    """Return (B, K) as (B * K, 1): sums in one part."""
    return values.reshape(-1, 1).cpu().numpy()


def laplacian(edges: Edges, values: torch.Tensor) -> torch.Tensor:
    """Return L y for (B, K, H, W)."""
    return net_flow(both_ways(lambda weight, step: weight.unsqueeze(1) * step, edges, differences(values)))


def degree(edges: Edges) -> torch.Tensor:
    """Return the sum of the edge weights of each pixel, (B, H, W)."""
    height, width = edges.size
    total = edges.down.new_zeros((*edges.down.shape[:-2], height, width))
    total[..., :-1, :] += edges.down
    total[..., 1:, :] += edges.down
    total[..., :-1] += edges.right
    total[..., 1:] += edges.right
    return total


def relaxed_diagonal(edges: Edges, prior_weight: torch.Tensor) -> torch.Tensor:
    """Return E (B, 1, H, W), a diagonal that is nowhere below L + T; prior_weight (B, H, W) or (B, 1, 1)."""
    return (BOUND * degree(edges) + prior_weight).unsqueeze(1).clamp_min(1e-30)


def preconditioner(problem: Problem) -> Relaxation | Projection | Diagonal:
    """Return the preconditioner of a problem."""
    if not measures_twice(problem.sampling):
        return relaxation(problem)
    diagonal = relaxed_diagonal(problem.edges, problem.prior_weight)
    return Diagonal(problem.sampling, diagonal, problem.confidence, problem.exact)


def relaxation(problem: Problem, *, exact: bool | None = None) -> Relaxation | Projection:
    """Return the preconditioner of source pixels that measure each their own; `exact` instead of the problem's own."""
    if not problem.sampling.couples_cells:
        return Relaxation(problem, exact=exact)
    return Projection(
        problem.sampling,
        relaxed_diagonal(problem.edges, problem.prior_weight),
        problem.confidence,
        (problem.confidence > 0).to(problem.source.dtype),
        problem.exact if exact is None else exact,
    )


class Relaxation:
    """Solves E z + D^T m = r, D z = C^-1 m by eliminating z: m = (C^-1 + D E^-1 D^T)^-1 D E^-1 r.

    That matrix is diagonal if every cell keeps pixels of its own and the straddling ones are taken last (lattice.py).
    """

    def __init__(self, problem: Problem, *, exact: bool | None = None) -> None:
        sampling = self.sampling = problem.sampling
        diagonal = relaxed_diagonal(problem.edges, problem.prior_weight)
        rows = torch.as_tensor(sampling.rows.straddles, device=diagonal.device)
        columns = torch.as_tensor(sampling.columns.straddles, device=diagonal.device)
        straddles = (rows[:, None] | columns[None, :]).to(diagonal.dtype)
        self.straddling = bool(straddles.any())
        self.inside = (1 - straddles) / diagonal  # (B, 1, H, W)
        self.known = (problem.confidence > 0).to(diagonal.dtype)  # (B, 1 or K, h, w)
        self.compliance = torch.where(self.known > 0, 1 / problem.confidence, torch.zeros_like(self.known))
        if problem.exact if exact is None else exact:
            self.compliance = torch.zeros_like(self.compliance)
        stiffness = _average_squared(sampling, self.inside) + self.compliance
        self.gain = torch.where((self.known > 0) & (stiffness > 0), 1 / stiffness, torch.zeros_like(stiffness))
        load = sampling.adjoint((self.gain * sampling(straddles.expand_as(diagonal))).amax(1, keepdim=True))
        self.across = straddles / (diagonal + load)

    def __call__(self, r: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """z (B, K, H, W), D^T m and m . C^-1 m (B, K)"""
        average = self.sampling(self.inside * r)
        m = self.gain * average
        pushed = self.sampling.adjoint(m)
        across = None
        if self.straddling:
            across = self.across * (r - pushed)
            m = self.gain * (average + self.sampling(across))
            pushed = self.sampling.adjoint(m)
        z = self.inside * (r - pushed)
        return z if across is None else z + across, pushed, _dot(self.compliance * m, m)

    def fit(self, shortfall: torch.Tensor) -> torch.Tensor:
        """The change of the target that lifts its averages by `shortfall` (B, K, h, w)."""
        return self.inside * self.sampling.adjoint(self.gain * shortfall)

    def recover(self, rest: torch.Tensor) -> torch.Tensor:
        """The m (B, K, h, w) of D^T m = rest, on the known cells."""
        return self.gain * self.sampling(self.inside * rest)


def _dot(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """(B, K)"""
    return (a * b).sum((-2, -1), dtype=torch.float64)


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
