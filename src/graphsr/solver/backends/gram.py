"""The matrix D D^T along one axis, factorised: what the projection needs where source pixels share target pixels.

It is banded, as a source pixel shares target pixels with few others, and D D^T of an image is the Kronecker product of
those of its two axes; so solving with it is one sweep along each axis, whatever the footprint is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy import sparse
from scipy.linalg import cho_solve_banded, cholesky_banded

from graphsr.axes import Axis
from graphsr.sampling import Sampling

# Keeps the factorisation possible where neighbouring source pixels measure nearly the same.
_SHIFT = 1e-14
_COLUMNS_AT_ONCE = 256
# Of the pivots of D D^T: 2 for gaussian:0.5, 36 for gaussian:0.9, where single precision was seen to fail.
_LARGEST_RATIO = 10.0


@dataclass(frozen=True, eq=False)
class Gram:
    """D D^T of an axis as L diag(d) L^T with L unit lower triangular.

    Attributes:
        lower: (cells, b) entries of L left of the diagonal, the nearest first.
        diagonal: (cells,) d.
        inverse_diagonal: (cells,) the diagonal of (D D^T)^-1.
    """

    lower: np.ndarray
    diagonal: np.ndarray
    inverse_diagonal: np.ndarray


@lru_cache(maxsize=64)
def gram(along: Axis) -> Gram:
    """Factorise D D^T of an axis."""
    factor = _factor(along)
    bands, cells = factor.shape
    lower = np.zeros((cells, bands - 1))
    for k in range(1, bands):
        lower[k:, k - 1] = factor[k, : cells - k] / factor[0, : cells - k]
    inverse_diagonal = np.empty(cells)
    for begin in range(0, cells, _COLUMNS_AT_ONCE):
        some = np.arange(begin, min(begin + _COLUMNS_AT_ONCE, cells))
        unit = np.zeros((cells, some.size))
        unit[some, some - begin] = 1
        inverse_diagonal[some] = cho_solve_banded((factor, True), unit)[some, some - begin]
    return Gram(lower, factor[0] ** 2, inverse_diagonal)


def blurs(sampling: Sampling) -> bool:
    """Return whether undoing D D^T multiplies rounding by so much that single precision would not do."""
    pivots = gram(sampling.rows).diagonal, gram(sampling.columns).diagonal
    return float(np.prod([each.max() / each.min() for each in pivots])) > _LARGEST_RATIO


@lru_cache(maxsize=8)
def gram_inverse(along: Axis) -> np.ndarray:
    """Return (D D^T)^-1 of an axis, (cells, cells)."""
    return np.asarray(cho_solve_banded((_factor(along), True), np.eye(along.cells)))


def _factor(along: Axis) -> np.ndarray:
    """Return the Cholesky factor of D D^T as lower bands (b + 1, cells)."""
    pixel, n = np.nonzero(along.shares)
    entries = (along.shares[pixel, n], (along.owners[pixel, n], pixel))
    averaging = sparse.csr_array(entries, shape=(along.cells, along.size))
    product = sparse.csr_array(averaging @ averaging.T)
    band = int((along.owners.max(1) - along.owners.min(1)).max())
    bands = np.zeros((band + 1, along.cells))
    for k in range(min(band, along.cells - 1) + 1):
        bands[k, : along.cells - k] = product.diagonal(k)
    bands[0] += np.where(along.count > 0, _SHIFT, 1.0)  # cells outside the target are rows of zeros
    return np.asarray(cholesky_banded(bands, lower=True))
