"""Source pixels that share target pixels, in CPU kernels: the system of one image."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numba
import numpy as np
import torch

from graphsr.axes import Axis
from graphsr.checked_cache import check_caches
from graphsr.graph import Edges
from graphsr.sampling import Sampling
from graphsr.solver import stopping
from graphsr.solver.backends import barrier, lattice
from graphsr.solver.backends import projection_kernels as kernels
from graphsr.solver.backends import projection_sweeps as sweeps
from graphsr.solver.backends.barrier import Team
from graphsr.solver.backends.gram import blurs, gram
from graphsr.solver.backends.projection import LARGEST, MARGIN, average_gain, evened_diagonal
from graphsr.solver.backends.torch_backend import relaxed_diagonal
from graphsr.solver.stopping import Progress

check_caches(kernels, sweeps, barrier, stopping, lattice)
# Where the diagonals of two pixels differ by more than this, the residual that is carried along drifts.
_DELICATE = {np.dtype(np.float32): 1e3, np.dtype(np.float64): 1e10}
# In single precision, so much of what the slowest mode multiplies rounding by counts as lost (docs/solver.md, "Source
# pixels that share target pixels").
_LOST = 0.1
# In single precision the iteration may stall where it takes longer.
_MOST_IN_SINGLE = 1000
# Strips are what threads share out, see `relaxation_numba`.
_STRIP_PIXELS = 1 << 18


@dataclass(frozen=True)
class ProjectedImage:
    """Everything about the matrix of one image that does not depend on the right-hand side."""

    graph: kernels.Graph
    tables: kernels.Tables  # in the precision of the iteration
    precise: kernels.Tables  # in double precision
    data: kernels.Data
    exact: bool

    is_given = False
    slowest = 1.0  # see `graphsr.solver.iteration.System`
    source_weight = np.empty((0, 0))  # see `relaxation_numba`

    def solve_directly(self, *_: object) -> None:
        """Return nothing: there is no factorisation where source pixels share target pixels."""

    def system(self, source: np.ndarray, rhs: np.ndarray, x: np.ndarray) -> ProjectedSystem:
        """Return the system of a source (K, h, w) and a right-hand side (K, H, W) or empty; x (K, H, W) is improved."""
        return ProjectedSystem(self, source, rhs, x)


class ProjectedSystem:
    """The channels of one image: source (K, h, w), rhs (K, H, W) or empty, x (K, H, W).

    x is held in double precision, and so is its residual computed; in single precision, the iteration finds its change.
    """

    slowest = 1.0  # see `graphsr.solver.iteration.System`

    def __init__(self, image: ProjectedImage, source: np.ndarray, rhs: np.ndarray, x: np.ndarray) -> None:
        self.image, self.source, self.rhs = image, source, rhs
        self.x = np.ascontiguousarray(x, np.float64)
        self.count, self.pixels, self.exact = x.shape[0], x.shape[1] * x.shape[2], image.exact
        inverse = image.graph.inverse
        self.precision: np.finfo[np.floating[Any]] = np.finfo(inverse.dtype)
        self.delicate = float(inverse.max()) > _DELICATE[inverse.dtype] * float(inverse.min())
        (columns, rows), strips = image.data.gain.shape, image.tables.strips.size - 1
        pixels = (np.empty(x.shape, inverse.dtype) for _ in range(6))
        small = (np.empty((self.count, columns, rows)) for _ in range(3))
        wide = (np.empty((self.count, rows, x.shape[2]), inverse.dtype) for _ in range(2))
        self.vectors = sweeps.Vectors(*pixels, *small, *wide)
        self.gammas, self.deltas, self.squares = (np.zeros((self.count, strips)) for _ in range(3))
        self.seen = np.array([LARGEST])
        self.patience: int | None = None
        self.is_single = inverse.dtype == np.float32
        self.most = _MOST_IN_SINGLE if self.is_single else None
        self.team = Team(min(numba.get_num_threads(), strips))

    @property
    def rounding(self) -> float:
        """See `graphsr.solver.iteration.System`; where it exceeds the tolerance, double precision is called for."""
        eps = float(self.precision.eps)
        return _LOST * eps / self.slowest if self.is_single else 0.5 * eps

    def add_levels(self) -> None:
        """Do nothing: there are none where source pixels share target pixels."""

    def hidden_error(self) -> np.ndarray:
        return np.zeros(self.count)

    def fit(self) -> None:
        image, data = self.image, self.image.data
        counts = data.known if self.exact else data.gain * data.confidence
        for k in range(self.count):
            m = counts * self._shortfall(k)
            kernels.solve_gram(image.precise, m)
            kernels.add_adjoint(image.precise, m, self.x[k])

    def restart(self) -> None:
        image, vectors = self.image, self.vectors
        for vector in vectors:
            vector[:] = 0
        for k in range(self.count):
            r = self.rhs[k].astype(np.float64) if self.rhs.size else np.zeros(self.x[k].shape)
            kernels.subtract_smooth(image.graph, self.x[k], r)
            m = vectors.m[k]
            kernels.average(image.precise, r, m)
            kernels.solve_gram(image.precise, m)
            kernels.add_adjoint(image.precise, -m, r)
            vectors.r[k] = r
            if not self.exact:
                m += image.data.confidence * self._shortfall(k)
            sweeps.begin(image.graph, image.tables, image.data, vectors, k)

    def iterate(self, progress: Progress, first: int, last: int, tolerance: np.ndarray, relative: bool) -> int:
        image = self.image
        stop = (self.pixels, MARGIN, tolerance, relative, float(self.precision.eps))
        return int(
            self.team.run(
                sweeps.iterate_all,
                image.graph,
                image.tables,
                image.data,
                self.vectors,
                (self.gammas, self.deltas, self.squares),
                self.seen,
                progress,
                (first, last),
                stop,
            )
        )

    def accept(self) -> None:
        self.x += self.vectors.x

    def rms(self) -> np.ndarray:
        return np.asarray(np.sqrt(np.mean(np.square(self.x), axis=(1, 2))))

    def _shortfall(self, k: int) -> np.ndarray:
        """Return s - D x at the known source pixels (w, h)."""
        known = self.image.data.known
        out = np.empty_like(known)
        kernels.average(self.image.precise, self.x[k], out)
        return np.asarray(known * (self.source[k].T - out))


def prepare_projected(
    down: np.ndarray,
    right: np.ndarray,
    prior_weight: np.ndarray,
    confidence: np.ndarray,
    *,
    exact: bool,
    sampling: Sampling,
) -> ProjectedImage:
    """Set up one image; the arguments are those of `prepare_relaxed`."""
    tables, precise = (_tables(sampling.rows, sampling.columns, each, numba.get_num_threads()) for each in _BOTH)
    if right.dtype == np.float64 or blurs(sampling):
        tables = precise
    dtype = tables.row_taps.dtype
    known = (confidence > 0).astype(np.float64)
    confidence = np.zeros(known.shape) if exact else confidence.astype(np.float64)
    edges = Edges(torch.from_numpy(down)[None].double(), torch.from_numpy(right)[None].double())
    diagonal = evened_diagonal(sampling, relaxed_diagonal(edges, torch.from_numpy(prior_weight)[None].double()))
    firm, given = (torch.from_numpy(each)[None, None] for each in (confidence, known))
    gain = average_gain(sampling, diagonal, firm, given, exact)[0, 0].numpy()
    down, right = np.pad(down, ((1, 1), (0, 0))), np.pad(right, ((0, 0), (1, 1)))
    weights = (np.ascontiguousarray(each, dtype) for each in (down, right, prior_weight, (1 / diagonal)[0, 0].numpy()))
    data = kernels.Data(*(np.ascontiguousarray(each.T) for each in (confidence, known, gain)))
    return ProjectedImage(kernels.Graph(*weights), tables, precise, data, exact)


_BOTH = np.dtype(np.float32), np.dtype(np.float64)


@lru_cache(maxsize=64)
def _tables(rows: Axis, columns: Axis, dtype: np.dtype, threads: int) -> kernels.Tables:
    down, right = gram(rows), gram(columns)
    count = threads * max(1, rows.size * columns.size // (threads * _STRIP_PIXELS))
    strips = np.linspace(0, rows.size, min(count, rows.size) + 1).round().astype(np.int64)
    cut = (rows.first[:, None] < strips[1:-1]) & (rows.first[:, None] + rows.count[:, None] > strips[1:-1])
    return kernels.Tables(
        row_owners=_even(rows.owners),
        row_shares=_even(rows.shares).astype(dtype),
        row_first=rows.first,
        row_count=rows.count,
        row_taps=rows.taps.astype(dtype),
        column_owners=_even(columns.owners),
        column_shares=_even(columns.shares).astype(dtype),
        column_first=columns.first,
        column_count=columns.count,
        column_taps=columns.taps.astype(dtype),
        row_lower=down.lower,
        row_diagonal=down.diagonal,
        column_lower=right.lower,
        column_diagonal=right.diagonal,
        strips=strips,
        across=np.flatnonzero(cut.any(1)),
    )


def _even(table: np.ndarray) -> np.ndarray:
    """Return (size, n) with a column of zeros more if n is odd."""
    return np.pad(table, ((0, 0), (0, table.shape[1] % 2)))
