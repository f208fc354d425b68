"""The CPU backend: fused kernels, image by image, all channels of an image together."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numba
import numpy as np
import torch

from graphsr.checked_cache import check_caches
from graphsr.sampling import Axis, Sampling
from graphsr.solver import stopping
from graphsr.solver.backends import lattice as kernels
from graphsr.solver.backends import sweeps
from graphsr.solver.iteration import minimise
from graphsr.solver.problem import Problem
from graphsr.threads import running_kernels

check_caches(kernels, sweeps, stopping)
# Strips are what threads share out: one each for a small image, more for a large one, to even out the work.
_STRIP_PIXELS = 1 << 18
# Channels of together so many pixels are iterated side by side: what an iteration reads of them fits into a cache.
_PIXELS_AT_ONCE = 3 * 2**18
# Where the diagonals of two pixels differ by more than this, the residual that conjugate gradients carry along drifts
# from the true one by more than a tolerance may allow.
_DELICATE = {np.dtype(np.float32): 1e3, np.dtype(np.float64): 1e10}


class NumbaMatrix:
    """The matrix of a problem, set up for the CPU. Channels share a set-up where they share their confidence."""

    @running_kernels()
    def __init__(self, problem: Problem) -> None:
        down, right = (e.detach().contiguous().numpy() for e in (problem.edges.down, problem.edges.right))
        prior_weight = problem.prior_weight.detach().contiguous().numpy()
        confidence = problem.confidence.detach().contiguous().numpy()
        shared = confidence.shape[1] == 1
        self._images: list[tuple[int, slice, _Image]] = []
        self._slowest: dict[int, float] = {}  # of each image, see `graphsr.solver.iteration.System`
        for image in range(down.shape[0]):
            for k in range(1 if shared else confidence.shape[1]):
                known = confidence[image, k] > 0
                compliance = np.zeros(known.shape, right.dtype)
                if not problem.exact:
                    np.divide(1.0, confidence[image, k], out=compliance, where=known)
                chosen = slice(None) if shared else slice(k, k + 1)
                one = _prepare(down[image], right[image], prior_weight[image], compliance, known, problem.sampling)
                self._images.append((image, chosen, one))

    @running_kernels()
    def minimise(
        self, source: torch.Tensor, rhs: torch.Tensor, start: torch.Tensor, *, tolerance: float, relative: bool
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """See `graphsr.solver.matrix.Matrix.minimise`."""
        target = start.detach().contiguous()
        iterations = torch.zeros(target.shape[:2], dtype=torch.int64)
        error = torch.zeros(target.shape[:2], dtype=torch.float64)
        sources, sides = source.detach().double().contiguous().numpy(), rhs.detach().contiguous().numpy()
        for number, (image, channels, one) in enumerate(self._images):
            side = sides[image, channels] if sides.size else np.empty((0, 0, 0), sides.dtype)
            x = target[image, channels].numpy()
            if one.is_given:
                x[:] = sources[image, channels]
                continue
            done, estimate = iterations[image, channels].numpy(), error[image, channels].numpy()
            at_once = max(1, _PIXELS_AT_ONCE // (x.shape[1] * x.shape[2]))
            for first in range(0, x.shape[0], at_once):
                some = slice(first, first + at_once)
                system = _NumbaSystem(one, sources[image, channels][some], side[some], x[some])
                system.slowest = self._slowest.get(number, 1.0)
                done[some], estimate[some] = minimise(system, tolerance, relative)
                self._slowest[number] = system.slowest
        return target, iterations, error


@dataclass(frozen=True)
class _Image:
    """Everything about the matrix of one image that does not depend on the right-hand side."""

    lattice: kernels.Lattice
    cells: kernels.Cells

    @property
    def exact(self) -> bool:
        return not self.lattice.compliance.any()

    @property
    def is_given(self) -> bool:
        """Whether the source is the target: factor 1 and exact, so that nothing is free."""
        known = self.lattice.gain > 0
        return self.exact and known.shape == self.lattice.inverse.shape and bool(known.all())


class _NumbaSystem:
    """The channels of one image: source (K, h, w), rhs (K, H, W) or empty, x (K, H, W), which is improved in place."""

    def __init__(self, image: _Image, source: np.ndarray, rhs: np.ndarray, x: np.ndarray) -> None:
        self.lattice, self.cells = image.lattice, image.cells
        self.source, self.rhs, self.x = source, rhs, x
        self.count, self.pixels = x.shape[0], x.shape[1] * x.shape[2]
        self.exact, self.precision, self.slowest = image.exact, np.finfo(x.dtype), 1.0
        diagonal = np.abs(self.lattice.inverse)
        self.delicate = float(diagonal.max()) > _DELICATE[x.dtype] * float(diagonal.min())
        known, compliance = self.lattice.gain > 0, self.lattice.compliance
        self.confidence = np.zeros(known.shape)
        np.divide(1.0, compliance, out=self.confidence, where=known & (compliance > 0))
        rows, columns = known.shape
        strips, width = self.cells.strips.size - 1, x.shape[2]
        self.r, self.change = np.empty_like(x), np.empty_like(x)
        self.w, self.p, self.q = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
        self.m = np.zeros((self.count, rows, columns), x.dtype)
        first = rows if self.cells.straddling else 0
        # The multipliers of this residual and of the next, in turn: widened over the columns, and the first ones.
        self.multipliers = [
            (np.zeros((self.count, rows, width), x.dtype), np.zeros((self.count, first, width), x.dtype))
            for _ in range(2)
        ]
        self.gammas, self.deltas, self.squares, self.compliances = (np.zeros((self.count, strips)) for _ in range(4))
        self.data_residual = np.zeros(known.shape)

    def fit(self) -> None:
        for k in range(self.count):
            kernels.data_residual(self.cells, self.source[k], self.x[k], self.data_residual)
            kernels.fit(self.lattice, self.cells, self.lattice.gain * self.data_residual, self.x[k])

    def restart(self) -> None:
        for k in range(self.count):
            if not self.exact:
                kernels.data_residual(self.cells, self.source[k], self.x[k], self.data_residual)
            pull = self.confidence * self.data_residual
            side = self.rhs[k] if self.rhs.size else self.rhs.reshape(0, 0)
            kernels.residual(self.lattice, self.cells, pull, side, self.x[k], self.r[k])
        for vector in (self.change, self.w, self.p, self.q):
            vector[:] = 0
        everything, nothing = np.ones(self.count, np.bool_), np.zeros(self.count)
        self.advance(nothing, nothing, everything)

    def product(self, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        widened, early = self.multipliers[0]
        sweeps.product_all(
            self.lattice, self.cells, widened, early, self.r, self.w, self.compliances, active, self.gammas, self.deltas
        )
        return self.gammas, self.deltas

    def advance(self, alpha: np.ndarray, beta: np.ndarray, active: np.ndarray) -> np.ndarray:
        now, after = self.multipliers
        vectors = (self.w, self.p, self.q, self.change, self.r)
        sweeps.advance_all(
            self.lattice, self.cells, alpha, beta, active, now, vectors, self.m, after, self.squares, self.compliances
        )
        self.multipliers = [after, now]
        return self.squares

    def accept(self) -> None:
        self.x += self.change

    def rms(self) -> np.ndarray:
        return np.asarray(np.sqrt(np.mean(np.square(self.x), axis=(1, 2), dtype=np.float64)))


def _prepare(
    down: np.ndarray,
    right: np.ndarray,
    prior_weight: np.ndarray,
    compliance: np.ndarray,
    known: np.ndarray,
    sampling: Sampling,
) -> _Image:
    """Set up the preconditioner of one image.

    down (H-1, W), right (H, W-1) edge weights; prior_weight (H, W) or (1, 1); compliance (h, w) C^-1 (0: exact);
    known (h, w) which source pixels have data.
    """
    dtype = right.dtype
    cells = _cells(sampling.rows, sampling.columns, dtype, numba.get_num_threads())
    inverse = np.empty(sampling.size, dtype)
    gain = np.empty(compliance.shape, dtype)
    kernels.prepare(down, right, prior_weight, compliance, known, cells, inverse, gain)
    return _Image(kernels.Lattice(down, right, prior_weight, inverse, gain, compliance), cells)


@lru_cache(maxsize=64)
def _cells(rows: Axis, columns: Axis, dtype: np.dtype, threads: int) -> kernels.Cells:
    pixels = rows.size * columns.size
    strips = threads * max(1, pixels // (threads * _STRIP_PIXELS))
    cell_strips = np.linspace(0, rows.cells, min(strips, rows.cells) + 1).round().astype(np.int64)
    inside = ~rows.straddles
    row_last = np.zeros(rows.cells, np.int64)
    row_last[rows.owners[inside, 0]] = np.flatnonzero(inside)  # the last one stays
    return kernels.Cells(
        row_first=rows.first,
        row_count=rows.count,
        row_taps=rows.taps.astype(dtype),
        row_owners=rows.owners,
        row_shares=rows.shares.astype(dtype),
        row_last=row_last,
        column_first=columns.first,
        column_count=columns.count,
        column_taps=columns.taps.astype(dtype),
        column_owners=columns.owners,
        column_shares=columns.shares.astype(dtype),
        # Where all rows of a cell have the same share, a sweep widens its multipliers once a cell and not once a row.
        straddling=bool(rows.straddles.any() or columns.straddles.any() or (rows.shares[:, 0] == 0).any()),
        strips=np.searchsorted(rows.home, cell_strips),
        cell_strips=cell_strips,
    )
