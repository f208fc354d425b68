"""The sweeps of an iteration where source pixels share target pixels (projection.py), for one channel.

D is applied down the columns first, into `sums` (h, W) for every row of source pixels, and D^T along the rows first,
into `wide` (h, W); so all loops over pixels run along rows. Several weights at a time save passes over memory.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from graphsr.solver.backends.lattice import FAST


class Tables(NamedTuple):
    """D, and D D^T factorised: `axes.Axis` and `gram.Gram` of rows and columns. n is even."""

    row_owners: np.ndarray  # (H, n)
    row_shares: np.ndarray
    row_first: np.ndarray  # (h,)
    row_count: np.ndarray
    row_taps: np.ndarray  # (h, most)
    column_owners: np.ndarray  # (W, n)
    column_shares: np.ndarray
    column_first: np.ndarray  # (w,)
    column_count: np.ndarray
    column_taps: np.ndarray  # (w, most)
    row_lower: np.ndarray  # (h, b)
    row_diagonal: np.ndarray  # (h,)
    column_lower: np.ndarray  # (w, b)
    column_diagonal: np.ndarray  # (w,)


class Graph(NamedTuple):
    """The matrix L + T on the pixels, and E^-1."""

    down: np.ndarray  # (H-1, W)
    right: np.ndarray  # (H, W-1)
    prior_weight: np.ndarray  # (H, W), or (1, 1) where it is the same everywhere
    inverse: np.ndarray  # (H, W)


class Data(NamedTuple):
    """The data term, each (h, w)."""

    confidence: np.ndarray  # C, 0 for exact fidelity
    known: np.ndarray  # 1 or 0
    gain: np.ndarray  # G


class Room(NamedTuple):
    """Room to work in."""

    sums: np.ndarray  # (h, W)
    wide: np.ndarray
    more: np.ndarray
    m: np.ndarray  # (h, w)
    lift: np.ndarray
    turned: np.ndarray  # (w, h)


@njit(cache=True, nogil=True, fastmath=FAST)
def _widen(tables, m, wide):  # type: ignore[no-untyped-def]
    """wide (h, W) = m (h, w) D^T along the rows, two source pixels at a time."""
    shares, owners = tables.column_shares, tables.column_owners
    for c in range(wide.shape[0]):
        for x in range(wide.shape[1]):
            wide[c, x] = shares[x, 0] * m[c, owners[x, 0]] + shares[x, 1] * m[c, owners[x, 1]]
        for n in range(2, shares.shape[1], 2):
            for x in range(wide.shape[1]):
                wide[c, x] += shares[x, n] * m[c, owners[x, n]] + shares[x, n + 1] * m[c, owners[x, n + 1]]


@njit(cache=True, nogil=True, fastmath=FAST)
def _sum_down(tables, values, sums):  # type: ignore[no-untyped-def]
    """sums (h, W) = D values (H, W) down the columns, four rows at a time."""
    width = values.shape[1]
    for c in range(sums.shape[0]):
        i, count, taps = tables.row_first[c], tables.row_count[c], tables.row_taps
        for x in range(width):
            sums[c, x] = 0
        by_four = count - count % 4
        for t in range(0, by_four, 4):
            one, two, three, four = taps[c, t], taps[c, t + 1], taps[c, t + 2], taps[c, t + 3]
            for x in range(width):
                sums[c, x] += (
                    one * values[i + t, x]
                    + two * values[i + t + 1, x]
                    + three * values[i + t + 2, x]
                    + four * values[i + t + 3, x]
                )
        for t in range(by_four, count):
            for x in range(width):
                sums[c, x] += taps[c, t] * values[i + t, x]


@njit(cache=True, nogil=True, fastmath=FAST)
def average(tables, values, sums, out):  # type: ignore[no-untyped-def]
    """out (h, w) = D values; sums (h, W) is room to work in."""
    _sum_down(tables, values, sums)
    for c in range(out.shape[0]):
        for d in range(out.shape[1]):
            first, total = tables.column_first[d], 0.0
            for t in range(tables.column_count[d]):
                total += tables.column_taps[d, t] * sums[c, first + t]
            out[c, d] = total


@njit(cache=True, nogil=True, fastmath=FAST)
def _add_row(tables, i, scale, wide, out, j):  # type: ignore[no-untyped-def]
    """Row j of out += scale * row i of D^T, finished down the columns from `wide`, two source pixels at a time."""
    for n in range(0, tables.row_shares.shape[1], 2):
        one, two = scale * tables.row_shares[i, n], scale * tables.row_shares[i, n + 1]
        c, d = tables.row_owners[i, n], tables.row_owners[i, n + 1]
        if one != 0 or two != 0:
            for x in range(out.shape[1]):
                out[j, x] += one * wide[c, x] + two * wide[d, x]


@njit(cache=True, nogil=True)
def add_adjoint(tables, m, wide, values):  # type: ignore[no-untyped-def]
    """values (H, W) += D^T m; wide (h, W) is room to work in."""
    _widen(tables, m, wide)
    for i in range(values.shape[0]):
        _add_row(tables, i, 1.0, wide, values, i)


@njit(cache=True, nogil=True, fastmath=FAST)
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


@njit(cache=True, nogil=True)
def solve_gram(tables, m, turned):  # type: ignore[no-untyped-def]
    """m (h, w) = (D D^T)^-1 m; turned (w, h) is room to work in."""
    _solve_down(tables.row_lower, tables.row_diagonal, m)
    for c in range(m.shape[0]):
        for d in range(m.shape[1]):
            turned[d, c] = m[c, d]
    _solve_down(tables.column_lower, tables.column_diagonal, turned)
    for c in range(m.shape[0]):
        for d in range(m.shape[1]):
            m[c, d] = turned[d, c]


@njit(cache=True, nogil=True, fastmath=FAST)
def _relax(graph, tables, wide, fixed, exact, r, z):  # type: ignore[no-untyped-def]
    """z = E^-1 (r - D^T m) from the multipliers m, widened; then, if exact, r -= D^T of `fixed`, widened."""
    for i in range(r.shape[0]):
        for x in range(r.shape[1]):
            z[i, x] = r[i, x]
        _add_row(tables, i, -1.0, wide, z, i)
        if exact:
            _add_row(tables, i, -1.0, fixed, r, i)
        for x in range(r.shape[1]):
            z[i, x] *= graph.inverse[i, x]


@njit(cache=True, nogil=True, fastmath=FAST)
def _smooth_row(graph, i, z, out):  # type: ignore[no-untyped-def]
    """out = row i of (L + T) z."""
    height, width = z.shape
    prior = graph.prior_weight
    row = i if prior.shape[0] > 1 else 0
    if prior.shape[1] > 1:
        for x in range(width):
            out[x] = prior[row, x] * z[i, x]
    else:
        for x in range(width):
            out[x] = prior[row, 0] * z[i, x]
    if i > 0:
        for x in range(width):
            out[x] += graph.down[i - 1, x] * (z[i, x] - z[i - 1, x])
    if i + 1 < height:
        for x in range(width):
            out[x] += graph.down[i, x] * (z[i, x] - z[i + 1, x])
    for x in range(width - 1):
        out[x] += graph.right[i, x] * (z[i, x] - z[i, x + 1])
    for x in range(width - 1):
        out[x + 1] += graph.right[i, x] * (z[i, x + 1] - z[i, x])


@njit(cache=True, nogil=True, fastmath=FAST)
def _product(graph, tables, lift, pushed, exact, r, z, w):  # type: ignore[no-untyped-def]
    """z += D^T of `lift`, w = A z = (L + T) z + D^T of `pushed`, which is left out if exact; both are widened.

    Returns (r - D^T pushed) . z and z . (L + T) z.
    """
    gamma, delta = 0.0, 0.0
    height, width = z.shape
    image, push = np.empty(width), np.zeros((1, width))
    for i in range(height):
        _add_row(tables, i, 1.0, lift, z, i)
    for i in range(height):
        _smooth_row(graph, i, z, image)
        if not exact:
            push[:] = 0
            _add_row(tables, i, 1.0, pushed, push, 0)
        part, other = 0.0, 0.0
        for x in range(width):
            w[i, x] = image[x] + push[0, x]
            part += (r[i, x] - push[0, x]) * z[i, x]
            other += image[x] * z[i, x]
        gamma += part
        delta += other
    return gamma, delta


@njit(cache=True, nogil=True)
def precondition(graph, tables, data, room, exact, averages, r, z, w):  # type: ignore[no-untyped-def]
    """z = P E^-1 P^T r + R G R^T r and w = A z, from `averages` = D r; return r . z and z . A z.

    With the data as a constraint r matters only up to D^T: without that part it goes to 0, so it is taken off r.
    """
    m, lift = room.m, room.lift
    m[:] = averages
    solve_gram(tables, m, room.turned)
    if exact:
        lift[:] = data.known * m
        _widen(tables, lift, room.more)
    _widen(tables, m, room.wide)
    _relax(graph, tables, room.wide, room.more, exact, r, z)
    average(tables, z, room.sums, lift)
    energy = 0.0
    for c in range(m.shape[0]):
        for d in range(m.shape[1]):
            # What D z becomes: summed up from pixels, its part in the products would be lost in rounding.
            wanted = data.gain[c, d] * m[c, d]
            lift[c, d] = wanted - lift[c, d]
            m[c, d] = data.confidence[c, d] * wanted
            energy += m[c, d] * wanted
    solve_gram(tables, lift, room.turned)
    _widen(tables, lift, room.wide)
    if not exact:
        _widen(tables, m, room.more)
    gamma, delta = _product(graph, tables, room.wide, room.more, exact, r, z, w)
    return gamma + energy, delta + energy


@njit(cache=True, nogil=True, fastmath=FAST)
def _advance(alpha, beta, z, w, p, q, x, r):  # type: ignore[no-untyped-def]
    """p = z + beta p, q = w + beta q, x += alpha p, r -= alpha q. Returns p . p."""
    norm = 0.0
    for i in range(r.shape[0]):
        part = 0.0
        for j in range(r.shape[1]):
            direction = z[i, j] + beta * p[i, j]
            product = w[i, j] + beta * q[i, j]
            p[i, j] = direction
            q[i, j] = product
            x[i, j] += alpha * direction
            r[i, j] -= alpha * product
            part += direction * direction
        norm += part
    return norm


@njit(cache=True, nogil=True)
def advance(tables, room, alpha, beta, z, w, p, q, x, r, averages):  # type: ignore[no-untyped-def]
    """Step along p = z + beta p by alpha; averages = D r of the new residual. Returns p . p."""
    norm = _advance(alpha, beta, z, w, p, q, x, r)
    average(tables, r, room.sums, averages)
    return norm


@njit(cache=True, nogil=True)
def subtract_smooth(graph, x, r):  # type: ignore[no-untyped-def]
    """r -= (L + T) x."""
    image = np.empty(x.shape[1])
    for i in range(x.shape[0]):
        _smooth_row(graph, i, x, image)
        for j in range(image.size):
            r[i, j] -= image[j]
