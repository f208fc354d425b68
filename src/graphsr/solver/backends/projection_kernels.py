"""D, its adjoint, and D D^T where source pixels share target pixels (projection.py), for one channel.

D is applied down the columns first, into sums (h, W), and D^T along the rows first, into `wide` (h, W); so all loops
over pixels run along rows. What is about source pixels is held by columns, (w, h): along the rows both then add up
whole columns of source pixels, where numbers one by one took as long as all of the rest. Several weights at a time save
passes over memory.

What is called for every row takes arrays, never `Tables`: a tuple is copied for a call and all its arrays are counted
as in use, which took as long as the row itself.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphsr.compiled import entry, inner
from graphsr.solver.backends.lattice import FAST


class Tables(NamedTuple):
    """D, and D D^T factorised: `axes.Axis` and `gram.Gram` of rows and columns. n is even."""

    row_owners: np.ndarray  # (H, n)
    row_shares: np.ndarray  # in the precision of the iteration, as all shares and taps are
    row_first: np.ndarray  # (h,)
    row_count: np.ndarray
    row_taps: np.ndarray  # (h, most)
    column_owners: np.ndarray  # (W, n)
    column_shares: np.ndarray
    column_first: np.ndarray  # (w,)
    column_count: np.ndarray
    column_taps: np.ndarray  # (w, most)
    row_lower: np.ndarray  # (h, b), in double precision, as all of D D^T is
    row_diagonal: np.ndarray  # (h,)
    column_lower: np.ndarray  # (w, b)
    column_diagonal: np.ndarray  # (w,)
    strips: np.ndarray  # (S + 1,) first pixel row of each strip
    across: np.ndarray  # rows of source pixels whose target pixels lie in several strips


class Graph(NamedTuple):
    """The matrix L + T on the pixels, and E^-1."""

    down: np.ndarray  # (H + 1, W) edge weights to the row above, with a row of zeros at both ends
    right: np.ndarray  # (H, W + 1) to the pixel on the left, with a column of zeros at both ends
    prior_weight: np.ndarray  # (H, W), or (1, 1) where it is the same everywhere
    inverse: np.ndarray  # (H, W)


class Data(NamedTuple):
    """The data term, each (w, h)."""

    confidence: np.ndarray  # C, 0 for exact fidelity
    known: np.ndarray  # 1 or 0
    gain: np.ndarray  # G


@inner(fastmath=FAST)
def sum_down(first, count, taps, c, values, sums):  # type: ignore[no-untyped-def]
    """Begin D: row c of sums (h, W) = D values (H, W) down the columns, four rows at a time."""
    begin, by_four = first[c], count[c] - count[c] % 4
    width = values.shape[1]
    for x in range(width):
        sums[c, x] = 0
    for t in range(0, by_four, 4):
        i, one, two, three, four = begin + t, taps[c, t], taps[c, t + 1], taps[c, t + 2], taps[c, t + 3]
        for x in range(width):
            sums[c, x] += (
                one * values[i, x] + two * values[i + 1, x] + three * values[i + 2, x] + four * values[i + 3, x]
            )
    for t in range(by_four, count[c]):
        for x in range(width):
            sums[c, x] += taps[c, t] * values[begin + t, x]


@inner(fastmath=FAST)
def sum_along(tables, sums, transposed, out):  # type: ignore[no-untyped-def]
    """Finish D: out (w, h) = sums (h, W) along the rows; transposed (W, h) is room to work in."""
    transpose(sums, transposed)
    first, count, taps = tables.column_first, tables.column_count, tables.column_taps
    for d in range(out.shape[0]):
        sum_down(first, count, taps, d, transposed, out)


@inner(fastmath=FAST)
def widen(tables, m, transposed, wide):  # type: ignore[no-untyped-def]
    """Begin D^T: wide (h, W) = m (w, h) along the rows; transposed (W, h) is room to work in."""
    owners, shares = tables.column_owners, tables.column_shares
    for x in range(transposed.shape[0]):
        adjoint_row(owners, shares, x, m, transposed, x)
    transpose(transposed, wide)


@inner(fastmath=FAST)
def adjoint_row(owners, shares, i, wide, out, j):  # type: ignore[no-untyped-def]
    """Finish D^T: row j of out = row i of it, from `wide` down the columns, four source pixels at a time or two."""
    width, begin = wide.shape[1], 2
    one, two, c, d = shares[i, 0], shares[i, 1], owners[i, 0], owners[i, 1]
    if shares.shape[1] > 2:
        three, four, e, f = shares[i, 2], shares[i, 3], owners[i, 2], owners[i, 3]
        for x in range(width):
            out[j, x] = one * wide[c, x] + two * wide[d, x] + three * wide[e, x] + four * wide[f, x]
        begin = 4
    else:
        for x in range(width):
            out[j, x] = one * wide[c, x] + two * wide[d, x]
    for n in range(begin, shares.shape[1], 2):
        one, two, c, d = shares[i, n], shares[i, n + 1], owners[i, n], owners[i, n + 1]
        for x in range(width):
            out[j, x] += one * wide[c, x] + two * wide[d, x]


@inner()
def transpose(matrix, out):  # type: ignore[no-untyped-def]
    """out = matrix, transposed; eight rows at a time, so that a cache line is written while it is at hand."""
    rows, columns = matrix.shape
    by_eight = rows - rows % 8
    for c in range(0, by_eight, 8):
        for x in range(columns):
            out[x, c], out[x, c + 1] = matrix[c, x], matrix[c + 1, x]
            out[x, c + 2], out[x, c + 3] = matrix[c + 2, x], matrix[c + 3, x]
            out[x, c + 4], out[x, c + 5] = matrix[c + 4, x], matrix[c + 5, x]
            out[x, c + 6], out[x, c + 7] = matrix[c + 6, x], matrix[c + 7, x]
    for c in range(by_eight, rows):
        for x in range(columns):
            out[x, c] = matrix[c, x]


@entry()
def average(tables, values, out):  # type: ignore[no-untyped-def]
    """out (w, h) = D values."""
    sums = np.empty((out.shape[1], values.shape[1]), values.dtype)
    first, count, taps = tables.row_first, tables.row_count, tables.row_taps
    for c in range(sums.shape[0]):
        sum_down(first, count, taps, c, values, sums)
    sum_along(tables, sums, np.empty((sums.shape[1], sums.shape[0]), values.dtype), out)


@entry()
def add_adjoint(tables, m, values):  # type: ignore[no-untyped-def]
    """values (H, W) += D^T m, with m (w, h)."""
    height, width = values.shape
    wide, row = np.empty((m.shape[1], width), values.dtype), np.empty((1, width), values.dtype)
    widen(tables, m, np.empty((width, m.shape[1]), values.dtype), wide)
    owners, shares = tables.row_owners, tables.row_shares
    for i in range(height):
        adjoint_row(owners, shares, i, wide, row, np.int64(0))
        for x in range(width):
            values[i, x] += row[0, x]


@inner(fastmath=FAST)
def _solve_down(lower, diagonal, m):  # type: ignore[no-untyped-def]
    """m (cells, n) = (L diag(d) L^T)^-1 m."""
    cells, width = m.shape
    for c in range(cells):
        for k in range(min(lower.shape[1], c)):
            factor, other = lower[c, k], c - 1 - k
            for x in range(width):
                m[c, x] -= factor * m[other, x]
    for c in range(cells - 1, -1, -1):
        scale = 1 / diagonal[c]
        for x in range(width):
            m[c, x] *= scale
        for k in range(min(lower.shape[1], cells - 1 - c)):
            other = c + 1 + k
            factor = lower[other, k]
            for x in range(width):
                m[c, x] -= factor * m[other, x]


@entry()
def solve_gram(tables, m):  # type: ignore[no-untyped-def]
    """m (w, h) = (D D^T)^-1 m."""
    transposed = np.empty((m.shape[1], m.shape[0]))
    _solve_down(tables.column_lower, tables.column_diagonal, m)
    transpose(m, transposed)
    _solve_down(tables.row_lower, tables.row_diagonal, transposed)
    transpose(transposed, m)


@entry(fastmath=FAST)
def subtract_smooth(graph, x, r):  # type: ignore[no-untyped-def]
    """r -= (L + T) x."""
    height, width = x.shape
    for i in range(height):
        above, below = max(i - 1, 0), min(i + 1, height - 1)
        prior = graph.prior_weight
        whole, level = prior.size > 1, prior[0, 0]
        for j in range(width):
            flow = (prior[i, j] if whole else level) * x[i, j]
            flow += graph.down[i, j] * (x[i, j] - x[above, j]) + graph.down[i + 1, j] * (x[i, j] - x[below, j])
            r[i, j] -= flow
        for j in range(width - 1):
            flow = graph.right[i, j + 1] * (x[i, j] - x[i, j + 1])
            r[i, j] -= flow
            r[i, j + 1] += flow
