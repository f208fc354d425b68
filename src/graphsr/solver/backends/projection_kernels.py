"""D, its adjoint, and D D^T where source pixels share target pixels (projection.py), for one channel.

D is applied down the columns first, into sums (h, W), and D^T along the rows first, into `wide` (h, W); so all loops
over pixels run along rows. What is about source pixels is held by columns, (w, h): along the rows both then add up
whole columns of source pixels, where numbers one by one took as long as all of the rest. Several weights at a time save
passes over memory.
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
def sum_down(tables, c, values, sums):  # type: ignore[no-untyped-def]
    """Begin D: row c of sums (h, W) = D values (H, W) down the columns, four rows at a time."""
    first, count, taps = tables.row_first[c], tables.row_count[c], tables.row_taps
    width = values.shape[1]
    for x in range(width):
        sums[c, x] = 0
    by_four = count - count % 4
    for t in range(0, by_four, 4):
        i, one, two, three, four = first + t, taps[c, t], taps[c, t + 1], taps[c, t + 2], taps[c, t + 3]
        for x in range(width):
            sums[c, x] += (
                one * values[i, x] + two * values[i + 1, x] + three * values[i + 2, x] + four * values[i + 3, x]
            )
    for t in range(by_four, count):
        for x in range(width):
            sums[c, x] += taps[c, t] * values[first + t, x]


@inner(fastmath=FAST)
def sum_along(tables, sums, turned, out):  # type: ignore[no-untyped-def]
    """Finish D: out (w, h) = sums (h, W) along the rows; turned (W, h) is room to work in."""
    height = sums.shape[0]
    _turn(sums, turned)
    for d in range(out.shape[0]):
        first, count, taps = tables.column_first[d], tables.column_count[d], tables.column_taps
        for c in range(height):
            out[d, c] = 0
        by_four = count - count % 4
        for t in range(0, by_four, 4):
            x, one, two, three, four = first + t, taps[d, t], taps[d, t + 1], taps[d, t + 2], taps[d, t + 3]
            for c in range(height):
                out[d, c] += (
                    one * turned[x, c] + two * turned[x + 1, c] + three * turned[x + 2, c] + four * turned[x + 3, c]
                )
        for t in range(by_four, count):
            for c in range(height):
                out[d, c] += taps[d, t] * turned[first + t, c]


@inner(fastmath=FAST)
def widen(tables, m, turned, wide):  # type: ignore[no-untyped-def]
    """Begin D^T: wide (h, W) = m (w, h) along the rows, two source pixels at a time; turned (W, h) is room."""
    shares, owners = tables.column_shares, tables.column_owners
    height = wide.shape[0]
    for x in range(turned.shape[0]):
        one, two, d, e = shares[x, 0], shares[x, 1], owners[x, 0], owners[x, 1]
        for c in range(height):
            turned[x, c] = one * m[d, c] + two * m[e, c]
        for n in range(2, shares.shape[1], 2):
            one, two, d, e = shares[x, n], shares[x, n + 1], owners[x, n], owners[x, n + 1]
            for c in range(height):
                turned[x, c] += one * m[d, c] + two * m[e, c]
    _turn(turned, wide)


@inner(fastmath=FAST)
def add_row(tables, i, scale, wide, out, j):  # type: ignore[no-untyped-def]
    """Finish D^T: row j of out += scale * row i of it, from `wide` down the columns, two source pixels at a time."""
    for n in range(0, tables.row_shares.shape[1], 2):
        one, two = scale * tables.row_shares[i, n], scale * tables.row_shares[i, n + 1]
        c, d = tables.row_owners[i, n], tables.row_owners[i, n + 1]
        if one != 0 or two != 0:
            for x in range(wide.shape[1]):
                out[j, x] += one * wide[c, x] + two * wide[d, x]


@inner()
def _turn(matrix, out):  # type: ignore[no-untyped-def]
    """out = matrix, transposed."""
    for c in range(matrix.shape[0]):
        for x in range(matrix.shape[1]):
            out[x, c] = matrix[c, x]


@entry()
def average(tables, values, out):  # type: ignore[no-untyped-def]
    """out (w, h) = D values."""
    sums = np.empty((out.shape[1], values.shape[1]), values.dtype)
    for c in range(sums.shape[0]):
        sum_down(tables, c, values, sums)
    sum_along(tables, sums, np.empty((sums.shape[1], sums.shape[0]), values.dtype), out)


@entry()
def add_adjoint(tables, m, values):  # type: ignore[no-untyped-def]
    """values (H, W) += D^T m, with m (w, h)."""
    wide = np.empty((m.shape[1], values.shape[1]), values.dtype)
    widen(tables, m, np.empty((wide.shape[1], wide.shape[0]), values.dtype), wide)
    for i in range(values.shape[0]):
        add_row(tables, i, 1.0, wide, values, i)


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
    turned = np.empty((m.shape[1], m.shape[0]))
    _solve_down(tables.column_lower, tables.column_diagonal, m)
    _turn(m, turned)
    _solve_down(tables.row_lower, tables.row_diagonal, turned)
    _turn(turned, m)


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
