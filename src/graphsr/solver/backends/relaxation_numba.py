"""Source pixels that share no target pixel, on the CPU: the relaxation, its matrix and its iteration by kernels."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numba
import numpy as np

from graphsr.axes import Axis
from graphsr.checked_cache import check_caches
from graphsr.sampling import Sampling
from graphsr.solver import stopping
from graphsr.solver.backends import (
    aggregation,
    barrier,
    block_elimination,
    block_solves,
    deflation,
    line_pivots,
    lines,
    sweeps,
)
from graphsr.solver.backends import lattice as kernels
from graphsr.solver.backends.direct import Direct
from graphsr.solver.backends.free_pixels import FreePixels, is_identity
from graphsr.solver.backends.relaxed_systems import LinedSystem, RelaxedSystem, on_strips, rms

check_caches(kernels, sweeps, lines, line_pivots, barrier, stopping, aggregation, deflation)
check_caches(block_elimination, block_solves)
# Strips are what threads share out: one each for a small image, more for a large one, to even out the work.
_STRIP_PIXELS = 1 << 18


@dataclass(frozen=True)
class RelaxedImage:
    """Everything about the matrix of one image that does not depend on the right-hand side."""

    lattice: kernels.Lattice
    cells: kernels.Cells
    free: FreePixels
    source_weight: np.ndarray  # (H, W) C if it is part of the prior weight, else empty
    pivots: np.ndarray  # (H, W) of lines; empty where each pixel is relaxed by itself
    span: tuple[float, float]  # the least and the largest of the pixels' diagonals

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
        return np.full(x.shape[0], rounding) if relative else rounding * rms(x)

    def system(self, source: np.ndarray, rhs: np.ndarray, x: np.ndarray) -> RelaxedSystem:
        """Return the system of a source (K, h, w) and a right-hand side (K, H, W) or empty; x (K, H, W) is improved."""
        return (LinedSystem if self.pivots.size else RelaxedSystem)(self, source, rhs, x)


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
    inverse, gain = np.empty(sampling.size, dtype), np.empty(compliance.shape, dtype)
    given = down, right, prior_weight, compliance, known, cells
    # Lines need more than themselves to hold on to, and pixels in no or two cells are not in one.
    in_cells = not cells.straddling and free.covered and bool((cells.row_count > 0).all())
    lined = in_cells and not is_identity(sampling) and not free.is_weak.any() and min(sampling.size) > 1
    pivots = np.empty(sampling.size if lined else (0, 0), dtype)
    if lined:
        spans = np.empty((cells.strips.size - 1, 2))
        on_strips(line_pivots.prepare_lines, *given, pivots, inverse, gain, spans)
        span = float(spans[:, 0].min()), float(spans[:, 1].max())
    else:
        on_strips(kernels.prepare, *given, inverse, gain)
        if cells.straddling:
            kernels.load_straddling(cells, gain, inverse)
        span = 1 / float(np.abs(inverse).max()), 1 / float(np.abs(inverse).min())
    lattice = kernels.Lattice(down, right, prior_weight, inverse, gain, compliance)
    return RelaxedImage(lattice, cells, free, source_weight, pivots, span)


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
