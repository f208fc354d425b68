"""The solves inside the blocks of a dissection (block_elimination.py), for many channels at once.

Channels come last in all that is computed, so that loops over them vectorise; they come first in what is given and
returned, as everywhere else.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from graphsr.solver.backends.block_elimination import is_inside, solve_forward, weight_between
from graphsr.solver.backends.lattice import FAST


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
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


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _up(lattice, cells, blocks, n, band, rows, source, rhs, lines_out, own_out):  # type: ignore[no-untyped-def]
    """Right-hand sides of the lines (lines, K) and multipliers (M, K) after block n is eliminated."""
    top, bottom, left, right = blocks.inside[n]
    c0, _, d0, d1 = blocks.cells[n]
    width, image_width, begin = right - left, lattice.inverse.shape[1], blocks.line_first[n]
    count, channels = (bottom - top) * width, source.shape[0]
    x = np.empty((count, channels))
    for m in range(own_out.shape[0]):
        c, d = c0 + m // (d1 - d0), d0 + m % (d1 - d0)
        for k in range(channels):
            own_out[m, k] = source[k, c, d] if lattice.gain[c, d] > 0 else 0.0
    lines_out[:] = 0
    if rhs.size > 0:
        _gather(rhs, top, bottom, left, right, x)
        solve_forward(band, width, x, count)
        solve_backward(band, width, x, count)
        _add_data(cells, blocks, n, lattice.gain, own_out, 1, x)
        for m in range(lines_out.shape[0]):
            number = blocks.line_pixels[begin + m]
            i, j = number // image_width, number % image_width
            for e, f in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
                if is_inside(e, f, top, bottom, left, right):
                    weight, p = weight_between(lattice, i, j, e, f), (e - top) * width + f - left
                    for k in range(channels):
                        lines_out[m, k] += weight * x[p, k]
    lines = lines_out.shape[0]
    for a in range(own_out.shape[0] - 1, -1, -1):
        inverse = rows[a, lines + a]
        for m in range(lines):
            factor = rows[a, m] * inverse
            for k in range(channels):
                lines_out[m, k] -= factor * own_out[a, k]
        for m in range(a):
            factor = rows[a, lines + m] * inverse
            for k in range(channels):
                own_out[m, k] -= factor * own_out[a, k]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _down(lattice, cells, blocks, n, band, rows, rhs, lines_in, own, target):  # type: ignore[no-untyped-def]
    """Solve for the multipliers and the pixels inside block n, given all line pixels (P, K); target is filled there."""
    top, bottom, left, right = blocks.inside[n]
    width, image_width, begin = right - left, lattice.inverse.shape[1], blocks.line_first[n]
    lines, count, channels = blocks.line_first[n + 1] - begin, (bottom - top) * width, own.shape[1]
    for a in range(own.shape[0]):
        for m in range(lines):
            factor, place = rows[a, m], blocks.line_places[begin + m]
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
        number, place = blocks.line_pixels[begin + m], blocks.line_places[begin + m]
        i, j = number // image_width, number % image_width
        for e, f in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
            if is_inside(e, f, top, bottom, left, right):
                weight, p = weight_between(lattice, i, j, e, f), (e - top) * width + f - left
                for k in range(channels):
                    x[p, k] += weight * lines_in[place, k]
    _add_data(cells, blocks, n, lattice.gain, own, -1, x)
    solve_forward(band, width, x, count)
    solve_backward(band, width, x, count)
    for i in range(top, bottom):
        for k in range(channels):
            for j in range(left, right):
                target[k, i, j] = x[(i - top) * width + j - left, k]


@njit(cache=True, nogil=True, error_model="numpy", parallel=True)
def solve_up(lattice, cells, blocks, places, bands, multipliers, source, rhs, lines, own):  # type: ignore[no-untyped-def]
    """Fill lines (all line pixels of all blocks, K) and own (all multipliers, K) with their right-hand sides."""
    for block in prange(blocks.inside.shape[0]):
        n = np.int64(block)
        top, bottom, left, right = blocks.inside[n]
        begin, end = blocks.line_first[n], blocks.line_first[n + 1]
        first, last = places[n, 3], places[n + 1, 3]
        band = bands[places[n, 0] : places[n + 1, 0]].reshape(((bottom - top) * (right - left), right - left + 1))
        rows = multipliers[places[n, 1] : places[n + 1, 1]].reshape((last - first, end - begin + last - first))
        _up(lattice, cells, blocks, n, band, rows, source, rhs, lines[begin:end], own[first:last])


@njit(cache=True, nogil=True, error_model="numpy", parallel=True)
def solve_down(lattice, cells, blocks, places, bands, multipliers, rhs, lines, own, target):  # type: ignore[no-untyped-def]
    """Fill target (K, H, W) inside all blocks, given the line pixels (P, K)."""
    for block in prange(blocks.inside.shape[0]):
        n = np.int64(block)
        top, bottom, left, right = blocks.inside[n]
        begin, end = blocks.line_first[n], blocks.line_first[n + 1]
        first, last = places[n, 3], places[n + 1, 3]
        band = bands[places[n, 0] : places[n + 1, 0]].reshape(((bottom - top) * (right - left), right - left + 1))
        rows = multipliers[places[n, 1] : places[n + 1, 1]].reshape((last - first, end - begin + last - first))
        _down(lattice, cells, blocks, n, band, rows, rhs, lines, own[first:last], target)
