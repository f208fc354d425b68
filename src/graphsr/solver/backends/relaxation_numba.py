"""Source pixels that share no target pixel, on the CPU: the relaxation, its matrix and its iteration by kernels."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numba
import numpy as np

from graphsr.axes import Axis
from graphsr.checked_cache import check_caches
from graphsr.sampling import Sampling
from graphsr.solver import stopping
from graphsr.solver.backends import aggregation, block_elimination, block_solves, deflation, meeting, sweeps
from graphsr.solver.backends import lattice as kernels
from graphsr.solver.backends.direct import Direct
from graphsr.solver.backends.free_pixels import FreePixels, is_identity
from graphsr.solver.backends.levels import Levels
from graphsr.solver.backends.meeting import Team
from graphsr.solver.stopping import Progress

check_caches(kernels, sweeps, meeting, stopping, aggregation, deflation)
check_caches(block_elimination, block_solves)
# Strips are what threads share out: one each for a small image, more for a large one, to even out the work.
_STRIP_PIXELS = 1 << 18
# Where the diagonals of two pixels differ by more than this, the residual that conjugate gradients carry along drifts
# from the true one by more than a tolerance may allow.
_DELICATE = {np.dtype(np.float32): 1e3, np.dtype(np.float64): 1e10}


@dataclass(frozen=True)
class RelaxedImage:
    """Everything about the matrix of one image that does not depend on the right-hand side."""

    lattice: kernels.Lattice
    cells: kernels.Cells
    free: FreePixels
    source_weight: np.ndarray  # (H, W) C if it is part of the prior weight, else empty

    @property
    def is_given(self) -> bool:
        """Whether the source is the target: factor 1 and exact, so that nothing is free."""
        known = self.free.known
        return self.free.exact and known.shape == self.lattice.inverse.shape and bool(known.all())

    @property
    def slowest(self) -> float:
        """The smallest eigenvalue to expect before a solve has shown it."""
        return self.free.slowest

    @cached_property
    def direct(self) -> Direct:
        """The factorised matrix, for many channels."""
        return Direct(self.lattice, self.cells, self.free.sampling)

    def solve_directly(
        self, source: np.ndarray, rhs: np.ndarray, x: np.ndarray, tolerance: float, relative: bool
    ) -> np.ndarray | None:
        """Fill x (K, H, W) by a factorisation; return the errors (K,), or None if they would exceed the tolerance."""
        rounding = max(self.direct.error, 0.5 * float(np.finfo(x.dtype).eps))
        if not rounding <= tolerance:
            return None
        self.direct.solve(source, rhs, x)
        return np.full(x.shape[0], rounding) if relative else rounding * _rms(x)

    def system(self, source: np.ndarray, rhs: np.ndarray, x: np.ndarray) -> RelaxedSystem:
        """Return the system of a source (K, h, w) and a right-hand side (K, H, W) or empty; x (K, H, W) is improved."""
        return RelaxedSystem(self, source, rhs, x)


class RelaxedSystem:
    """The channels of one image: source (K, h, w), rhs (K, H, W) or empty, x (K, H, W), which is improved in place."""

    most: int | None = None  # see `graphsr.solver.iteration.System`

    def __init__(self, image: RelaxedImage, source: np.ndarray, rhs: np.ndarray, x: np.ndarray) -> None:
        self.image, self.lattice, self.cells = image, image.lattice, image.cells
        self.source, self.rhs, self.x = source, rhs, x
        self.count, self.pixels = x.shape[0], x.shape[1] * x.shape[2]
        self.exact, self.precision, self.slowest = image.free.exact, np.finfo(x.dtype), 1.0
        diagonal = np.abs(self.lattice.inverse)
        self.delicate = float(diagonal.max()) > _DELICATE[x.dtype] * float(diagonal.min())
        known, compliance = self.lattice.gain > 0, self.lattice.compliance
        self.confidence = np.zeros(known.shape)
        np.divide(1.0, compliance, out=self.confidence, where=known & (compliance > 0))
        rows, columns = known.shape
        strips, width = self.cells.strips.size - 1, x.shape[2]
        self.r, self.change = np.empty_like(x), np.empty_like(x)
        self.w, self.p, self.q = np.empty_like(x), np.empty_like(x), np.empty_like(x)
        self.m = np.zeros((self.count, rows, columns), x.dtype)
        first = rows if self.cells.straddling else 0
        # The multipliers of even and of odd iterations: widened over the columns, and the first ones.
        self.widened = np.zeros((2, self.count, rows, width), x.dtype)
        self.early = np.zeros((2, self.count, first, width), x.dtype)
        self.gammas, self.deltas, self.squares, self.compliances = (np.zeros((self.count, strips)) for _ in range(4))
        self.data_residual = np.zeros(known.shape)
        self.levels: Levels | None = None
        self.groups, self.lift = deflation.no_groups(), np.zeros((self.count, 1))
        self.push = np.zeros((self.count, 0, 0), x.dtype)
        self.largest, self.rounding = 1.0, 0.5 * float(self.precision.eps)
        self.team = Team(min(numba.get_num_threads(), strips))

    @property
    def patience(self) -> int | None:
        return self.image.free.patience if self.levels is None else None

    def add_levels(self) -> None:
        self.levels = self.image.free.levels
        self.groups = self.levels.groups
        self.lift = np.zeros((self.count, self.levels.count + 1))
        if self.groups.weak_first.size:
            self.push = np.zeros_like(self.widened[0])
        self.slowest = min(self.levels.smallest, self.image.free.slowest)

    def hidden_error(self) -> np.ndarray:
        if self.levels is not None or not self.image.free.exist:
            return np.zeros(self.count)
        if self.exact:
            self.fit()
        self.restart()
        levels = self.image.free.levels
        return np.array([levels.rms(levels.correction(r)) for r in self.r])

    def fit(self) -> None:
        for k in range(self.count):
            _on_strips(kernels.data_residual, self.cells, self.source[k], self.x[k], self.data_residual)
            lift = self.lattice.gain * self.data_residual
            _on_strips(kernels.fit, self.lattice, self.cells, lift, self.x[k])

    def restart(self) -> None:
        for vector in (self.change, self.p, self.q):
            vector[:] = 0
        for k in range(self.count):
            if not self.exact:
                _on_strips(kernels.data_residual, self.cells, self.source[k], self.x[k], self.data_residual)
            pull = self.confidence * self.data_residual
            self._subtract_image(k, pull, self.rhs[k] if self.rhs.size else self.rhs.reshape(0, 0), self.x[k])
            if self.levels is not None:
                # What is constant on groups first, so that the residual has no part in them from here on.
                self.change[k] = self.levels.on_pixels(self.levels.correction(self.r[k]))
                nothing = np.zeros_like(self.data_residual)
                _on_strips(kernels.data_residual, self.cells, nothing, self.change[k], self.data_residual)
                pull = self.confidence * self.data_residual
                self._subtract_image(k, pull, self.r[k].copy(), self.change[k])
            self._begin(k)

    def _subtract_image(self, k: int, pull: np.ndarray, side: np.ndarray, x: np.ndarray) -> None:
        """Set the residual of channel k to side + D^T pull - (L + T) x, all (H, W) but pull (h, w)."""
        wide = np.empty((pull.shape[0], x.shape[1]))
        kernels.widen(self.cells, pull, wide)
        _on_strips(kernels.residual, self.lattice, self.cells, wide, side, x, self.r[k])

    def _begin(self, k: int) -> None:
        """Set the multipliers of the residual of channel k."""
        lattice, cells, r, m = self.lattice, self.cells, self.r[k], self.m[k]
        widened, early, compliances = self.widened[0, k], self.early[0, k], self.compliances[k]
        if not cells.straddling:
            _on_strips(sweeps.begin, lattice, cells, r, m, widened, compliances)
            return
        _on_strips(sweeps.begin, lattice, cells, r, m, early, compliances)
        _on_strips(sweeps.begin_straddling, lattice, cells, early, r, m, widened, compliances)

    def iterate(self, progress: Progress, first: int, last: int, tolerance: np.ndarray, relative: bool) -> int:
        stop = (self.pixels, self.largest, tolerance, relative, float(self.precision.eps))
        return int(
            self.team.run(
                sweeps.iterate_all,
                self.lattice,
                self.cells,
                self.groups,
                (self.lift, self.push),
                (self.m, self.widened, self.early),
                (self.w, self.p, self.q, self.change, self.r),
                (self.gammas, self.deltas, self.squares, self.compliances),
                progress,
                (first, last),
                stop,
            )
        )

    def accept(self) -> None:
        self.x += self.change

    def rms(self) -> np.ndarray:
        return _rms(self.x)


def _rms(x: np.ndarray) -> np.ndarray:
    """Return the RMS of each channel of (K, H, W)."""
    return np.asarray(np.sqrt(np.mean(np.square(x), axis=(1, 2), dtype=np.float64)))


def prepare_relaxed(
    down: np.ndarray,
    right: np.ndarray,
    prior_weight: np.ndarray,
    confidence: np.ndarray,
    *,
    exact: bool,
    sampling: Sampling,
) -> RelaxedImage:
    """Set up the preconditioner of one image.

    down (H-1, W), right (H, W-1) edge weights; prior_weight (H, W) or (1, 1); confidence (h, w).
    """
    dtype = right.dtype
    free = FreePixels(sampling, down, right, prior_weight, confidence, exact=exact)
    known = free.known
    compliance, source_weight = np.zeros(known.shape, dtype), np.empty((0, 0), dtype)
    if is_identity(sampling) and not exact:
        # The data term is diagonal: part of the prior weight.
        source_weight, prior_weight, known = confidence, prior_weight + confidence, np.zeros_like(known)
    elif not exact:
        np.divide(1.0, confidence, out=compliance, where=known)
    cells = _cells(sampling.rows, sampling.columns, dtype, numba.get_num_threads())
    inverse = np.empty(sampling.size, dtype)
    gain = np.empty(compliance.shape, dtype)
    _on_strips(kernels.prepare, down, right, prior_weight, compliance, known, cells, inverse, gain)
    if cells.straddling:
        kernels.load_straddling(cells, gain, inverse)
    lattice = kernels.Lattice(down, right, prior_weight, inverse, gain, compliance)
    return RelaxedImage(lattice, cells, free, source_weight)


def _on_strips(kernel: Callable[..., None], *arguments: Any) -> None:
    """Run a kernel of one strip on all strips, on as many threads as numba has.

    For what is done a few times a solve. A loop that numba runs in parallel starts sooner, and takes seconds more to
    compile.
    """
    cells = next(each for each in arguments if isinstance(each, kernels.Cells))
    strips, threads = range(cells.strips.size - 1), numba.get_num_threads()
    if threads == 1 or int(cells.strips[-1]) * cells.column_owners.shape[0] < _STRIP_PIXELS:
        for strip in strips:
            kernel(strip, *arguments)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda strip: kernel(strip, *arguments), strips))


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
        straddling=bool(rows.straddles.any() or columns.straddles.any()),
        strips=np.searchsorted(rows.home, cell_strips),
        cell_strips=cell_strips,
    )
