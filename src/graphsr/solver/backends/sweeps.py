"""The sweeps of an iteration, each one pass over a strip of rows.

The relaxation is never stored. A sweep makes z = E^-1 (r - D^T m) row by row from the residual and from `widened`, the
multipliers m already widened over the columns (h, W); of a neighbouring strip it reads r and the multipliers and
makes what it needs again. So strips never wait for each other, and none writes what another still reads.
"""

from __future__ import annotations

import numpy as np

from graphsr.compiled import entry, inner
from graphsr.solver.backends.barrier import ABANDONED, LAST, arrive, release
from graphsr.solver.backends.deflation import coarse_energy, deflate_row, lift_row, sum_groups, weak_data
from graphsr.solver.backends.lattice import FAST, reduce_row, widen_row
from graphsr.solver.stopping import is_any, set_coefficients, update_errors


@inner(fastmath=FAST)
def _push_row(i, lattice, cells, widened, early, pushed, felt, slot):  # type: ignore[no-untyped-def]
    """pushed[slot] = row i of D^T m; felt[slot] the same, but from the first multipliers at straddling pixels."""
    width = pushed.shape[1]
    c, a = cells.row_owners[i, 0], cells.row_shares[i, 0]
    for x in range(width):
        pushed[slot, x] = a * widened[c, x]
    if not cells.straddling:
        for x in range(width):
            felt[slot, x] = pushed[slot, x]
    else:
        d, b = cells.row_owners[i, 1], cells.row_shares[i, 1]
        for x in range(width):
            pushed[slot, x] += b * widened[d, x]
        for x in range(width):
            ahead = a * early[c, x] + b * early[d, x]
            felt[slot, x] = pushed[slot, x] if lattice.inverse[i, x] > 0 else ahead


@inner(fastmath=FAST)
def advance(s, lattice, cells, groups, lift, push, alpha, beta, widened, early, w, p, q, x, r, m, next_widened):  # type: ignore[no-untyped-def]
    """p = z + beta p, q = w + beta q, x += alpha p, r -= alpha q; then the multipliers of the new residual.

    With straddling pixels these are the early ones. With groups, z and w are deflated first: lift (N + 1,) is what z
    is less by, push (h, W) what weak data say to it. Returns p . p and m . C^-1 m.
    """
    width = x.shape[1]
    kind = x.dtype.type
    pushed, felt, sums = np.empty((1, width), x.dtype), np.empty((1, width), x.dtype), np.zeros(width, x.dtype)
    held, held_share = -1, kind(0)
    norm, compliance = 0.0, 0.0
    inverse, low = lattice.inverse, cells.strips[s]
    down, right, prior_weight = lattice.down, lattice.right, lattice.prior_weight
    owners, shares, number = cells.row_owners, cells.row_shares, groups.number
    edge = groups.extent[2] if number.size else 0
    top, bottom = (groups.extent[0], groups.extent[1]) if groups.number.size else (0, 0)
    wide = width if groups.number.size else 0
    lifts, flow = np.empty((2, wide), x.dtype), np.empty((3, wide + 1), x.dtype)
    for i in range(low, cells.strips[s + 1]):
        c, share = cells.row_owners[i, 0], cells.row_shares[i, 0]
        if cells.straddling or c != held or share != held_share:
            _push_row(i, lattice, cells, widened, early, pushed, felt, np.int64(0))
            held, held_share = c, share
        turn = beta
        if top <= i < bottom:
            for ahead in range(i - 1 if i == low or i == top else i + 1, i + 2):
                lift_row(number, edge, down, lift, ahead, lifts, flow)
            deflate_row(edge, right, prior_weight, owners, shares, i, lifts, flow, push, beta, p, w)
            turn = kind(1)
        straddles = cells.row_shares[i, 1] > 0
        weight = kind(0) if straddles else cells.row_shares[i, 0]
        part = kind(0)
        for j in range(width):
            relaxed = inverse[i, j]
            direction = abs(relaxed) * (r[i, j] - felt[0, j]) + turn * p[i, j]
            product = w[i, j] + beta * q[i, j]
            residual = r[i, j] - alpha * product
            p[i, j] = direction
            q[i, j] = product
            x[i, j] += alpha * direction
            r[i, j] = residual
            part += direction * direction
            sums[j] += weight * max(relaxed, kind(0)) * residual
        norm += part
        if not straddles and i == cells.row_last[c]:
            compliance += _multiply_row(c, lattice, cells, sums, m, next_widened)
            sums[:] = 0
    return norm, compliance


@inner(fastmath=FAST)
def _multiply_row(c, lattice, cells, sums, m, widened):  # type: ignore[no-untyped-def]
    """The multipliers of the row c of cells, from sums of E^-1 r down its pixel rows. Returns their m . C^-1 m."""
    compliance = 0.0
    reduce_row(cells, sums, c, m)
    for d in range(m.shape[1]):
        m[c, d] *= lattice.gain[c, d]
        compliance += lattice.compliance[c, d] * m[c, d] * m[c, d]
    widen_row(cells, m, c, widened)
    return compliance


@entry(fastmath=FAST)
def begin(s, lattice, cells, r, m, widened, compliances):  # type: ignore[no-untyped-def]
    """The multipliers of the residual r in the strip s; with straddling pixels the early ones, and `begin_straddling`
    follows. compliances (S,) gets m . C^-1 m.
    """
    width = r.shape[1]
    sums = np.zeros(width, r.dtype)
    compliances[s] = 0.0
    for i in range(cells.strips[s], cells.strips[s + 1]):
        if cells.row_shares[i, 1] > 0:
            continue
        c, weight = cells.row_owners[i, 0], cells.row_shares[i, 0]
        for j in range(width):
            sums[j] += weight * max(lattice.inverse[i, j], r.dtype.type(0)) * r[i, j]
        if i == cells.row_last[c]:
            compliances[s] += _multiply_row(c, lattice, cells, sums, m, widened)
            sums[:] = 0


@entry(fastmath=FAST)
def begin_straddling(s, lattice, cells, early, r, m, widened, compliances):  # type: ignore[no-untyped-def]
    """Run `straddle` on the strip s after `begin`; compliances (S,) gets m . C^-1 m."""
    compliances[s] = straddle(s, lattice, cells, early, r, m, widened)


@inner(fastmath=FAST)
def straddle(s, lattice, cells, early, r, m, widened):  # type: ignore[no-untyped-def]
    """The multipliers after the straddling pixels have answered to the early ones. Returns m . C^-1 m."""
    width = r.shape[1]
    kind = r.dtype.type
    sums = np.empty(width, r.dtype)
    more = np.empty((1, m.shape[1]), r.dtype)
    compliance = 0.0
    for c in range(cells.cell_strips[s], cells.cell_strips[s + 1]):
        sums[:] = 0
        for tap in range(cells.row_count[c]):
            i, weight = cells.row_first[c] + tap, cells.row_taps[c, tap]
            first, second = cells.row_owners[i, 0], cells.row_owners[i, 1]
            a, b = cells.row_shares[i, 0], cells.row_shares[i, 1]
            for x in range(width):
                felt = a * early[first, x] + b * early[second, x]
                sums[x] += weight * max(-lattice.inverse[i, x], kind(0)) * (r[i, x] - felt)
        reduce_row(cells, sums, np.int64(0), more)
        for d in range(m.shape[1]):
            m[c, d] += lattice.gain[c, d] * more[0, d]
            compliance += lattice.compliance[c, d] * m[c, d] * m[c, d]
        widen_row(cells, m, c, widened)
    return compliance


@inner(fastmath=FAST)
def product(s, lattice, cells, widened, early, r, w):  # type: ignore[no-untyped-def]
    """w = A z = (L + prior_weight) z + D^T m. Returns (r - D^T m) . z and z . (L + prior_weight) z.

    Both lack m . C^-1 m, since D z = C^-1 m: added up from pixels that part would be lost in rounding.
    """
    height, width = r.shape
    kind = r.dtype.type
    low, high = cells.strips[s], cells.strips[s + 1]
    z, flow_down = np.empty((2, width), r.dtype), np.zeros((2, width), r.dtype)
    pushed, felt = np.empty((2, width), r.dtype), np.empty((2, width), r.dtype)
    flow_right, pull = np.zeros(width + 1, r.dtype), np.full(width, lattice.prior_weight[0, 0], r.dtype)
    prior_weight = lattice.prior_weight
    whole = prior_weight.size > 1
    down, right = lattice.down, lattice.right
    gamma, delta = 0.0, 0.0
    held, held_share, slot, last_slot = -1, kind(0), 0, 0
    for ahead in range(max(low - 1, 0), high + 1):
        one, two = (ahead + 1) & 1, ahead & 1  # the places of row i = ahead - 1 and of row ahead
        i = ahead - 1
        last_slot = slot
        if ahead < height:
            c, share = cells.row_owners[ahead, 0], cells.row_shares[ahead, 0]
            if cells.straddling or c != held or share != held_share:
                slot = 1 - slot
                _push_row(ahead, lattice, cells, widened, early, pushed, felt, slot)
                held, held_share = c, share
            if i >= 0 and i >= low - 1:
                for x in range(width):
                    relaxed = abs(lattice.inverse[ahead, x]) * (r[ahead, x] - felt[slot, x])
                    z[two, x] = relaxed
                    flow_down[one, x] = down[i, x] * (z[one, x] - relaxed)
            else:
                for x in range(width):
                    z[two, x] = abs(lattice.inverse[ahead, x]) * (r[ahead, x] - felt[slot, x])
        else:
            for x in range(width):
                flow_down[one, x] = 0
        if i < low:
            continue
        for x in range(width - 1):
            flow_right[x + 1] = right[i, x] * (z[one, x] - z[one, x + 1])
        if whole:
            for x in range(width):
                pull[x] = prior_weight[i, x]
        part, other = kind(0), kind(0)
        for x in range(width):
            image = flow_down[one, x] - flow_down[two, x] + flow_right[x + 1] - flow_right[x] + pull[x] * z[one, x]
            w[i, x] = image + pushed[last_slot, x]
            part += (r[i, x] - pushed[last_slot, x]) * z[one, x]
            other += image * z[one, x]
        gamma += part
        delta += other
    return gamma, delta


@entry()
def iterate_all(  # type: ignore[no-untyped-def]
    rank, team, barrier, lattice, cells, groups, correction, multipliers, vectors, parts, progress, span, stop
):
    """Do iterations span[0] to span[1] - 1 of all active channels, or fewer if none is active any more.

    The loop is compiled, as a call from Python takes some 20 microseconds. Threads of a team run it together, each on
    its strips. Returns the number of the iteration that would be next.

    correction: of groups (K, N + 1), the last 0, and what weak data say to it (K, h, W), both for its use; multipliers:
    m (K, h, w), and for even and odd iterations widened over the columns, and the first ones (2, K, h, W); vectors: w,
    p, q, x and r (K, H, W); parts of r . z, z . A z, p . p and m . C^-1 m (K, S); progress, stop: see `update_errors`.
    """
    lift, push = correction
    m, widened, early = multipliers
    w, p, q, x, r = vectors
    gammas, deltas, squares, compliances = parts
    pixels, largest, tolerance, relative, rounding = stop
    kind = r.dtype.type
    strips = cells.strips.size - 1
    low, high = rank * strips // team, (rank + 1) * strips // team
    for n in range(span[0], span[1]):
        now, after = n & 1, 1 - (n & 1)
        for k in range(r.shape[0]):
            if progress.active[k]:
                for s in range(low, high):
                    gamma, delta = product(s, lattice, cells, widened[now, k], early[now, k], r[k], w[k])
                    gammas[k, s], deltas[k, s] = gamma + compliances[k, s], delta + compliances[k, s]
        role = arrive(barrier, team)
        if groups.number.size > 0:
            if role == LAST:
                release(barrier, team)
            for k in range(r.shape[0]):
                if progress.active[k]:
                    sum_groups(rank, team, groups, w[k], lift[k])
            if role != ABANDONED:
                role = arrive(barrier, team)
        if role == LAST:
            for k in range(r.shape[0]):
                if groups.number.size > 0 and progress.active[k]:
                    # r has no part in the groups, so that deflation changes z . A z but not r . z.
                    deltas[k, 0] -= coarse_energy(groups, lift[k])
                    weak_data(groups, cells, lift[k], push[k])
            set_coefficients(progress, n, gammas, deltas)
            release(barrier, team)
        if role == ABANDONED or not is_any(progress.active):
            return n
        for k in range(r.shape[0]):
            if progress.active[k]:
                for s in range(high - 1, low - 1, -1):  # from where the last sweep ended: what it read is in the cache
                    squares[k, s], compliances[k, s] = advance(
                        s, lattice, cells, groups, lift[k], push[k], kind(progress.alpha[k]), kind(progress.beta[k]),
                        widened[now, k], early[now, k], w[k], p[k], q[k], x[k], r[k], m[k],
                        early[after, k] if cells.straddling else widened[after, k],
                    )  # fmt: skip
        if cells.straddling:
            role = arrive(barrier, team)
            if role == LAST:
                release(barrier, team)
            if role == ABANDONED:
                return n
            for k in range(r.shape[0]):
                if progress.active[k]:
                    for s in range(low, high):
                        compliances[k, s] = straddle(s, lattice, cells, early[after, k], r[k], m[k], widened[after, k])
        role = arrive(barrier, team)
        if role == LAST:
            update_errors(progress, n, squares, pixels, largest, tolerance, relative, rounding)
            release(barrier, team)
        if role == ABANDONED or not is_any(progress.active):
            return n + 1
    return span[1]
