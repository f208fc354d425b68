"""Deflation in an iteration: no direction is left that is constant on groups of pixels (levels.py).

Of a relaxed residual z and its image w = A z the kernels make z - P c and w - A P c, with c the solution of the coarse
problem P^T A P c = P^T w. The coarse matrix is factorised, and a solve with it is two passes over its factor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphsr.compiled import entry, inner
from graphsr.solver.backends.lattice import FAST, widen_row


class Groups(NamedTuple):
    """N groups of pixels in the order of elimination, P^T A P = L diag(pivots) L^T, and C D P where data are weak."""

    number: np.ndarray  # (H, W) the group of each pixel, N for a pixel in none; or empty: there are no groups
    members: np.ndarray  # pixels, group by group
    begin: np.ndarray  # (N + 1,) where the members of each group begin
    extent: np.ndarray  # (3,) first row, last row + 1 and last column + 1 of all pixels in groups or next to them
    first: np.ndarray  # (N + 1,) where the entries of each column of L below the diagonal begin
    row: np.ndarray  # their rows
    entry: np.ndarray
    inverse_pivot: np.ndarray  # (N,)
    weak_first: np.ndarray  # (h w + 1,) where the entries of each row of C D P begin; or empty: no data are weak
    weak_group: np.ndarray  # their groups
    weak_entry: np.ndarray


def no_groups() -> Groups:
    """Return what stands for no deflation."""
    index, index_64, value = np.empty(0, np.int32), np.empty(0, np.int64), np.empty(0)
    empty = np.empty((0, 0), np.int32)
    return Groups(empty, index, index_64, index_64, index_64, index, value, value, index_64, index, value)


@inner(fastmath=FAST)
def sum_groups(part, parts, groups, values, out):  # type: ignore[no-untyped-def]
    """out (N,) = P^T values (H, W), one of so many parts of the groups."""
    count, flat = groups.inverse_pivot.size, values.reshape(-1)
    begin, members = groups.begin, groups.members
    for g in range(part * count // parts, (part + 1) * count // parts):
        total = values.dtype.type(0)
        for m in range(np.uint64(begin[g]), np.uint64(begin[g + 1])):
            total += flat[np.uint32(members[m])]
        out[g] = total


@inner(fastmath=FAST)
def solve_groups(groups, b):  # type: ignore[no-untyped-def]
    """b (N,) = (P^T A P)^-1 b."""
    first, row, below, inverse_pivot = groups.first, groups.row, groups.entry, groups.inverse_pivot
    for j in range(inverse_pivot.size):
        known = b[j]
        for e in range(np.uint64(first[j]), np.uint64(first[j + 1])):
            b[np.uint32(row[e])] -= below[e] * known
    for j in range(inverse_pivot.size - 1, -1, -1):
        total = b[j] * inverse_pivot[j]
        for e in range(np.uint64(first[j]), np.uint64(first[j + 1])):
            total -= below[e] * b[np.uint32(row[e])]
        b[j] = total


@inner()
def coarse_energy(groups, lift):  # type: ignore[no-untyped-def]
    """lift (N + 1,) = c of P^T A P c = lift. Returns c . P^T A P c."""
    sums, energy = lift.copy(), 0.0
    solve_groups(groups, lift)
    for g in range(groups.inverse_pivot.size):
        energy += sums[g] * lift[g]
    return energy


@entry()
def coarse_solution(groups, residual):  # type: ignore[no-untyped-def]
    """Return (P^T A P)^-1 P^T r of a residual (H, W): one number for each group (N,)."""
    out = np.empty(groups.inverse_pivot.size)
    sum_groups(0, 1, groups, residual, out)
    solve_groups(groups, out)
    return out


@inner(fastmath=FAST)
def weak_data(groups, cells, values, push):  # type: ignore[no-untyped-def]
    """push (h, W) = C D P values, widened over the columns; nothing if no data are weak."""
    if groups.weak_first.size == 0:
        return
    row = np.empty((1, cells.column_first.size))
    wide = np.empty((1, push.shape[1]))
    for c in range(push.shape[0]):
        for d in range(row.shape[1]):
            row[0, d] = 0
            cell = c * row.shape[1] + d
            for e in range(groups.weak_first[cell], groups.weak_first[cell + 1]):
                row[0, d] += groups.weak_entry[e] * values[groups.weak_group[e]]
        widen_row(cells, row, 0, wide)
        for x in range(push.shape[1]):
            push[c, x] = wide[0, x]


@inner(fastmath=FAST)
def lift_row(number, edge, down, values, i, lifts, flow):  # type: ignore[no-untyped-def]
    """lifts[i % 2] = row i of P values up to the column `edge`, and flow[(i - 1) % 2] = what flows down to it.

    values (N + 1,) end with a 0 for pixels in no group. Of the first row of a sweep the flow means nothing. It takes
    arrays and no tuples of them, which a call for every row would copy.
    """
    here, above = i & 1, (i + 1) & 1
    if not 0 <= i < number.shape[0]:
        for x in range(edge):
            flow[above, x] = 0
        return
    for x in range(edge):
        lifts[here, x] = values[np.uint32(number[i, x])]
    if i == 0:
        for x in range(edge):
            flow[above, x] = 0
    else:
        for x in range(edge):
            flow[above, x] = down[i - 1, x] * (lifts[above, x] - lifts[here, x])


@inner(fastmath=FAST)
def lower_row(number, edge, values, i, z, row):  # type: ignore[no-untyped-def]
    """z[row] -= row i of P values, up to the column `edge`; values (N + 1,) as in `lift_row`."""
    for x in range(edge):
        z[row, x] -= values[np.uint32(number[i, x])]


@inner(fastmath=FAST)
def deflate_row(edge, right, prior_weight, owners, shares, i, lifts, flow, push, beta, p, w):  # type: ignore[no-untyped-def]
    """Row i of p becomes beta p - P c, and that of w becomes w - A P c.

    lifts (2, W) and flow (3, W + 1): see `lift_row`, which has done rows up to i + 1; flow[2] is for use in here.
    """
    width, pull = p.shape[1], prior_weight[0, 0]
    here, above = i & 1, (i + 1) & 1
    flow[2, 0] = 0
    flow[2, edge] = 0
    for x in range(edge - 1):
        flow[2, x + 1] = right[i, x] * (lifts[here, x] - lifts[here, x + 1])
    for x in range(edge):
        lift = lifts[here, x]
        p[i, x] = beta * p[i, x] - lift
        w[i, x] -= flow[here, x] - flow[above, x] + flow[2, x + 1] - flow[2, x] + pull * lift
    for x in range(np.uint64(edge), np.uint64(width)):
        p[i, x] *= beta
    if prior_weight.size > 1:
        for x in range(edge):
            w[i, x] -= (prior_weight[i, x] - pull) * lifts[here, x]
    if push.size > 0:
        for side in range(2):
            c, share = owners[i, side], shares[i, side]
            for x in range(edge):
                w[i, x] -= share * push[c, x]
