"""The pixel lattice: ties, D, and the two operations on rows that every sweep is made of.

Pixels that straddle two or four cells (non-integer factors) couple the cells, and D E^-1 D^T would no longer be
diagonal. They are eliminated last instead: the pixels inside cells are solved exactly for given straddling ones,
and those see a diagonal that bounds the Schur complement from above. `inverse` carries both: E^-1 for a pixel
inside a cell, and minus the inverse of that bound for a straddling one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange

from graphsr.solver.cycle import DAMPING

# Sums may be reordered (so that they vectorise); NaN and infinity keep their meaning.
FAST = {"reassoc", "contract", "nsz"}


class Cells(NamedTuple):
    """D as the kernels read it: sampling.Axis for rows and columns, in int32 and the dtype of the solve."""

    row_first: np.ndarray
    row_count: np.ndarray
    row_taps: np.ndarray
    row_owners: np.ndarray
    row_shares: np.ndarray
    column_first: np.ndarray
    column_count: np.ndarray
    column_taps: np.ndarray
    column_owners: np.ndarray
    column_shares: np.ndarray
    straddling: bool
    strips: np.ndarray  # (S + 1,) first pixel row of each strip
    cell_strips: np.ndarray  # (S + 1,) first row of cells of each strip


class Lattice(NamedTuple):
    """The matrix on the pixels: ties, ground, D, and what the relaxation needs."""

    down: np.ndarray  # (H-1, W)
    right: np.ndarray  # (H, W-1)
    ground: np.ndarray  # (H, W), or (1, 1) where it is the same everywhere
    inverse: np.ndarray  # (H, W), see above
    gain: np.ndarray  # (h, w)
    slack: np.ndarray  # (h, w) C^-1, 0 for exact fidelity
    parent: np.ndarray  # (H, W) aggregate of each pixel


@njit(cache=True, nogil=True, fastmath=FAST)
def spread_row(i, cells, m, rows, held, out):  # type: ignore[no-untyped-def]
    """out = row i of D^T m. rows (2, W) caches the spread cell rows, of which at most two are in use at a time."""
    width = out.size
    for side in range(2):
        share = cells.row_shares[i, side]
        if side == 1 and share == 0:
            break
        c = cells.row_owners[i, side]
        slot = c & 1
        if held[slot] != c:
            held[slot] = c
            for x in range(width):
                rows[slot, x] = cells.column_shares[x, 0] * m[c, cells.column_owners[x, 0]]
            if cells.straddling:
                for x in range(width):
                    rows[slot, x] += cells.column_shares[x, 1] * m[c, cells.column_owners[x, 1]]
        if side == 0:
            for x in range(width):
                out[x] = share * rows[slot, x]
        else:
            for x in range(width):
                out[x] += share * rows[slot, x]


@njit(cache=True, nogil=True, fastmath=FAST)
def reduce_row(cells, sums, out):  # type: ignore[no-untyped-def]
    """Finish D for one row of cells, from the sums down its rows."""
    for c in range(out.size):
        first = cells.column_first[c]
        total = sums.dtype.type(0)
        for tap in range(cells.column_count[c]):
            total += cells.column_taps[c, tap] * sums[first + tap]
        out[c] = total


@njit(cache=True, nogil=True, fastmath=FAST)
def subtract_laplacian(i, lattice, above, here, below, out):  # type: ignore[no-untyped-def]
    """out -= row i of (L + ground) z, given three rows of z."""
    width = out.size
    ground = lattice.ground
    if ground.size == 1:
        for x in range(width):
            out[x] -= ground[0, 0] * here[x]
    else:
        for x in range(width):
            out[x] -= ground[i, x] * here[x]
    if i > 0:
        for x in range(width):
            out[x] -= lattice.down[i - 1, x] * (here[x] - above[x])
    if i < lattice.down.shape[0]:
        for x in range(width):
            out[x] -= lattice.down[i, x] * (here[x] - below[x])
    for x in range(width - 1):
        out[x] -= lattice.right[i, x] * (here[x] - here[x + 1])
    for x in range(1, width):
        out[x] -= lattice.right[i, x - 1] * (here[x] - here[x - 1])


@njit(cache=True, nogil=True)
def _invert_rows(s, down, right, ground, cells, inverse):  # type: ignore[no-untyped-def]
    height, width = inverse.shape
    kind = inverse.dtype.type
    for i in range(cells.strips[s], cells.strips[s + 1]):
        for x in range(width):
            total = kind(0)
            if i > 0:
                total += down[i - 1, x]
            if i + 1 < height:
                total += down[i, x]
            if x > 0:
                total += right[i, x - 1]
            if x + 1 < width:
                total += right[i, x]
            own = ground[0, 0] if ground.size == 1 else ground[i, x]
            diagonal = max(kind(DAMPING) * total + own, kind(1e-30))
            straddles = cells.row_shares[i, 1] > 0 or cells.column_shares[x, 1] > 0
            inverse[i, x] = -1 / diagonal if straddles else 1 / diagonal


@njit(cache=True, nogil=True)
def _gain_rows(s, slack, known, cells, inverse, gain):  # type: ignore[no-untyped-def]
    kind = inverse.dtype.type
    for c in range(cells.cell_strips[s], cells.cell_strips[s + 1]):
        for d in range(gain.shape[1]):
            total = slack[c, d]
            for a in range(cells.row_count[c]):
                for b in range(cells.column_count[d]):
                    weight = cells.row_taps[c, a] * cells.column_taps[d, b]
                    inside = inverse[cells.row_first[c] + a, cells.column_first[d] + b]
                    total += weight * weight * max(inside, kind(0))
            gain[c, d] = 1 / total if known[c, d] and total > 0 else kind(0)


@njit(cache=True, nogil=True, parallel=True)
def prepare(down, right, ground, slack, known, cells, inverse, gain):  # type: ignore[no-untyped-def]
    """Fill inverse (H, W) and gain (h, w)."""
    for strip in prange(cells.strips.size - 1):
        _invert_rows(np.int64(strip), down, right, ground, cells, inverse)
    for strip in prange(cells.strips.size - 1):
        _gain_rows(np.int64(strip), slack, known, cells, inverse, gain)


@njit(cache=True, nogil=True)
def load_straddling(cells, gain, inverse):  # type: ignore[no-untyped-def]
    """Give the straddling pixels the diagonal that bounds their Schur complement."""
    for i in range(inverse.shape[0]):
        for x in range(inverse.shape[1]):
            if inverse[i, x] < 0:
                inverse[i, x] = 1 / (1 / inverse[i, x] - _straddling_load(i, x, cells, gain, inverse))


@njit(cache=True, nogil=True)
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


@njit(cache=True, nogil=True)
def _data_pull_strip(s, cells, weight, source, x, pull):  # type: ignore[no-untyped-def]
    sums = np.empty(x.shape[1], np.float64)
    for c in range(cells.cell_strips[s], cells.cell_strips[s + 1]):
        sums[:] = 0
        for tap in range(cells.row_count[c]):
            row, share = x[cells.row_first[c] + tap], np.float64(cells.row_taps[c, tap])
            for j in range(row.size):
                sums[j] += share * row[j]
        reduce_row(cells, sums, pull[c])
        for d in range(pull.shape[1]):
            pull[c, d] = weight[c, d] * (source[c, d] - pull[c, d])


@njit(cache=True, nogil=True)
def _residual_strip(s, lattice, cells, pull, push, x, r):  # type: ignore[no-untyped-def]
    height, width = x.shape
    rows, held = np.empty((2, width), np.float64), np.full(2, -1, np.int64)
    out = np.empty(width, np.float64)
    near = np.zeros((3, width), np.float64)
    low, high = cells.strips[s], cells.strips[s + 1]
    for ahead in range(max(low - 1, 0), high + 1):
        if ahead < height:
            for j in range(width):
                near[ahead % 3, j] = x[ahead, j]
        i = ahead - 1
        if i < low:
            continue
        spread_row(i, cells, pull, rows, held, out)
        if push.size > 0:
            for j in range(width):
                out[j] += push[i, j]
        subtract_laplacian(i, lattice, near[(i + 2) % 3], near[i % 3], near[(i + 1) % 3], out)
        for j in range(width):
            r[i, j] = out[j]


@njit(cache=True, nogil=True)
def _fit_strip(s, lattice, cells, lift, x):  # type: ignore[no-untyped-def]
    width = x.shape[1]
    rows, held = np.empty((2, width), np.float64), np.full(2, -1, np.int64)
    out = np.empty(width, np.float64)
    for i in range(cells.strips[s], cells.strips[s + 1]):
        spread_row(i, cells, lift, rows, held, out)
        for j in range(width):
            x[i, j] += max(lattice.inverse[i, j], x.dtype.type(0)) * out[j]


@njit(cache=True, nogil=True, parallel=True)
def data_pull(cells, weight, source, x, pull):  # type: ignore[no-untyped-def]
    """pull = C (s - D x), in double precision whatever x is."""
    for strip in prange(cells.strips.size - 1):
        _data_pull_strip(np.int64(strip), cells, weight, source, x, pull)


@njit(cache=True, nogil=True, parallel=True)
def residual(lattice, cells, pull, push, x, r):  # type: ignore[no-untyped-def]
    """r = push + D^T pull - (L + ground) x, in double precision; push may be empty."""
    for strip in prange(cells.strips.size - 1):
        _residual_strip(np.int64(strip), lattice, cells, pull, push, x, r)


@njit(cache=True, nogil=True, parallel=True)
def fit(lattice, cells, lift, x):  # type: ignore[no-untyped-def]
    """x += E^-1 D^T lift inside cells: with lift = gain (s - D x), x then averages to s exactly."""
    for strip in prange(cells.strips.size - 1):
        _fit_strip(np.int64(strip), lattice, cells, lift, x)
