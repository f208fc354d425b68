"""The iteration where source pixels share target pixels (projection.py): its two sweeps, and the loop over them.

The residual is held in two parts, r + D^T m with D r = 0, so that P^T of it is r and R^T of it is m. What an iteration
does to averages, m and what belongs to it, is then a matter of source pixels, in double precision whatever the pixels
have; only z = E^-1 r and u = (L + T) z are averaged and put right by D^T once each. D z is known to be G m: summed up
from pixels, its part in the products would be lost in rounding.

Threads share out the strips of a sweep; what is about source pixels is done by the one that ends last.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphsr.compiled import entry, inner
from graphsr.solver.backends.barrier import ABANDONED, LAST, arrive, release
from graphsr.solver.backends.lattice import FAST
from graphsr.solver.backends.projection_kernels import adjoint_row, solve_gram, sum_along, sum_down, widen
from graphsr.solver.stopping import is_any, see_largest, set_coefficients, update_errors


class Vectors(NamedTuple):
    """What an iteration keeps of K channels, or (without the first axis) of one."""

    r: np.ndarray  # (K, H, W) the residual without D^T m
    z: np.ndarray  # (K, H, W) after a product M^-1 of the residual; after a step E^-1 r
    u: np.ndarray  # (K, H, W) (L + T) z
    p: np.ndarray  # (K, H, W) the direction
    q: np.ndarray  # (K, H, W) what the direction takes off r
    x: np.ndarray  # (K, H, W) the change of the target so far
    m: np.ndarray  # (K, w, h) see r; in double precision, as what follows
    taken: np.ndarray  # (K, w, h) what A z takes off m
    q_m: np.ndarray  # (K, w, h) what the direction takes off m
    sums: np.ndarray  # (K, h, W) D of z or u down the columns; in the precision of the pixels, as what follows
    wide: np.ndarray  # (K, h, W) what D^T puts right of z (after a step) or u (after a product), widened


@inner()
def channel(v, k):  # type: ignore[no-untyped-def]
    """Return the vectors of one channel."""
    return Vectors(
        v.r[k], v.z[k], v.u[k], v.p[k], v.q[k], v.x[k], v.m[k], v.taken[k], v.q_m[k], v.sums[k], v.wide[k]
    )  # fmt: skip


@inner()
def _first_ending(first, count, low):  # type: ignore[no-untyped-def]
    """Return the first row of source pixels that ends in pixel row `low` or later."""
    c = 0
    while c < first.size and first[c] + count[c] - 1 < low:
        c += 1
    return c


@inner(fastmath=FAST)
def _step(s, graph, tables, alpha, beta, v):  # type: ignore[no-untyped-def]
    """In the strip s: p = z + beta p, q = P^T u + beta q, x += alpha p, r -= alpha q, z = E^-1 r. Returns p . p."""
    r, z, u, p, q, change, sums, wide, inverse = v.r, v.z, v.u, v.p, v.q, v.x, v.sums, v.wide, graph.inverse
    owners, shares = tables.row_owners, tables.row_shares
    first, count, taps = tables.row_first, tables.row_count, tables.row_taps
    width = r.shape[1]
    low, norm = tables.strips[s], 0.0
    push = np.empty((1, width), r.dtype)
    c = _first_ending(first, count, low)
    for i in range(low, tables.strips[s + 1]):
        adjoint_row(owners, shares, i, wide, push, np.int64(0))
        part = r.dtype.type(0)
        for x in range(width):
            direction = z[i, x] + beta * p[i, x]
            p[i, x] = direction
            change[i, x] += alpha * direction
            part += direction * direction
        for x in range(width):
            product = u[i, x] - push[0, x] + beta * q[i, x]
            rest = r[i, x] - alpha * product
            q[i, x] = product
            r[i, x] = rest
            z[i, x] = inverse[i, x] * rest
        norm += part
        while c < first.size and first[c] + count[c] - 1 <= i:
            if first[c] >= low:
                sum_down(first, count, taps, c, z, sums)
            c += 1
    return norm


@inner(fastmath=FAST)
def _multiply(s, graph, tables, v):  # type: ignore[no-untyped-def]
    """In the strip s: z = E^-1 r + D^T lift, u = (L + T) z. Returns r . z and z . u."""
    r, z, u, sums, wide = v.r, v.z, v.u, v.sums, v.wide
    down, right, prior, inverse = graph.down, graph.right, graph.prior_weight, graph.inverse
    owners, shares = tables.row_owners, tables.row_shares
    first, count, taps = tables.row_first, tables.row_count, tables.row_taps
    height, width = r.shape
    kind = r.dtype.type
    low, high = tables.strips[s], tables.strips[s + 1]
    rows, lifted = np.zeros((3, width + 2), r.dtype), np.empty((1, width), r.dtype)
    pull = np.full(width, prior[0, 0], r.dtype)
    gamma, delta = 0.0, 0.0
    c = _first_ending(first, count, low)
    for ahead in range(max(low - 1, 0), high + 1):
        i, here, below, above = ahead - 1, (ahead + 2) % 3, ahead % 3, (ahead + 1) % 3
        if ahead < height:
            adjoint_row(owners, shares, ahead, wide, lifted, np.int64(0))
            for x in range(width):
                rows[below, x + 1] = inverse[ahead, x] * r[ahead, x] + lifted[0, x]
        if i < low:
            continue
        if prior.size > 1:
            for x in range(width):
                pull[x] = prior[i, x]
        part, other = kind(0), kind(0)
        for x in range(width):
            here_z = rows[here, x + 1]
            image = (
                pull[x] * here_z
                + down[i, x] * (here_z - rows[above, x + 1])
                + down[i + 1, x] * (here_z - rows[below, x + 1])
                + right[i, x] * (here_z - rows[here, x])
                + right[i, x + 1] * (here_z - rows[here, x + 2])
            )
            z[i, x] = here_z
            u[i, x] = image
            part += r[i, x] * here_z
            other += image * here_z
        gamma += part
        delta += other
        while c < first.size and first[c] + count[c] - 1 <= i:
            if first[c] >= low:
                sum_down(first, count, taps, c, u, sums)
            c += 1
    return gamma, delta


@inner()
def _average(tables, values, sums, transposed, out):  # type: ignore[no-untyped-def]
    """out (w, h) = D values, where strips have done the rows of source pixels that lie in one of them."""
    first, count, taps = tables.row_first, tables.row_count, tables.row_taps
    for k in range(tables.across.size):
        sum_down(first, count, taps, tables.across[k], values, sums)
    sum_along(tables, sums, transposed, out)


@inner()
def _end_product(tables, data, v):  # type: ignore[no-untyped-def]
    """Set what A z takes off m, and widen what D^T takes off u. Returns what averages have in r . z and z . A z."""
    transposed = np.empty(v.wide.shape[::-1], v.wide.dtype)
    _average(tables, v.u, v.sums, transposed, v.taken)
    solve_gram(tables, v.taken)
    widen(tables, v.taken.astype(v.wide.dtype), transposed, v.wide)
    work, energy = 0.0, 0.0
    m, taken, gain, confidence = v.m, v.taken, data.gain, data.confidence
    for d in range(m.shape[0]):
        for c in range(m.shape[1]):
            wanted = gain[d, c] * m[d, c]
            pull = confidence[d, c] * wanted
            taken[d, c] += pull
            work += m[d, c] * wanted
            energy += pull * wanted
    return work, energy


@inner()
def _end_step(tables, data, alpha, beta, v):  # type: ignore[no-untyped-def]
    """Step with m, and widen what D^T has to add to z so that its averages are G m."""
    transposed, lift = np.empty(v.wide.shape[::-1], v.wide.dtype), np.empty_like(v.m)
    _average(tables, v.z, v.sums, transposed, lift)
    m, q_m, taken, gain = v.m, v.q_m, v.taken, data.gain
    for d in range(m.shape[0]):
        for c in range(m.shape[1]):
            q_m[d, c] = taken[d, c] + beta * q_m[d, c]
            m[d, c] -= alpha * q_m[d, c]
            lift[d, c] = gain[d, c] * m[d, c] - lift[d, c]
    solve_gram(tables, lift)
    widen(tables, lift.astype(v.wide.dtype), transposed, v.wide)


@entry()
def begin(graph, tables, data, vectors, k):  # type: ignore[no-untyped-def]
    """Make ready for the first product, from r and m of channel k; all other vectors are 0."""
    v = channel(vectors, k)
    zero = v.r.dtype.type(0)
    for s in range(tables.strips.size - 1):
        _step(s, graph, tables, zero, zero, v)
    _end_step(tables, data, 0.0, 0.0, v)


@entry()
def iterate_all(rank, team, barrier, graph, tables, data, vectors, parts, seen, progress, span, stop):  # type: ignore[no-untyped-def]
    """Do iterations span[0] to span[1] - 1 of all active channels, or fewer if none is active any more.

    Threads of a team run it together, each on its strips. Returns the number of the iteration that would be next.

    parts: of r . z, z . A z and p . p (K, S); seen: see `see_largest`; progress, stop: see `update_errors`, but for the
    largest eigenvalue: stop has how many times the one seen it may be.
    """
    gammas, deltas, squares = parts
    pixels, margin, tolerance, relative, rounding = stop
    kind = vectors.r.dtype.type
    strips = tables.strips.size - 1
    low, high = rank * strips // team, (rank + 1) * strips // team
    for n in range(span[0], span[1]):
        for k in range(gammas.shape[0]):
            if progress.active[k]:
                v = channel(vectors, k)
                for s in range(low, high):
                    gammas[k, s], deltas[k, s] = _multiply(s, graph, tables, v)
        role = arrive(barrier, team)
        if role == LAST:
            for k in range(gammas.shape[0]):
                if progress.active[k]:
                    work, energy = _end_product(tables, data, channel(vectors, k))
                    gammas[k, 0] += work
                    deltas[k, 0] += energy
            set_coefficients(progress, n, gammas, deltas)
            see_largest(progress, n, seen)
            release(barrier, team)
        if role == ABANDONED or not is_any(progress.active):
            return n
        for k in range(gammas.shape[0]):
            if progress.active[k]:
                v = channel(vectors, k)
                for s in range(high - 1, low - 1, -1):  # from where the last sweep ended: what it read is in the cache
                    squares[k, s] = _step(s, graph, tables, kind(progress.alpha[k]), kind(progress.beta[k]), v)
        role = arrive(barrier, team)
        if role == LAST:
            for k in range(gammas.shape[0]):
                if progress.active[k]:
                    _end_step(tables, data, progress.alpha[k], progress.beta[k], channel(vectors, k))
            update_errors(progress, n, squares, pixels, margin * seen[0], tolerance, relative, rounding)
            release(barrier, team)
        if role == ABANDONED or not is_any(progress.active):
            return n + 1
    return span[1]
