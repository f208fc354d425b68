"""The four sweeps of an iteration, each one pass over a strip of rows.

What a sweep needs of a neighbouring row it computes again from the fields it reads, so that strips never wait for
each other, and no field is written that another strip still reads.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from graphsr.solver.lattice import FAST, reduce_row, spread_row, subtract_laplacian


@njit(cache=True, nogil=True, fastmath=FAST)
def average_straddling(s, lattice, cells, field, m, v):  # type: ignore[no-untyped-def]
    """v += D of what the straddling pixels answer to the field when the cells push with m."""
    width = field.shape[1]
    rows = np.empty((2, width), field.dtype)
    held = np.full(2, -1, np.int64)
    spread = np.empty(width, field.dtype)
    sums = np.empty(width, field.dtype)
    out = np.empty(v.shape[1], field.dtype)
    for c in range(cells.cell_strips[s], cells.cell_strips[s + 1]):
        sums[:] = 0
        for tap in range(cells.row_count[c]):
            i = cells.row_first[c] + tap
            weight = cells.row_taps[c, tap]
            spread_row(i, cells, m, rows, held, spread)
            inverse, values = lattice.inverse[i], field[i]
            for x in range(width):
                sums[x] += weight * max(-inverse[x], field.dtype.type(0)) * (values[x] - spread[x])
        reduce_row(cells, sums, out)
        for d in range(v.shape[1]):
            v[c, d] += out[d]


@njit(cache=True, nogil=True, fastmath=FAST)
def average_inside(s, lattice, cells, field, v):  # type: ignore[no-untyped-def]
    """v = D E^-1 field over the pixels inside cells, for the cells of one strip."""
    sums = np.empty(field.shape[1], field.dtype)
    for c in range(cells.cell_strips[s], cells.cell_strips[s + 1]):
        sums[:] = 0
        for tap in range(cells.row_count[c]):
            i = cells.row_first[c] + tap
            weight = cells.row_taps[c, tap]
            inverse, values = lattice.inverse[i], field[i]
            for x in range(field.shape[1]):
                sums[x] += weight * max(inverse[x], field.dtype.type(0)) * values[x]
        reduce_row(cells, sums, v[c])


@njit(cache=True, nogil=True, fastmath=FAST)
def advance(s, cells, step, p, q, x, r):  # type: ignore[no-untyped-def]
    """Sweep 1: x += step p, r -= step q."""
    for i in range(cells.strips[s], cells.strips[s + 1]):
        for j in range(x.shape[1]):
            x[i, j] += step * p[i, j]
            r[i, j] -= step * q[i, j]


@njit(cache=True, nogil=True, fastmath=FAST)
def _relaxed_row(inverse, straddling, values, spread, early, out):  # type: ignore[no-untyped-def]
    """out = one row of a relaxation, the cells having answered with m (early: m before the straddling pixels)."""
    if straddling:
        for x in range(out.size):
            pushed = spread[x] if inverse[x] > 0 else early[x]
            out[x] = abs(inverse[x]) * (values[x] - pushed)
    else:
        for x in range(out.size):
            out[x] = inverse[x] * (values[x] - spread[x])


@njit(cache=True, nogil=True, fastmath=FAST)
def relax_and_restrict(s, lattice, cells, r, m, early, z, coarse):  # type: ignore[no-untyped-def]
    """Sweep 2: z = relaxation of r; coarse += the residual it leaves, summed over aggregates."""
    height, width = r.shape
    low, high = cells.strips[s], cells.strips[s + 1]
    rows, early_rows = np.empty((2, width), r.dtype), np.empty((2, width), r.dtype)
    held, early_held = np.full(2, -1, np.int64), np.full(2, -1, np.int64)
    spread = np.empty((3, width), r.dtype)
    early_spread, rest = np.empty(width, r.dtype), np.empty(width, r.dtype)
    near = np.zeros((3, width), r.dtype)
    for ahead in range(max(low - 1, 0), high + 1):
        if ahead < height:
            slot = ahead % 3
            spread_row(ahead, cells, m, rows, held, spread[slot])
            if cells.straddling:
                spread_row(ahead, cells, early, early_rows, early_held, early_spread)
            _relaxed_row(lattice.inverse[ahead], cells.straddling, r[ahead], spread[slot], early_spread, near[slot])
            if low <= ahead < high:
                z[ahead] = near[slot]
        i = ahead - 1
        if i < low:
            continue
        here, field, pushed, parent = near[i % 3], r[i], spread[i % 3], lattice.parent[i]
        for x in range(width):
            rest[x] = field[x] - pushed[x]
        subtract_laplacian(i, lattice, near[(i + 2) % 3], here, near[(i + 1) % 3], rest)
        for x in range(width):
            coarse[parent[x]] += rest[x]


@njit(cache=True, nogil=True, fastmath=FAST)
def correct(s, lattice, cells, r, m, z, coarse, u, v):  # type: ignore[no-untyped-def]
    """Sweep 3: with z2 = z + coarse correction, u = r - D^T m - L z2. Unless pixels straddle, also
    v = D(z2 + E^-1 u), and (r - D^T m) . (z2 + E^-1 u) is returned."""
    height, width = r.shape
    low, high = cells.strips[s], cells.strips[s + 1]
    rows = np.empty((2, width), r.dtype)
    held = np.full(2, -1, np.int64)
    spread, sums = np.empty(width, r.dtype), np.zeros(width, r.dtype)
    near = np.zeros((3, width), r.dtype)
    dot = 0.0
    for ahead in range(max(low - 1, 0), high + 1):
        if ahead < height:
            slot, field, parent = near[ahead % 3], z[ahead], lattice.parent[ahead]
            for x in range(width):
                slot[x] = field[x] + coarse[parent[x]]
        i = ahead - 1
        if i < low:
            continue
        here, field, out, inverse = near[i % 3], r[i], u[i], lattice.inverse[i]
        spread_row(i, cells, m, rows, held, spread)
        for x in range(width):
            out[x] = field[x] - spread[x]
        subtract_laplacian(i, lattice, near[(i + 2) % 3], here, near[(i + 1) % 3], out)
        if not cells.straddling:
            c = cells.row_owners[i, 0]
            weight = cells.row_shares[i, 0]
            part = r.dtype.type(0)
            for x in range(width):
                after = here[x] + inverse[x] * out[x]
                part += (field[x] - spread[x]) * after
                sums[x] += weight * after
            dot += part
            if i == cells.row_first[c] + cells.row_count[c] - 1:
                reduce_row(cells, sums, v[c])
                sums[:] = 0
    return dot


@njit(cache=True, nogil=True, fastmath=FAST)
def average_corrected(s, lattice, cells, z, coarse, u, v):  # type: ignore[no-untyped-def]
    """v = D(z2 + E^-1 u) over the pixels inside cells, plus D z2 of the straddling ones."""
    width = z.shape[1]
    sums = np.empty(width, z.dtype)
    for c in range(cells.cell_strips[s], cells.cell_strips[s + 1]):
        sums[:] = 0
        for tap in range(cells.row_count[c]):
            i = cells.row_first[c] + tap
            weight = cells.row_taps[c, tap]
            inverse, parent = lattice.inverse[i], lattice.parent[i]
            for x in range(width):
                pull = max(inverse[x], z.dtype.type(0))
                sums[x] += weight * (z[i, x] + coarse[parent[x]] + pull * u[i, x])
        reduce_row(cells, sums, v[c])


@njit(cache=True, nogil=True, fastmath=FAST)
def dot_preconditioned(s, lattice, cells, r, z, coarse, u, step, early):  # type: ignore[no-untyped-def]
    """r . (preconditioned r) over a strip; needed only where pixels straddle."""
    width = r.shape[1]
    rows, early_rows = np.empty((2, width), r.dtype), np.empty((2, width), r.dtype)
    held, early_held = np.full(2, -1, np.int64), np.full(2, -1, np.int64)
    spread, other, row = np.empty(width, r.dtype), np.empty(width, r.dtype), np.empty(width, r.dtype)
    dot = 0.0
    for i in range(cells.strips[s], cells.strips[s + 1]):
        spread_row(i, cells, step, rows, held, spread)
        spread_row(i, cells, early, early_rows, early_held, other)
        _relaxed_row(lattice.inverse[i], cells.straddling, u[i], spread, other, row)
        field, before, parent = r[i], z[i], lattice.parent[i]
        part = r.dtype.type(0)
        for x in range(width):
            part += field[x] * (row[x] + before[x] + coarse[parent[x]])
        dot += part
    return dot


@njit(cache=True, nogil=True, fastmath=FAST)
def direct(s, lattice, cells, z, coarse, u, step, early, m, beta, p, q):  # type: ignore[no-untyped-def]
    """Sweep 4: with the preconditioned residual zz, p = zz + beta p and q = A zz + beta q (A zz = L zz + D^T m).

    Returns p . q and p . p over the strip.
    """
    height, width = p.shape
    low, high = cells.strips[s], cells.strips[s + 1]
    rows, early_rows, m_rows = (
        np.empty((2, width), p.dtype),
        np.empty((2, width), p.dtype),
        np.empty((2, width), p.dtype),
    )
    held, early_held, m_held = np.full(2, -1, np.int64), np.full(2, -1, np.int64), np.full(2, -1, np.int64)
    spread, other, image = np.empty(width, p.dtype), np.empty(width, p.dtype), np.empty(width, p.dtype)
    near = np.zeros((3, width), p.dtype)
    dot, norm = 0.0, 0.0
    for ahead in range(max(low - 1, 0), high + 1):
        if ahead < height:
            spread_row(ahead, cells, step, rows, held, spread)
            if cells.straddling:
                spread_row(ahead, cells, early, early_rows, early_held, other)
            slot, before, parent = near[ahead % 3], z[ahead], lattice.parent[ahead]
            _relaxed_row(lattice.inverse[ahead], cells.straddling, u[ahead], spread, other, slot)
            for x in range(width):
                slot[x] += before[x] + coarse[parent[x]]
        i = ahead - 1
        if i < low:
            continue
        here, direction, product = near[i % 3], p[i], q[i]
        image[:] = 0
        subtract_laplacian(i, lattice, near[(i + 2) % 3], here, near[(i + 1) % 3], image)
        spread_row(i, cells, m, m_rows, m_held, spread)
        part, square = p.dtype.type(0), p.dtype.type(0)
        for x in range(width):
            direction[x] = here[x] + beta * direction[x]
            product[x] = spread[x] - image[x] + beta * product[x]
            part += direction[x] * product[x]
            square += direction[x] * direction[x]
        dot += part
        norm += square
    return dot, norm
