"""The minimiser from a sparse factorisation in double precision, for images too large for `dense_solve`.

Refined with residuals in extended precision, so that it holds for graphs whose condition takes most digits of a double.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import splu

from graphsr import Problem

_REFINEMENTS = 6


def _steps(size: tuple[int, int]) -> sparse.csr_matrix:
    """(edges, H W) the differences y_p - y_q, down edges first."""

    def along(count: int) -> sparse.csr_matrix:
        return sparse.eye(count - 1, count) - sparse.eye(count - 1, count, 1)

    height, width = size
    return sparse.vstack(
        [sparse.kron(along(height), sparse.eye(width)), sparse.kron(sparse.eye(height), along(width))]
    ).tocsr()


def _axis(pixels: int, cells: int) -> np.ndarray:
    ends = np.arange(cells + 1) * (pixels / cells)
    left, right = np.maximum(ends[:-1, None], np.arange(pixels)), np.minimum(ends[1:, None], 1 + np.arange(pixels))
    shared = np.maximum(right - left, 0)
    shared[shared < 1e-9] = 0
    return shared * (cells / pixels)


def _longdouble_product(matrix: sparse.csr_matrix, x: np.ndarray) -> np.ndarray:
    """Return matrix @ x, rows summed in extended precision."""
    products = matrix.data.astype(np.longdouble) * x[matrix.indices]
    sums = np.concatenate([np.zeros(1, np.longdouble), np.cumsum(products)])
    return np.asarray(sums[matrix.indptr[1:]] - sums[matrix.indptr[:-1]])


def system(problem: Problem, image: int = 0, channel: int = 0) -> tuple[sparse.csr_matrix, np.ndarray, int]:
    """Return matrix, right-hand side and the number of pixels; with `exact` the system of the saddle point."""
    size, source_size = problem.sampling.size, problem.sampling.source_size
    average = sparse.csr_matrix(sparse.kron(_axis(size[0], source_size[0]), _axis(size[1], source_size[1])))
    steps = _steps(size)
    weights = np.concatenate([e[image].double().numpy().ravel() for e in (problem.edges.down, problem.edges.right)])
    prior_weight = np.broadcast_to(problem.prior_weight[image].double().numpy(), size).ravel()
    confidence = problem.confidence[image].double().numpy()
    confidence = confidence[min(channel, len(confidence) - 1)].ravel()
    source = problem.source[image, channel].double().numpy().ravel()
    prior = problem.prior[image, channel].double().numpy().ravel()
    level = source[confidence > 0].mean()  # about it, so that rounding is that of the differences
    matrix = steps.T @ sparse.diags(weights) @ steps + sparse.diags(prior_weight)
    side = prior_weight * (prior - level)
    pixels = side.size
    if problem.exact:
        rows = average[confidence > 0]
        matrix = sparse.bmat([[matrix, rows.T], [rows, None]])
        side = np.concatenate([side, (source - level)[confidence > 0]])
    else:
        matrix = matrix + average.T @ sparse.diags(confidence) @ average
        side = side + average.T @ (confidence * (source - level))
    return sparse.csr_matrix(matrix), side, pixels


def minimiser(problem: Problem, image: int = 0, channel: int = 0) -> np.ndarray:
    """(H, W) the answer `graphsr.solve(problem)` is to give for one image and channel."""
    matrix, side, pixels = system(problem, image, channel)
    factor = splu(matrix.tocsc())
    x = np.zeros(side.size, np.longdouble)
    for _ in range(_REFINEMENTS):
        x = x + factor.solve(np.asarray(side - _longdouble_product(matrix, x), np.float64))
    confidence = problem.confidence[image].double().numpy()
    known = confidence[min(channel, len(confidence) - 1)] > 0
    level = problem.source[image, channel].double().numpy()[known].mean()
    return np.asarray(level + x[:pixels], np.float64).reshape(problem.sampling.size)


def error(problem: Problem, target: np.ndarray, expected: np.ndarray) -> float:
    """Return the RMS difference in standard deviations of the known source pixels, for image and channel 0."""
    known = problem.confidence[0, 0].numpy() > 0
    std = float(np.std(problem.source[0, 0].double().numpy()[known]))
    return float(np.sqrt(np.mean((target - expected) ** 2)) / (std or 1.0))
