"""The solves inside the blocks of a dissection (block_elimination.py), for many channels at once.

Channels come last in all that is computed, so that loops over them vectorise; they come first in what is given and
returned, as everywhere else.
"""

from __future__ import annotations

import numpy as np

from graphsr.compiled import entry, inner
from graphsr.solver.backends.block_elimination import is_inside, solve_forward, weight_between
from graphsr.solver.backends.lattice import FAST


@inner(fastmath=FAST)
def solve_backward(band, width, x, count):  # type: ignore[no-untyped-def]
    """x[:count] = F^-T x; rows four at a time."""
    channels = x.shape[1]
    for p in range(count - 1, -1, -1):
        last = min(p + width, count - 1)
        q = p + 1
        while q + 3 <= last:
            a, b = band[q, p - q + width], band[q + 1, p - q - 1 + width]
            c, d = band[q + 2, p - q - 2 + width], band[q + 3, p - q - 3 + width]
            for k in range(channels):
                x[p, k] -= a * x[q, k] + b * x[q + 1, k] + c * x[q + 2, k] + d * x[q + 3, k]
            q += 4
        while q <= last:
            a = band[q, p - q + width]
            for k in range(channels):
                x[p, k] -= a * x[q, k]
            q += 1
        scale = band[p, width]
        for k in range(channels):
            x[p, k] *= scale


@inner(fastmath=FAST)
def _gather(rhs, top, bottom, left, right, x):  # type: ignore[no-untyped-def]
    """x (inside, K) = rhs (K, H, W), which may be empty, at the pixels inside."""
    width = right - left
    if rhs.size == 0:
        x[:] = 0
        return
    for i in range(top, bottom):
        for k in range(rhs.shape[0]):
            for j in range(left, right):
                x[(i - top) * width + j - left, k] = rhs[k, i, j]


@inner(fastmath=FAST)
def _add_data(cells, blocks, n, gain, values, sign, x):  # type: ignore[no-untyped-def]
    """With sign -1: x (inside, K) -= D^T values (M, K); with 1: values -= D x."""
    top, bottom, left, right = blocks.inside[n]
    c0, c1, d0, d1 = blocks.cells[n]
    width = right - left
    for i in range(top, bottom):
        for down in range(2):
            c, a = cells.row_owners[i, down], np.float64(cells.row_shares[i, down])
            if a == 0 or not c0 <= c < c1:
                continue
            for j in range(left, right):
                for flank in range(2):
                    d, b = cells.column_owners[j, flank], np.float64(cells.column_shares[j, flank])
                    if b == 0 or not d0 <= d < d1 or gain[c, d] <= 0:
                        continue
                    p, m, share = (i - top) * width + j - left, (c - c0) * (d1 - d0) + d - d0, a * b
                    if sign > 0:
                        for k in range(x.shape[1]):
                            values[m, k] -= share * x[p, k]
                    else:
                        for k in range(x.shape[1]):
                            x[p, k] -= share * values[m, k]


@entry(fastmath=FAST)
def solve_up(begin, end, lattice, cells, blocks, places, bands, multipliers, source, rhs, lines_out, own_out):  # type: ignore[no-untyped-def]
    """Fill the right-hand sides that the elimination of the blocks from begin to end - 1 leaves.

    lines_out (all line pixels of all blocks, K), own_out (all multipliers, K).
    """
    image_width, channels = lattice.inverse.shape[1], source.shape[0]
    for n in range(begin, end):
        top, bottom, left, right = blocks.inside[n]
        c0, _, d0, d1 = blocks.cells[n]
        width, count = right - left, (bottom - top) * (right - left)
        around = blocks.line_first[n]
        sides, own = lines_out[around : blocks.line_first[n + 1]], own_out[places[n, 3] : places[n + 1, 3]]
        lines = sides.shape[0]
        for m in range(own.shape[0]):
            c, d = c0 + m // (d1 - d0), d0 + m % (d1 - d0)
            for k in range(channels):
                own[m, k] = source[k, c, d] if lattice.gain[c, d] > 0 else 0.0
        sides[:] = 0
        if rhs.size > 0:
            x = np.empty((count, channels))
            band = bands[places[n, 0] : places[n + 1, 0]].reshape((count, width + 1))
            _gather(rhs, top, bottom, left, right, x)
            solve_forward(band, width, x, count)
            solve_backward(band, width, x, count)
            _add_data(cells, blocks, n, lattice.gain, own, np.int64(1), x)
            for m in range(lines):
                number = blocks.line_pixels[around + m]
                i, j = number // image_width, number % image_width
                for e, f in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
                    if is_inside(e, f, top, bottom, left, right):
                        weight, p = weight_between(lattice, i, j, e, f), (e - top) * width + f - left
                        for k in range(channels):
                            sides[m, k] += weight * x[p, k]
        rows = multipliers[places[n, 1] : places[n + 1, 1]].reshape((own.shape[0], lines + own.shape[0]))
        for a in range(own.shape[0] - 1, -1, -1):
            inverse = rows[a, lines + a]
            for m in range(lines):
                factor = rows[a, m] * inverse
                for k in range(channels):
                    sides[m, k] -= factor * own[a, k]
            for m in range(a):
                factor = rows[a, lines + m] * inverse
                for k in range(channels):
                    own[m, k] -= factor * own[a, k]


@entry(fastmath=FAST)
def solve_down(begin, end, lattice, cells, blocks, places, bands, multipliers, rhs, lines_in, own_in, target):  # type: ignore[no-untyped-def]
    """Fill target (K, H, W) inside the blocks from begin to end - 1, given all line pixels (P, K).

    own_in (all multipliers, K): their right-hand sides, which become the multipliers.
    """
    image_width, channels = lattice.inverse.shape[1], own_in.shape[1]
    for n in range(begin, end):
        top, bottom, left, right = blocks.inside[n]
        width, count = right - left, (bottom - top) * (right - left)
        around, own = blocks.line_first[n], own_in[places[n, 3] : places[n + 1, 3]]
        lines = blocks.line_first[n + 1] - around
        rows = multipliers[places[n, 1] : places[n + 1, 1]].reshape((own.shape[0], lines + own.shape[0]))
        for a in range(own.shape[0]):
            for m in range(lines):
                factor, place = rows[a, m], blocks.line_places[around + m]
                for k in range(channels):
                    own[a, k] -= factor * lines_in[place, k]
            for m in range(a):
                factor = rows[a, lines + m]
                for k in range(channels):
                    own[a, k] -= factor * own[m, k]
            for k in range(channels):
                own[a, k] *= rows[a, lines + a]
        x = np.empty((count, channels))
        _gather(rhs, top, bottom, left, right, x)
        for m in range(lines):
            number, place = blocks.line_pixels[around + m], blocks.line_places[around + m]
            i, j = number // image_width, number % image_width
            for e, f in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
                if is_inside(e, f, top, bottom, left, right):
                    weight, p = weight_between(lattice, i, j, e, f), (e - top) * width + f - left
                    for k in range(channels):
                        x[p, k] += weight * lines_in[place, k]
        _add_data(cells, blocks, n, lattice.gain, own, np.int64(-1), x)
        band = bands[places[n, 0] : places[n + 1, 0]].reshape((count, width + 1))
        solve_forward(band, width, x, count)
        solve_backward(band, width, x, count)
        for i in range(top, bottom):
            for k in range(channels):
                for j in range(left, right):
                    target[k, i, j] = x[(i - top) * width + j - left, k]
