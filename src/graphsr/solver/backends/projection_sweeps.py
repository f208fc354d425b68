"""The two sweeps of an iteration where source pixels share target pixels (projection.py), for one channel.

The residual is held in two parts, r + D^T m with D r = 0, so that P^T of it is r and R^T of it is m. What an iteration
does to averages, m and what belongs to it, is then a matter of source pixels, in double precision whatever the pixels
have; only z = E^-1 r and u = (L + T) z are averaged and put right by D^T once each. D z is known to be G m: summed up
from pixels, its part in the products would be lost in rounding.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import prange

from graphsr.compiled import ONLY_PRANGE, entry, inner
from graphsr.solver.backends.lattice import FAST
from graphsr.solver.backends.projection_kernels import add_row, solve_gram, sum_along, sum_down, widen


class Vectors(NamedTuple):
    """What an iteration keeps of one channel; m, taken, q_m, averages and lift are in double precision."""

    r: np.ndarray  # (H, W) the residual without D^T m
    z: np.ndarray  # (H, W) after a product M^-1 of the residual; after a step E^-1 r
    u: np.ndarray  # (H, W) (L + T) z
    p: np.ndarray  # (H, W) the direction
    q: np.ndarray  # (H, W) what the direction takes off r
    x: np.ndarray  # (H, W) the change of the target so far
    m: np.ndarray  # (w, h) see r
    taken: np.ndarray  # (w, h) what A z takes off m
    q_m: np.ndarray  # (w, h) what the direction takes off m
    averages: np.ndarray  # (w, h) D z after a step, D u after a product
    lift: np.ndarray  # (w, h) room to work in
    sums: np.ndarray  # (h, W) D of z or u down the columns
    turned: np.ndarray  # (W, h) room to work in
    wide: np.ndarray  # (h, W) lift or taken, widened


@inner()
def _sum_inside(tables, i, c, low, values, sums):  # type: ignore[no-untyped-def]
    """Sum up the rows of source pixels from c on that end with pixel row i and begin in the strip; return the next."""
    while c < sums.shape[0] and tables.row_first[c] + tables.row_count[c] - 1 <= i:
        if tables.row_first[c] >= low:
            sum_down(tables, c, values, sums)
        c += 1
    return c


@inner()
def _first_ending(tables, low):  # type: ignore[no-untyped-def]
    """Return the first row of source pixels that ends in pixel row `low` or later."""
    c = 0
    while c < tables.row_first.size and tables.row_first[c] + tables.row_count[c] - 1 < low:
        c += 1
    return c


@inner()
def _finish_averages(tables, values, v):  # type: ignore[no-untyped-def]
    """averages = D values, where strips have done the rows of source pixels that lie in one of them."""
    for k in range(tables.across.size):
        sum_down(tables, tables.across[k], values, v.sums)
    sum_along(tables, v.sums, v.turned, v.averages)


@inner(fastmath=FAST)
def _step(s, graph, tables, alpha, beta, v):  # type: ignore[no-untyped-def]
    """In the strip s: p = z + beta p, q = P^T u + beta q, x += alpha p, r -= alpha q, z = E^-1 r. Returns p . p."""
    width = v.r.shape[1]
    low, norm = tables.strips[s], 0.0
    push = np.empty((1, width), v.r.dtype)
    cell = _first_ending(tables, low)
    for i in range(low, tables.strips[s + 1]):
        push[:] = 0
        add_row(tables, i, v.r.dtype.type(1), v.wide, push, 0)
        part = v.r.dtype.type(0)
        for j in range(width):
            direction = v.z[i, j] + beta * v.p[i, j]
            product = v.u[i, j] - push[0, j] + beta * v.q[i, j]
            rest = v.r[i, j] - alpha * product
            v.p[i, j] = direction
            v.q[i, j] = product
            v.x[i, j] += alpha * direction
            v.r[i, j] = rest
            v.z[i, j] = graph.inverse[i, j] * rest
            part += direction * direction
        norm += part
        cell = _sum_inside(tables, i, cell, low, v.z, v.sums)
    return norm


@inner(fastmath=FAST)
def _multiply(s, graph, tables, v):  # type: ignore[no-untyped-def]
    """In the strip s: z = E^-1 r + D^T lift, u = (L + T) z. Returns r . z and z . u."""
    height, width = v.r.shape
    kind = v.r.dtype.type
    low, high = tables.strips[s], tables.strips[s + 1]
    rows, lifted = np.zeros((3, width + 2), v.r.dtype), np.empty((1, width), v.r.dtype)
    prior = graph.prior_weight
    whole, level = prior.size > 1, prior[0, 0]
    down, right = graph.down, graph.right
    gamma, delta = 0.0, 0.0
    cell = _first_ending(tables, low)
    for ahead in range(max(low - 1, 0), high + 1):
        i, here, below, above = ahead - 1, (ahead + 2) % 3, ahead % 3, (ahead + 1) % 3
        if ahead < height:
            lifted[:] = 0
            add_row(tables, ahead, kind(1), v.wide, lifted, 0)
            for x in range(width):
                rows[below, x + 1] = graph.inverse[ahead, x] * v.r[ahead, x] + lifted[0, x]
        if i < low:
            continue
        part, other = kind(0), kind(0)
        for x in range(width):
            z = rows[here, x + 1]
            weight = prior[i, x] if whole else level
            image = (
                weight * z
                + down[i, x] * (z - rows[above, x + 1])
                + down[i + 1, x] * (z - rows[below, x + 1])
                + right[i, x] * (z - rows[here, x])
                + right[i, x + 1] * (z - rows[here, x + 2])
            )
            v.z[i, x] = z
            v.u[i, x] = image
            part += v.r[i, x] * z
            other += image * z
        gamma += part
        delta += other
        cell = _sum_inside(tables, i, cell, low, v.u, v.sums)
    return gamma, delta


@entry(parallel=ONLY_PRANGE)
def step(graph, tables, alpha, beta, v, squares):  # type: ignore[no-untyped-def]
    """Step along p = z + beta p by alpha, and begin M^-1 of the new residual; squares (S,) = parts of p . p."""
    kind = v.r.dtype.type
    for strip in prange(tables.strips.size - 1):
        s = np.int64(strip)
        squares[s] = _step(s, graph, tables, kind(alpha), kind(beta), v)
    _finish_averages(tables, v.z, v)
    for d in range(v.m.shape[0]):
        for c in range(v.m.shape[1]):
            v.q_m[d, c] = v.taken[d, c] + beta * v.q_m[d, c]
            v.m[d, c] -= alpha * v.q_m[d, c]


@entry(parallel=ONLY_PRANGE)
def multiply(graph, tables, data, v, gammas, deltas):  # type: ignore[no-untyped-def]
    """z = M^-1 of the residual and A z; gammas and deltas (S,) = parts of its product with z, and of z . A z."""
    for d in range(v.m.shape[0]):
        for c in range(v.m.shape[1]):
            v.lift[d, c] = data.gain[d, c] * v.m[d, c] - v.averages[d, c]
    solve_gram(tables, v.lift)
    widen(tables, v.lift, v.turned, v.wide)
    for strip in prange(tables.strips.size - 1):
        s = np.int64(strip)
        gammas[s], deltas[s] = _multiply(s, graph, tables, v)
    _finish_averages(tables, v.u, v)
    v.taken[:] = v.averages
    solve_gram(tables, v.taken)
    widen(tables, v.taken, v.turned, v.wide)
    work, energy = 0.0, 0.0
    for d in range(v.m.shape[0]):
        for c in range(v.m.shape[1]):
            wanted = data.gain[d, c] * v.m[d, c]
            pull = data.confidence[d, c] * wanted
            v.taken[d, c] += pull
            work += v.m[d, c] * wanted
            energy += pull * wanted
    gammas[0] += work
    deltas[0] += energy
