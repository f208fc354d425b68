"""The published recipe of a solve, written with SciPy, and a direct solve to measure errors against.

The recipe stores A = L + D^T D, k^2 entries a row, and runs plain conjugate gradients from zero until the residual has
fallen to 1e-5, or for 1,500 iterations.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import cg, splu

from graphsr.axes import Axis
from graphsr.graph import Edges
from graphsr.sampling import Sampling

RTOL = 1e-5
MOST_ITERATIONS = 1500

Values = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class RecipeRun:
    """What the recipe gave, and how long it took."""

    target: Values  # (H, W)
    seconds: float  # of the processor, for the iterations alone; waiting for a busy machine is not the recipe's fault
    iterations: int
    converged: bool
    dtype: str  # that the iterations ran in


@dataclass(frozen=True)
class Recipe:
    """The matrix and the right-hand side, in float32, and what it took to build them."""

    matrix: sparse.csr_array  # (H W, H W)
    right_side: Values  # (H W,)
    size: tuple[int, int]
    building_seconds: float

    @classmethod
    def of(cls, edges: Edges, source: Values, sampling: Sampling) -> Recipe:
        """Build the matrix of edges (1, H-1, W) and (1, H, W-1), and the right-hand side of a source (h, w)."""
        began = time.perf_counter()
        averaging = averaging_matrix(sampling)
        matrix = sparse.csr_array(laplacian_matrix(edges) + averaging.T @ averaging).astype(np.float32)
        right_side = (averaging.T @ source.ravel().astype(np.float64)).astype(np.float32)
        return cls(matrix, right_side, sampling.size, time.perf_counter() - began)

    def run(self) -> RecipeRun:
        """Run conjugate gradients."""
        steps = 0

        def count(_: Values) -> None:
            nonlocal steps
            steps += 1

        began = time.thread_time()
        target, failed = cg(self.matrix, self.right_side, rtol=RTOL, atol=0.0, maxiter=MOST_ITERATIONS, callback=count)
        seconds = time.thread_time() - began
        return RecipeRun(target.reshape(self.size), seconds, steps, failed == 0, str(target.dtype))


def laplacian_matrix(edges: Edges) -> sparse.csr_array:
    """Return L (H W, H W) in float64."""
    height, width = edges.size
    pixel = np.arange(height * width).reshape(height, width)
    upper = np.concatenate([pixel[:-1].ravel(), pixel[:, :-1].ravel()])
    lower = np.concatenate([pixel[1:].ravel(), pixel[:, 1:].ravel()])
    weights = np.concatenate([e.detach().double().numpy().ravel() for e in (edges.down, edges.right)])
    links = sparse.coo_array((weights, (upper, lower)), shape=(pixel.size, pixel.size))
    links = (links + links.T).tocsr()
    return sparse.csr_array(sparse.diags_array(links.sum(1)) - links)


def averaging_matrix(sampling: Sampling) -> sparse.csr_array:
    """Return D (h w, H W) in float64."""
    return sparse.csr_array(sparse.kron(_along(sampling.rows), _along(sampling.columns)))


def _along(axis: Axis) -> sparse.csr_array:
    taken = axis.taps != 0
    cell, tap = np.nonzero(taken)
    return sparse.csr_array((axis.taps[taken], (cell, axis.first[cell] + tap)), shape=(axis.cells, axis.size))


def direct_solve(edges: Edges, source: Values, sampling: Sampling) -> Values:
    """Return the exact minimiser (H, W), by a factorisation in float64.

    With the multipliers m = D y - s as unknowns, [[L, D^T], [D, -1]] (y, m) = (0, s): nothing of D^T D is ever filled
    in, so the system stays as sparse as the lattice.
    """
    averaging = averaging_matrix(sampling)
    system = sparse.block_array([[laplacian_matrix(edges), averaging.T], [averaging, -sparse.eye_array(source.size)]])
    right_side = np.concatenate([np.zeros(averaging.shape[1]), source.ravel().astype(np.float64)])
    answer: Values = splu(sparse.csc_matrix(system)).solve(right_side)
    return answer[: averaging.shape[1]].reshape(sampling.size)
