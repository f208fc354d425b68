"""The pixel lattice: edge weights, D, and what the relaxation needs of them.

Pixels that straddle two or four cells (non-integer factors) couple the cells, and D E^-1 D^T would no longer be
diagonal. They are eliminated last instead: the pixels inside cells are solved exactly for given straddling ones,
and those see a diagonal that bounds the Schur complement from above. `inverse` carries both: E^-1 for a pixel
inside a cell, and minus the inverse of that bound for a straddling one.

Loops run over whole arrays by row number, never over slices of rows: taking a slice costs as much as thirty pixels. An
index that is computed is unsigned, as a check for negative ones keeps a loop from being vectorised.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphsr.compiled import entry, inner

# Sums may be reordered (so that they vectorise); NaN and infinity keep their meaning.
FAST = {"reassoc", "contract", "nsz"}
# E = BOUND * (sum of edge weights) + prior_weight is never smaller than the Laplacian, so that no eigenvalue of the
# preconditioned matrix exceeds 1: the error estimate builds on that.
BOUND = 2.0


class Cells(NamedTuple):
    """D as the kernels read it: sampling.Axis for rows and columns, in the dtype of the solve."""

    row_first: np.ndarray
    row_count: np.ndarray
    row_taps: np.ndarray
    row_owners: np.ndarray
    row_shares: np.ndarray
    row_last: np.ndarray  # (h,) the last row that lies inside each cell
    column_first: np.ndarray
    column_count: np.ndarray
    column_taps: np.ndarray
    column_owners: np.ndarray
    column_shares: np.ndarray
    straddling: bool
    strips: np.ndarray  # (S + 1,) first pixel row of each strip
    cell_strips: np.ndarray  # (S + 1,) first row of cells of each strip


class Lattice(NamedTuple):
    """The matrix on the pixels: edge weights, prior_weight, D, and what the relaxation needs."""

    down: np.ndarray  # (H-1, W)
    right: np.ndarray  # (H, W-1)
    prior_weight: np.ndarray  # (H, W), or (1, 1) where it is the same everywhere
    inverse: np.ndarray  # (H, W), see above
    gain: np.ndarray  # (h, w) (C^-1 + D E^-1 D^T)^-1, 0 where there is no data
    compliance: np.ndarray  # (h, w) C^-1, 0 for exact fidelity


@inner(fastmath=FAST)
def reduce_row(cells, sums, c, out):  # type: ignore[no-untyped-def]
    """Finish D for the row c of cells, from the sums down its pixel rows."""
    for d in range(out.shape[1]):
        cell, first = np.uint64(d), np.uint64(cells.column_first[d])
        total = sums.dtype.type(0)
        for tap in range(np.uint64(cells.column_count[d])):
            total += cells.column_taps[cell, tap] * sums[first + tap]
        out[c, d] = total


@inner(fastmath=FAST)
def widen_row(cells, m, c, out):  # type: ignore[no-untyped-def]
    """Begin D^T: the row c of cells (h, w) widened over the columns (h, W)."""
    for x in range(out.shape[1]):
        out[c, x] = cells.column_shares[x, 0] * m[c, np.uint64(cells.column_owners[x, 0])]
    if cells.straddling:
        for x in range(out.shape[1]):
            out[c, x] += cells.column_shares[x, 1] * m[c, np.uint64(cells.column_owners[x, 1])]


@entry()
def widen(cells, m, out):  # type: ignore[no-untyped-def]
    """Begin D^T: cells (h, w) widened over the columns (h, W)."""
    for c in range(m.shape[0]):
        widen_row(cells, m, c, out)


@inner(fastmath=FAST)
def _degree_row(i, down, right, total):  # type: ignore[no-untyped-def]
    """total = the sum of the edge weights of each pixel of row i."""
    width = total.size
    total[:] = 0
    if i > 0:
        for x in range(width):
            total[x] += down[i - 1, x]
    if i < down.shape[0]:
        for x in range(width):
            total[x] += down[i, x]
    for x in range(width - 1):
        total[x] += right[i, x]
    for x in range(width - 1):
        total[x + 1] += right[i, x]


@entry(fastmath=FAST)
def prepare(s, down, right, prior_weight, compliance, known, cells, inverse, gain):  # type: ignore[no-untyped-def]
    """Fill inverse (H, W) and gain (h, w) in the strip s; where pixels straddle, `load_straddling` follows."""
    width = inverse.shape[1]
    kind = inverse.dtype.type
    total = np.empty(width, inverse.dtype)
    for i in range(cells.strips[s], cells.strips[s + 1]):
        _degree_row(i, down, right, total)
        row = i if prior_weight.shape[0] > 1 else 0
        if prior_weight.shape[1] > 1:
            for x in range(width):
                total[x] = kind(BOUND) * total[x] + prior_weight[row, x]
        else:
            for x in range(width):
                total[x] = kind(BOUND) * total[x] + prior_weight[row, 0]
        for x in range(width):
            inverse[i, x] = 1 / max(total[x], kind(1e-30))
        if cells.straddling:
            for x in range(width):
                if cells.row_shares[i, 1] > 0 or cells.column_shares[x, 1] > 0:
                    inverse[i, x] = -inverse[i, x]
    set_gain(s, compliance, known, cells, inverse, gain)


@inner(fastmath=FAST)
def set_gain(s, compliance, known, cells, inverse, gain):  # type: ignore[no-untyped-def]
    """Fill gain (h, w) in the strip s from E^-1 1, which is `inverse`."""
    width = inverse.shape[1]
    kind = inverse.dtype.type
    total = np.empty(width, inverse.dtype)
    # D E^-1 D^T over the pixels inside cells, which all lie in this strip.
    for c in range(cells.cell_strips[s], cells.cell_strips[s + 1]):
        total[:] = 0
        for tap in range(cells.row_count[c]):
            i = cells.row_first[c] + tap
            if cells.row_shares[i, 1] > 0:
                continue
            weight = cells.row_taps[c, tap] * cells.row_taps[c, tap]
            for x in range(width):
                total[x] += weight * max(inverse[i, x], kind(0))
        for d in range(gain.shape[1]):
            stiffness = compliance[c, d]
            first = cells.column_first[d]
            for tap in range(cells.column_count[d]):
                stiffness += cells.column_taps[d, tap] * cells.column_taps[d, tap] * total[first + tap]
            gain[c, d] = 1 / stiffness if known[c, d] and stiffness > 0 else kind(0)


@entry()
def load_straddling(cells, gain, inverse):  # type: ignore[no-untyped-def]
    """Give the straddling pixels the diagonal that bounds their Schur complement."""
    for i in range(inverse.shape[0]):
        for x in range(inverse.shape[1]):
            if inverse[i, x] < 0:
                inverse[i, x] = 1 / (1 / inverse[i, x] - _straddling_load(i, x, cells, gain, inverse))


@inner()
def _straddling_load(i, x, cells, gain, inverse):  # type: ignore[no-untyped-def]
    """A row sum of D_s^T gain D_s over straddling pixels: what bounds it from above by a diagonal."""
    total = inverse.dtype.type(0)
    for side in range(2):
        for flank in range(2):
            share = cells.row_shares[i, side] * cells.column_shares[x, flank]
            if share > 0:
                c, d = cells.row_owners[i, side], cells.column_owners[x, flank]
                inside = inverse.dtype.type(0)
                for a in range(cells.row_count[c]):
                    for b in range(cells.column_count[d]):
                        if inverse[cells.row_first[c] + a, cells.column_first[d] + b] > 0:
                            inside += cells.row_taps[c, a] * cells.column_taps[d, b]
                total += share * gain[c, d] * (1 - inside)
    return total


@entry(fastmath=FAST)
def data_residual(s, cells, source, x, out):  # type: ignore[no-untyped-def]
    """out = s - D x in the strip s, in double precision whatever x is."""
    width = x.shape[1]
    sums = np.empty(width, np.float64)
    for c in range(cells.cell_strips[s], cells.cell_strips[s + 1]):
        sums[:] = 0
        for tap in range(cells.row_count[c]):
            i, share = cells.row_first[c] + tap, np.float64(cells.row_taps[c, tap])
            for j in range(width):
                sums[j] += share * x[i, j]
        reduce_row(cells, sums, c, out)
        for d in range(out.shape[1]):
            out[c, d] = source[c, d] - out[c, d]


@entry(fastmath=FAST)
def fit(s, lattice, cells, lift, x):  # type: ignore[no-untyped-def]
    """x += E^-1 D^T lift inside the cells of the strip s: with lift = (D E^-1 D^T)^-1 (s - D x), x averages to s."""
    width = x.shape[1]
    wide = np.empty((1, width), np.float64)
    row = np.empty((1, lift.shape[1]), np.float64)
    held = -1
    for i in range(cells.strips[s], cells.strips[s + 1]):
        if cells.row_shares[i, 1] > 0:
            continue
        c = cells.row_owners[i, 0]
        if c != held:
            held = c
            for d in range(lift.shape[1]):
                row[0, d] = lift[c, d]
            widen_row(cells, row, np.int64(0), wide)
        share = cells.row_shares[i, 0]
        for j in range(width):
            x[i, j] += max(lattice.inverse[i, j], x.dtype.type(0)) * share * wide[0, j]


@entry(fastmath=FAST)
def residual(s, lattice, cells, wide, rhs, x, r):  # type: ignore[no-untyped-def]
    """r = rhs + D^T pull - (L + prior_weight) x in the strip s, in double precision.

    wide: pull, widened over the columns (h, W); rhs may be empty.
    """
    height, width = x.shape
    out = np.empty(width, np.float64)
    prior_weight = lattice.prior_weight
    for i in range(cells.strips[s], cells.strips[s + 1]):
        for side in range(2):
            share, c = np.float64(cells.row_shares[i, side]), cells.row_owners[i, side]
            if side == 0:
                for j in range(width):
                    out[j] = share * wide[c, j]
            elif share > 0:
                for j in range(width):
                    out[j] += share * wide[c, j]
        if rhs.size > 0:
            for j in range(width):
                out[j] += rhs[i, j]
        if prior_weight.size > 1:
            for j in range(width):
                out[j] -= prior_weight[i, j] * np.float64(x[i, j])
        elif prior_weight[0, 0] != 0:
            for j in range(width):
                out[j] -= prior_weight[0, 0] * np.float64(x[i, j])
        if i > 0:
            for j in range(width):
                out[j] -= lattice.down[i - 1, j] * (np.float64(x[i, j]) - x[i - 1, j])
        if i + 1 < height:
            for j in range(width):
                out[j] -= lattice.down[i, j] * (np.float64(x[i, j]) - x[i + 1, j])
        for j in range(width - 1):
            out[j] -= lattice.right[i, j] * (np.float64(x[i, j]) - x[i, j + 1])
        for j in range(width - 1):
            out[j + 1] -= lattice.right[i, j] * (np.float64(x[i, j + 1]) - x[i, j])
        for j in range(width):
            r[i, j] = out[j]
