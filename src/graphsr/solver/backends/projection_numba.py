"""Source pixels that share target pixels, in CPU kernels: the system of one image, in double precision."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from graphsr.axes import Axis
from graphsr.graph import Edges
from graphsr.sampling import Sampling
from graphsr.solver.backends import projection_kernels as kernels
from graphsr.solver.backends.gram import gram
from graphsr.solver.backends.projection import LargestEigenvalue, average_gain, evened_diagonal
from graphsr.solver.backends.torch_backend import relaxed_diagonal
from graphsr.solver.iteration import Stepwise

# Where the diagonals of two pixels differ by more than this, the residual that is carried along drifts.
_DELICATE = 1e10


@dataclass(frozen=True)
class ProjectedImage:
    """Everything about the matrix of one image that does not depend on the right-hand side."""

    graph: kernels.Graph
    tables: kernels.Tables
    data: kernels.Data
    exact: bool

    is_given = False
    slowest = 1.0  # see `graphsr.solver.iteration.System`
    source_weight = np.empty((0, 0))  # see `numba_backend`

    def solve_directly(self, *_: object) -> None:
        """Return nothing: there is no factorisation where source pixels share target pixels."""

    def system(self, source: np.ndarray, rhs: np.ndarray, x: np.ndarray) -> ProjectedSystem:
        """Return the system of a source (K, h, w) and a right-hand side (K, H, W) or empty; x (K, H, W) is improved."""
        return ProjectedSystem(self, source, rhs, x)


class ProjectedSystem(Stepwise):
    """The channels of one image: source (K, h, w), rhs (K, H, W) or empty, x (K, H, W)."""

    precision: np.finfo[np.floating[Any]] = np.finfo(np.float64)
    slowest = 1.0  # see `graphsr.solver.iteration.System`

    def __init__(self, image: ProjectedImage, source: np.ndarray, rhs: np.ndarray, x: np.ndarray) -> None:
        self.image, self.source, self.rhs = image, source, rhs
        self.x = np.ascontiguousarray(x, np.float64)
        self.count, self.pixels, self.exact = x.shape[0], x.shape[1] * x.shape[2], image.exact
        inverse = image.graph.inverse
        self.delicate = float(inverse.max()) > _DELICATE * float(inverse.min())
        self.r, self.z, self.w, self.p, self.q, self.change = (np.zeros_like(self.x) for _ in range(6))
        rows, columns = image.data.gain.shape
        self.averages = np.zeros((self.count, rows, columns))  # D r
        wide, small = (rows, x.shape[2]), (rows, columns)
        self.room = kernels.Room(*map(np.empty, (wide, wide, wide, small, small, (columns, rows))))
        self.eigenvalue = LargestEigenvalue()
        self.largest = self.eigenvalue.bound
        self.patience: int | None = None

    def add_levels(self) -> None:
        """Do nothing: there are none where source pixels share target pixels."""

    def hidden_error(self) -> np.ndarray:
        return np.zeros(self.count)

    def fit(self) -> None:
        image, data = self.image, self.image.data
        counts = data.known if self.exact else data.gain * data.confidence
        for k in range(self.count):
            m = counts * self._shortfall(k)
            kernels.solve_gram(image.tables, m, self.room.turned)
            kernels.add_adjoint(image.tables, m, self.room.wide, self.x[k])

    def restart(self) -> None:
        image = self.image
        self.eigenvalue.restart()
        for vector in (self.change, self.p, self.q):
            vector[:] = 0
        for k in range(self.count):
            self.r[k] = self.rhs[k] if self.rhs.size else 0
            kernels.subtract_smooth(image.graph, self.x[k], self.r[k])
            if not self.exact:
                pull = image.data.confidence * self._shortfall(k)
                kernels.add_adjoint(image.tables, pull, self.room.wide, self.r[k])
            kernels.average(image.tables, self.r[k], self.room.sums, self.averages[k])

    def product(self, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        image = self.image
        gammas, deltas = np.zeros((self.count, 1)), np.zeros((self.count, 1))
        for k in np.flatnonzero(active).tolist():
            vectors = (self.averages[k], self.r[k], self.z[k], self.w[k])
            gammas[k, 0], deltas[k, 0] = kernels.precondition(
                image.graph, image.tables, image.data, self.room, self.exact, *vectors
            )
        return gammas, deltas

    def advance(self, alpha: np.ndarray, beta: np.ndarray, active: np.ndarray) -> np.ndarray:
        self.eigenvalue.add(alpha, beta, active)
        self.largest = self.eigenvalue.bound
        squares = np.zeros((self.count, 1))
        for k in np.flatnonzero(active).tolist():
            vectors = (self.z[k], self.w[k], self.p[k], self.q[k], self.change[k], self.r[k], self.averages[k])
            squares[k, 0] = kernels.advance(self.image.tables, self.room, float(alpha[k]), float(beta[k]), *vectors)
        return squares

    def accept(self) -> None:
        self.x += self.change

    def rms(self) -> np.ndarray:
        return np.asarray(np.sqrt(np.mean(np.square(self.x), axis=(1, 2))))

    def _shortfall(self, k: int) -> np.ndarray:
        """Return s - D x at the known source pixels (h, w)."""
        out = np.empty(self.source[k].shape)
        kernels.average(self.image.tables, self.x[k], self.room.sums, out)
        return np.asarray(self.image.data.known * (self.source[k] - out))


def prepare_projected(
    down: np.ndarray,
    right: np.ndarray,
    prior_weight: np.ndarray,
    confidence: np.ndarray,
    *,
    exact: bool,
    sampling: Sampling,
) -> ProjectedImage:
    """Set up one image; the arguments are those of `numba_backend._prepare`."""
    down, right, prior_weight = (np.ascontiguousarray(each, np.float64) for each in (down, right, prior_weight))
    known = (confidence > 0).astype(np.float64)
    confidence = np.zeros(known.shape) if exact else confidence.astype(np.float64)
    edges = Edges(torch.from_numpy(down)[None], torch.from_numpy(right)[None])
    diagonal = evened_diagonal(sampling, relaxed_diagonal(edges, torch.from_numpy(prior_weight)[None]))
    firm, given = (torch.from_numpy(each)[None, None] for each in (confidence, known))
    gain = average_gain(sampling, diagonal, firm, given, exact)[0, 0].numpy()
    graph = kernels.Graph(down, right, prior_weight, (1 / diagonal)[0, 0].numpy())
    tables = _tables(sampling.rows, sampling.columns)
    return ProjectedImage(graph, tables, kernels.Data(confidence, known, gain), exact)


@lru_cache(maxsize=64)
def _tables(rows: Axis, columns: Axis) -> kernels.Tables:
    down, right = gram(rows), gram(columns)
    return kernels.Tables(
        row_owners=_even(rows.owners),
        row_shares=_even(rows.shares),
        row_first=rows.first,
        row_count=rows.count,
        row_taps=rows.taps,
        column_owners=_even(columns.owners),
        column_shares=_even(columns.shares),
        column_first=columns.first,
        column_count=columns.count,
        column_taps=columns.taps,
        row_lower=down.lower,
        row_diagonal=down.diagonal,
        column_lower=right.lower,
        column_diagonal=right.diagonal,
    )


def _even(table: np.ndarray) -> np.ndarray:
    """Return (size, n) with a column of zeros more if n is odd."""
    return np.pad(table, ((0, 0), (0, table.shape[1] % 2)))
