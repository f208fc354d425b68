"""The iteration in one sweep, where source pixels are boxes of whole pixels that have data or are missing.

A line is the pixels of one column inside a cell. E is tridiagonal along lines: it has their own edges as they are, and
all others by the diagonal that bounds them. Lines lie inside cells, so D E^-1 D^T is diagonal as ever, and E^-1 is two
passes over the rows of a cell, which are in the cache then. `Lattice.inverse` is E^-1 1 here.

A cell is all that a relaxation looks at. So a sweep does one row of cells after another: it steps along p, relaxes the
new residual into z, and adds up the products that the next step needs, all in the cache. Threads wait once an
iteration, and A p is never stored. With groups of pixels (deflation.py), A z is made of their rows and added up before
the next step, which lowers z by P c where it turns p; there they wait three times.
"""

from __future__ import annotations

import numpy as np

from graphsr.compiled import entry, inner
from graphsr.solver.backends.barrier import ABANDONED, LAST, arrive, release
from graphsr.solver.backends.deflation import coarse_energy, lower_row, sum_groups
from graphsr.solver.backends.lattice import FAST, reduce_row, widen_row
from graphsr.solver.stopping import is_any, set_coefficients, update_errors


@inner(fastmath=FAST)
def _relax(c, lattice, pivots, cells, pushed, r, z):  # type: ignore[no-untyped-def]
    """z = E^-1 (r - D^T m) in the row c of cells; pushed: m widened over the columns (h, W).

    Returns (r - D^T m) . z and z . (L + T) z, without the edges to other rows of cells. Both lack m . C^-1 m, since
    D z = C^-1 m: added up from pixels that part would be lost in rounding.
    """
    width = r.shape[1]
    kind = r.dtype.type
    first, last = cells.row_first[c], cells.row_first[c] + cells.row_count[c] - 1
    share = cells.row_shares[first, 0]
    down, right, prior_weight = lattice.down, lattice.right, lattice.prior_weight
    gamma, delta = 0.0, 0.0
    part = kind(0)
    for x in range(width):
        rest = r[first, x] - share * pushed[c, x]
        z[first, x] = pivots[first, x] * rest
        part += z[first, x] * rest
    gamma += part
    for i in range(first, last):
        part = kind(0)
        for x in range(width):
            rest = r[i + 1, x] - share * pushed[c, x] + down[i, x] * z[i, x]
            forward = pivots[i + 1, x] * rest
            z[i + 1, x] = forward
            part += forward * rest  # summed up along a line, this is the product
        gamma += part
    for i in range(last - 1, first - 1, -1):
        part = kind(0)
        for x in range(width):
            back = z[i, x] + pivots[i, x] * down[i, x] * z[i + 1, x]
            z[i, x] = back
            step = back - z[i + 1, x]
            part += down[i, x] * step * step
        delta += part
    for i in range(first, last + 1):
        part, squares = kind(0), z[i, width - 1] * z[i, width - 1]
        for x in range(width - 1):
            step = z[i, x] - z[i, x + 1]
            part += right[i, x] * step * step
            squares += z[i, x] * z[i, x]
        delta += part
        if prior_weight.size > 1:
            squares = kind(0)
            for x in range(width):
                squares += prior_weight[i, x] * z[i, x] * z[i, x]
            delta += squares
        else:
            delta += prior_weight[0, 0] * squares
    return gamma, delta


@inner(fastmath=FAST)
def _energy(weights, row, one, a, other, b):  # type: ignore[no-untyped-def]
    """Return the sum of weights[row] (one[a] - other[b])^2."""
    total = one.dtype.type(0)
    for x in range(one.shape[1]):
        step = one[a, x] - other[b, x]
        total += weights[row, x] * step * step
    return total


@inner(fastmath=FAST)
def _turn_row(i, number, extent, lift, z, steps, p, x):  # type: ignore[no-untyped-def]
    """p = z + beta p in the row i, after x has moved along both; `steps` as in `_step`. Returns p . p.

    With groups z is deflated first.
    """
    if extent.size > 0 and extent[0] <= i < extent[1]:
        lower_row(number, extent[2], lift, i, z, i)
    _, beta, along_p, along_z = steps
    if along_z != 0:
        for j in range(p.shape[1]):
            x[i, j] += along_p * p[i, j] + along_z * z[i, j]
    norm = p.dtype.type(0)
    for j in range(p.shape[1]):
        direction = z[i, j] + beta * p[i, j]
        p[i, j] = direction
        norm += direction * direction
    return norm


@inner(fastmath=FAST)
def _step_row(i, lattice, share, pull, c, alpha, p, above, a, below, b, across, r):  # type: ignore[no-untyped-def]
    """r -= alpha A p in the row i; the rows next to it are above[a] and below[b], itself where there is none."""
    height, width = r.shape
    down, right, prior_weight = lattice.down, lattice.right, lattice.prior_weight
    up, to = max(i - 1, 0), min(i, height - 2)
    for j in range(width - 1):
        across[j + 1] = right[i, j] * (p[i, j] - p[i, j + 1])
    weight = prior_weight[0, 0]
    if prior_weight.size > 1:
        weight -= weight
        for j in range(width):
            r[i, j] -= alpha * prior_weight[i, j] * p[i, j]
    for j in range(width):
        own = p[i, j]
        image = down[up, j] * (own - above[a, j]) + down[to, j] * (own - below[b, j])
        r[i, j] -= alpha * (image + across[j + 1] - across[j] + weight * own + share * pull[c, j])


@inner(fastmath=FAST)
def _step(  # type: ignore[no-untyped-def]
    rank, low, high, lattice, pivots, cells, number, extent, lift, steps, pushed, m, next_pushed, pull, ends, next_ends,
    beyond, vectors
):  # fmt: skip
    """Do one iteration of a channel on the rows of cells from low to high - 1.

    p = z + beta p, r -= alpha A p; then the multipliers and the relaxation of the new residual.

    number, extent: of `Groups`; lift (N + 1,): what z is less by on each; steps: alpha, beta, and by how much x moves
    along the p before and along z; pushed, next_pushed: the multipliers of the residual and of the new one, widened
    over the columns (h, W); pull: the same of p; ends, next_ends (T, 2, W): the first and the last row of z of every
    thread; beyond (2, W): the rows of p above and below.
    Returns r . z and z . A z of the new residual, but for the edges to rows of other threads, and p . p.
    """
    alpha, beta = steps[0], steps[1]
    z, p, x, r = vectors
    height, width = r.shape
    sums, across = np.zeros(width, r.dtype), np.zeros(width + 1, r.dtype)
    gamma, delta, norm, compliance = 0.0, 0.0, 0.0, 0.0
    zero, one = np.int64(0), np.int64(1)
    if rank > 0:
        for j in range(width):
            beyond[0, j] = ends[rank - 1, 1, j] + beta * beyond[0, j]
    if rank + 1 < ends.shape[0]:
        for j in range(width):
            beyond[1, j] = ends[rank + 1, 0, j] + beta * beyond[1, j]
    top, bottom = cells.row_first[low], cells.row_first[high - 1] + cells.row_count[high - 1] - 1
    for side, i in ((zero, top - 1), (one, bottom + 1)):
        if extent.size > 0 and extent[0] <= i < extent[1]:
            lower_row(number, extent[2], lift, i, beyond, side)
    norm += _turn_row(top, number, extent, lift, z, steps, p, x)
    for c in range(low, high):
        first, last = cells.row_first[c], cells.row_first[c] + cells.row_count[c] - 1
        share = cells.row_shares[first, 0]
        for j in range(width):
            pull[c, j] = pushed[c, j] + beta * pull[c, j]
        for i in range(first, last + 1):
            if i < bottom:
                norm += _turn_row(i + 1, number, extent, lift, z, steps, p, x)
            above, a = (p, max(i - 1, zero)) if i > top or i == 0 else (beyond, zero)
            below, b = (p, min(i + 1, height - 1)) if i < bottom or i + 1 == height else (beyond, one)
            _step_row(i, lattice, share, pull, c, alpha, p, above, a, below, b, across, r)
            for j in range(width):
                sums[j] += share * lattice.inverse[i, j] * r[i, j]
        reduce_row(cells, sums, c, m)
        sums[:] = 0
        for d in range(m.shape[1]):
            m[c, d] *= lattice.gain[c, d]
            compliance += lattice.compliance[c, d] * m[c, d] * m[c, d]
        widen_row(cells, m, c, next_pushed)
        more_gamma, more_delta = _relax(c, lattice, pivots, cells, next_pushed, r, z)
        gamma += more_gamma
        delta += more_delta
        if c > low:
            delta += _energy(lattice.down, first - 1, z, first - 1, z, first)
    for j in range(width):
        next_ends[rank, 0, j] = z[top, j]
    for j in range(width):
        next_ends[rank, 1, j] = z[bottom, j]
    return gamma + compliance, delta + compliance, norm


@inner(fastmath=FAST)
def _images(low, high, lattice, cells, extent, z, w):  # type: ignore[no-untyped-def]
    """w = (L + T) z in those rows of the cells low to high - 1 that have groups, which is A z on these."""
    height, width = z.shape
    down, right, prior_weight = lattice.down, lattice.right, lattice.prior_weight
    across = np.zeros(width + 1, z.dtype)
    bottom = cells.row_first[high - 1] + cells.row_count[high - 1]
    for i in range(max(cells.row_first[low], extent[0]), min(bottom, extent[1])):
        above, below = max(i - 1, 0), min(i + 1, height - 1)
        up, to = max(i - 1, 0), min(i, height - 2)
        for j in range(width - 1):
            across[j + 1] = right[i, j] * (z[i, j] - z[i, j + 1])
        for j in range(width):
            own = z[i, j]
            w[i, j] = down[up, j] * (own - z[above, j]) + down[to, j] * (own - z[below, j]) + across[j + 1] - across[j]
        if prior_weight.size > 1:
            for j in range(width):
                w[i, j] += prior_weight[i, j] * z[i, j]
        else:
            weight = prior_weight[0, 0]
            for j in range(width):
                w[i, j] += weight * z[i, j]


@entry()
def iterate_lines(  # type: ignore[no-untyped-def]
    rank, team, barrier, lattice, pivots, cells, groups, lift, multipliers, borders, vectors, parts, owed, progress,
    span, stop
):  # fmt: skip
    """Do iterations span[0] to span[1] - 1 of all active channels, or fewer if none is active any more.

    Threads of a team run it together, each on its rows of cells. Returns the number of the iteration that is next.

    pivots: see `prepare_lines`; lift (K, N + 1): the correction of groups, the last 0; multipliers: m (K, h, w),
    widened over the columns for even and for odd iterations (2, K, h, W), and those of p (K, h, W); borders: the first
    and the last row of z of every thread, for even and for odd iterations (2, K, T, 2, W), and the rows of p above and
    below those of every thread (K, T, 2, W); vectors: z, p, x, r and, for groups alone, A z (K, H, W); parts of r . z,
    z . A z and p . p (K, S); owed (K,): by how much x has still to move along p, as it is moved every other time;
    progress, stop: see `update_errors`.
    """
    m, pushed, pull = multipliers
    ends, beyond = borders
    z, p, x, r, w = vectors
    gammas, deltas, squares = parts
    pixels, largest, tolerance, relative, rounding = stop
    kind = r.dtype.type
    strips = cells.cell_strips.size - 1
    low, high = cells.cell_strips[rank * strips // team], cells.cell_strips[(rank + 1) * strips // team]
    # A step of length 0 comes before the first: it relaxes the residual.
    for n in range(span[0] if span[0] > 0 else -1, span[1]):
        now, after = n & 1, 1 - (n & 1)
        for k in range(r.shape[0]):
            if progress.active[k]:
                alpha, beta = (progress.alpha[k], progress.beta[k]) if n >= 0 else (0.0, 0.0)
                along_p, along_z = (owed[k] + alpha * beta, alpha) if n > 0 and now == 1 else (0.0, 0.0)
                gammas[k, rank], deltas[k, rank], squares[k, rank] = _step(
                    rank, low, high, lattice, pivots, cells, groups.number, groups.extent, lift[k],
                    (kind(alpha), kind(beta), kind(along_p), kind(along_z)),
                    pushed[now, k], m[k], pushed[after, k], pull[k], ends[now, k], ends[after, k], beyond[k, rank],
                    (z[k], p[k], x[k], r[k]),
                )  # fmt: skip
        role = arrive(barrier, team)
        if groups.number.size > 0:
            if role == LAST:
                release(barrier, team)
            for k in range(r.shape[0]):
                if progress.active[k]:
                    _images(low, high, lattice, cells, groups.extent, z[k], w[k])
            role = arrive(barrier, team) if role != ABANDONED else role
            if role == LAST:
                release(barrier, team)
            for k in range(r.shape[0]):
                if progress.active[k]:
                    sum_groups(rank, team, groups, w[k], lift[k])
            role = arrive(barrier, team) if role != ABANDONED else role
        if role == LAST:
            for k in range(r.shape[0]):
                if not progress.active[k]:
                    continue
                if groups.number.size > 0:
                    # r has no part in the groups, so that deflation changes z . A z but not r . z.
                    deltas[k, 0] -= coarse_energy(groups, lift[k])
                owed[k] = progress.alpha[k] if n >= 0 and now == 0 else 0.0
                for other in range(1, team):
                    row = cells.row_first[cells.cell_strips[other * strips // team]] - 1
                    upper, lower = ends[after, k, other - 1], ends[after, k, other]
                    deltas[k, other] += _energy(lattice.down, row, upper, np.int64(1), lower, np.int64(0))
            if n >= 0:
                update_errors(progress, n, squares, pixels, largest, tolerance, relative, rounding)
            if n + 1 < progress.alphas.shape[1]:
                set_coefficients(progress, n + 1, gammas, deltas)
            release(barrier, team)
        if role == ABANDONED or not is_any(progress.active):
            return n + 1
    return span[1]
