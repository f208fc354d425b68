"""The channels of one image as systems of conjugate gradients, on the CPU: pixel by pixel, and by lines of pixels."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import numba
import numpy as np

from graphsr.solver.backends import deflation, lines, sweeps
from graphsr.solver.backends import lattice as kernels
from graphsr.solver.backends.barrier import Team
from graphsr.solver.backends.levels import Levels
from graphsr.solver.stopping import Progress

if TYPE_CHECKING:
    from graphsr.solver.backends.relaxation_numba import RelaxedImage

# Where the diagonals of two pixels differ by more than this, the residual that conjugate gradients carry along drifts
# from the true one by more than a tolerance may allow.
_DELICATE = {np.dtype(np.float32): 1e3, np.dtype(np.float64): 1e10}
# Threads are started for kernels that are called once for so many pixels.
_WORTH_A_POOL = 1 << 18


class RelaxedSystem:
    """The channels of one image: source (K, h, w), rhs (K, H, W) or empty, x (K, H, W), which is improved in place."""

    most: int | None = None  # see `graphsr.solver.iteration.System`

    def __init__(self, image: RelaxedImage, source: np.ndarray, rhs: np.ndarray, x: np.ndarray) -> None:
        self.image, self.lattice, self.cells = image, image.lattice, image.cells
        self.source, self.rhs, self.x = source, rhs, x
        self.count, self.pixels = x.shape[0], x.shape[1] * x.shape[2]
        self.exact, self.precision, self.slowest = image.free.exact, np.finfo(x.dtype), 1.0
        self.delicate = image.span[1] > _DELICATE[x.dtype] * image.span[0]
        known, compliance = self.lattice.gain > 0, self.lattice.compliance
        self.confidence = np.zeros(known.shape)
        np.divide(1.0, compliance, out=self.confidence, where=known & (compliance > 0))
        rows, columns = known.shape
        strips, width = self.cells.strips.size - 1, x.shape[2]
        self.r, self.change, self.p = np.empty_like(x), np.empty_like(x), np.empty_like(x)
        self.w, self.q = np.empty_like(x), np.empty_like(x)  # A z and A p, which lines do without, but for groups
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
            on_strips(kernels.data_residual, self.cells, self.source[k], self.x[k], self.data_residual)
            lift = self.lattice.gain * self.data_residual
            on_strips(kernels.fit, self.lattice, self.cells, lift, self.x[k])

    def restart(self) -> None:
        self.change[:] = 0
        for k in range(self.count):
            if not self.exact:
                on_strips(kernels.data_residual, self.cells, self.source[k], self.x[k], self.data_residual)
            pull = self.confidence * self.data_residual
            self._subtract_image(k, pull, self.rhs[k] if self.rhs.size else self.rhs.reshape(0, 0), self.x[k])
            if self.levels is not None:
                # What is constant on groups first, so that the residual has no part in them from here on.
                self.change[k] = self.levels.on_pixels(self.levels.correction(self.r[k]))
                nothing = np.zeros_like(self.data_residual)
                on_strips(kernels.data_residual, self.cells, nothing, self.change[k], self.data_residual)
                pull = self.confidence * self.data_residual
                self._subtract_image(k, pull, self.r[k].copy(), self.change[k])
            self._begin(k)

    def _subtract_image(self, k: int, pull: np.ndarray, side: np.ndarray, x: np.ndarray) -> None:
        """Set the residual of channel k to side + D^T pull - (L + T) x, all (H, W) but pull (h, w)."""
        wide = np.empty((pull.shape[0], x.shape[1]))
        kernels.widen(self.cells, pull, wide)
        on_strips(kernels.residual, self.lattice, self.cells, wide, side, x, self.r[k])

    def _begin(self, k: int) -> None:
        """Set the multipliers of the residual of channel k, and the direction to nothing."""
        self.p[k], self.q[k] = 0, 0
        lattice, cells, r, m = self.lattice, self.cells, self.r[k], self.m[k]
        widened, early, compliances = self.widened[0, k], self.early[0, k], self.compliances[k]
        if not cells.straddling:
            on_strips(sweeps.begin, lattice, cells, r, m, widened, compliances)
            return
        on_strips(sweeps.begin, lattice, cells, r, m, early, compliances)
        on_strips(sweeps.begin_straddling, lattice, cells, early, r, m, widened, compliances)

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
        return rms(self.x)


class LinedSystem(RelaxedSystem):
    """The same by lines (`lines.py`), in one sweep an iteration."""

    def __init__(self, image: RelaxedImage, source: np.ndarray, rhs: np.ndarray, x: np.ndarray) -> None:
        super().__init__(image, source, rhs, x)
        # Zeros, as the first sweep multiplies what they hold by 0.
        self.z, self.p = np.zeros(x.shape, x.dtype), np.zeros(x.shape, x.dtype)
        self.pull, self.owed = np.zeros_like(self.widened[0]), np.zeros(self.count)
        self.ends = np.zeros((2, self.count, self.team.size, 2, x.shape[2]), x.dtype)
        self.beyond = np.zeros_like(self.ends[0])

    def _begin(self, k: int) -> None:
        """Leave the multipliers and the direction to the first sweep."""

    def iterate(self, progress: Progress, first: int, last: int, tolerance: np.ndarray, relative: bool) -> int:
        return int(
            self.team.run(
                lines.iterate_lines,
                self.lattice,
                self.image.pivots,
                self.cells,
                self.groups,
                self.lift,
                (self.m, self.widened, self.pull),
                (self.ends, self.beyond),
                (self.z, self.p, self.change, self.r, self.w),
                (self.gammas, self.deltas, self.squares),
                self.owed,
                progress,
                (first, last),
                (self.pixels, self.largest, tolerance, relative, float(self.precision.eps)),
            )
        )

    def accept(self) -> None:
        for k in np.flatnonzero(self.owed):
            self.change[k] += self.owed[k] * self.p[k]
        self.owed[:] = 0
        super().accept()


def rms(x: np.ndarray) -> np.ndarray:
    """Return the RMS of each channel of (K, H, W), without a copy of it."""
    return np.asarray(np.sqrt(np.mean(np.einsum("kij,kij->ki", x, x), axis=1, dtype=np.float64) / x.shape[2]))


def on_strips(kernel: Callable[..., None], *arguments: Any) -> None:
    """Run a kernel of one strip on all strips, on as many threads as numba has.

    For what is done a few times a solve. A loop that numba runs in parallel starts sooner, and takes seconds more to
    compile.
    """
    cells = next(each for each in arguments if isinstance(each, kernels.Cells))
    strips = range(cells.strips.size - 1)
    few = len(strips) == 1 or int(cells.strips[-1]) * cells.column_owners.shape[0] < _WORTH_A_POOL
    threads = 1 if few else numba.get_num_threads()  # to ask takes as long as a kernel on a small image
    if threads == 1:
        for strip in strips:
            kernel(strip, *arguments)
        return
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda strip: kernel(strip, *arguments), strips))
