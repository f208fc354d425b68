"""Groups of pixels under the relaxation, for wide regions without data.

The relaxation moves values one pixel an iteration. Where no source pixel is known for hundreds of pixels, what is
constant on groups of some 32 strongly tied pixels is solved for directly: by P (P^T A P)^-1 P^T r at the start, and by
deflation in every iteration (deflation.py), so that conjugate gradients see only what is left. Groups hold only pixels
of source pixels that are missing, so that a correction does not change what D measures and exact fidelity stays exact,
or that are known weakly, and then their data term is part of the coarse matrix.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from graphsr.axes import Axis
from graphsr.sampling import Sampling
from graphsr.solver.backends.aggregation import Graph, coarser, join, lattice_graph, members_of
from graphsr.solver.backends.deflation import Groups, coarse_solution

# Matchings from pixels to groups, of some 2^5 pixels: about what a source pixel of x4 to x8 holds fixed, which the
# relaxation deals with. More where there would be too many groups to factorise.
_PASSES, _MOST_GROUPS = 5, 1 << 17
# The rounding of sums may leave a matrix that is tied to nothing; slightly too stiff it is still a bound.
_STIFFER = 1 + 1e-13


class Levels:
    """The groups of one image, and their coarse matrix, factorised.

    Args:
        down: Edge weights (H-1, W).
        right: Edge weights (H, W-1).
        prior_weight: (H, W) or (1, 1).
        free: (H, W) which pixels may be corrected.
        sampling: D.
        weak: Confidence (h, w) of source pixels whose pixels are free although they are known, else 0.

    Attributes:
        count: How many groups.
        groups: What the kernels read.
    """

    # The eigenvalues of the matrix preconditioned by relaxation and correction: as a solve of some 200 iterations has
    # the smallest one (a few iterations after a restart would not show it), and at most where the two are added.
    smallest, largest_of_sum = 5e-4, 2.0

    def __init__(
        self,
        down: np.ndarray,
        right: np.ndarray,
        prior_weight: np.ndarray,
        free: np.ndarray,
        sampling: Sampling | None = None,
        weak: np.ndarray | None = None,
    ) -> None:
        pixels = int(np.count_nonzero(free))
        nodes = np.full(free.shape, -1, np.int32)
        nodes[free] = np.arange(pixels, dtype=np.int32)
        graph = lattice_graph(down, right, prior_weight, nodes, pixels)
        passes = max(_PASSES, math.ceil(math.log2(max(pixels, 1) / _MOST_GROUPS)))
        averaging: sparse.csr_array | None = None
        if sampling is not None and weak is not None and weak.any():
            averaging = _averaging(sampling)
            # A weak source pixel holds its pixels like a prior, for grouping.
            ties = (averaging.T @ weak.ravel()).reshape(free.shape)
            coarse, group = coarser(lattice_graph(down, right, prior_weight + ties, nodes, pixels), passes)
            coarse = join(graph, group, coarse.pull.size)
        else:
            coarse, group = coarser(graph, passes)
        self.count = coarse.pull.size
        matrix, told = _matrix(coarse), sparse.csr_array((0, self.count))
        if averaging is not None and weak is not None:
            inside = np.flatnonzero(group >= 0)
            which = (np.ones(inside.size), (np.flatnonzero(free)[inside], group[inside]))
            measured = averaging @ sparse.csr_array(which, shape=(free.size, self.count))
            told = sparse.csr_array(sparse.diags_array(weak.ravel().astype(np.float64)) @ measured)
            matrix = matrix + measured.T @ told
        order, lower, inverse_pivot = _factorise(matrix)
        number = np.full(free.shape, self.count, np.int32)
        number[free] = np.append(order, self.count).astype(np.int32)[group]  # -1 is the last
        members, begin = members_of(np.where(number < self.count, number, -1).ravel(), self.count)
        self._size = free.shape
        self.groups = Groups(
            number, members, begin, _extent(number < self.count), lower.indptr.astype(np.int64),
            lower.indices.astype(np.int32), lower.data, inverse_pivot,
            (told.indptr if told.shape[0] else np.empty(0)).astype(np.int64),
            order[told.indices].astype(np.int32), told.data,
        )  # fmt: skip

    def correction(self, r: np.ndarray) -> np.ndarray:
        """Return (P^T A P)^-1 P^T r for a residual (H, W): one number for each group (count,)."""
        return np.asarray(coarse_solution(self.groups, np.ascontiguousarray(r, np.float64)))

    def on_pixels(self, correction: np.ndarray) -> np.ndarray:
        """Return P e (H, W) of a correction e (count,)."""
        return np.asarray(np.append(correction, 0.0)[self.groups.number])

    def rms(self, correction: np.ndarray) -> float:
        """Return the RMS over all pixels of a correction (count,)."""
        pixels = self._size[0] * self._size[1]
        return float(np.sqrt(np.dot(np.diff(self.groups.begin), np.square(correction)) / pixels))


def _averaging(sampling: Sampling) -> sparse.csr_array:
    """Return D as a sparse matrix (h w, H W)."""

    def along(axis: Axis) -> sparse.csr_array:
        pixel, n = np.nonzero(axis.shares)
        entries = (axis.shares[pixel, n], (axis.owners[pixel, n], pixel))
        return sparse.csr_array(entries, shape=(axis.cells, axis.size))

    return sparse.csr_array(sparse.kron(along(sampling.rows), along(sampling.columns)))


def _matrix(graph: Graph) -> sparse.csc_array:
    """Return the matrix of a graph."""
    count = graph.pull.size
    edges = sparse.csc_array((graph.weight, graph.other, graph.first), shape=(count, count))
    return sparse.csc_array(sparse.diags_array(graph.diagonal * _STIFFER, format="csc") - edges)


def _factorise(matrix: sparse.csc_array) -> tuple[np.ndarray, sparse.csc_array, np.ndarray]:
    """Return the place of each row in the order of elimination, L below its diagonal, and 1 / pivots."""
    if not matrix.shape[0]:
        return np.empty(0, np.int64), matrix, np.empty(0)
    # Positive definite: the pivots stay on the diagonal, and U is diag(pivots) L^T.
    factor = splu(
        sparse.csc_matrix(matrix), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
    )
    lower = sparse.csc_array(sparse.tril(factor.L, -1, format="csc"))
    return factor.perm_c.astype(np.int64), lower, 1 / factor.U.diagonal()


def _extent(inside: np.ndarray) -> np.ndarray:
    """Return the first row, the last row + 1 and the last column + 1 of pixels inside (H, W) or next to one that is."""
    rows, columns = (np.flatnonzero(inside.any(axis)) for axis in (1, 0))
    if not rows.size:
        return np.zeros(3, np.int64)
    height, width = inside.shape
    return np.array([max(rows[0] - 1, 0), min(rows[-1] + 2, height), min(columns[-1] + 2, width)], np.int64)
