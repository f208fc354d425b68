"""The elimination of the pixels inside the blocks of a dissection, and of the multipliers of their source pixels.

Unknowns are the pixels and, for each source pixel, a multiplier m:

    (L + T) y + D^T m = rhs,    D y - C^-1 m = s

so that soft and exact fidelity (C^-1 = 0) are the same, and pixels inside a block have a banded matrix. They are
eliminated first, then the multipliers of the block. What is left is a matrix on the line pixels around it. Everything
is in double precision.
"""

from __future__ import annotations

import numpy as np

from graphsr.compiled import entry, inner
from graphsr.solver.backends.lattice import FAST


@inner()
def weight_between(lattice, i, j, e, f):  # type: ignore[no-untyped-def]
    """Return the weight of the edge between the pixels (i, j) and (e, f), which are neighbours."""
    if i == e:
        return np.float64(lattice.right[i, min(j, f)])
    return np.float64(lattice.down[min(i, e), j])


@inner()
def diagonal(lattice, i, j):  # type: ignore[no-untyped-def]
    """Return the entry of L + T on the diagonal."""
    prior = lattice.prior_weight
    total = np.float64(prior[i if prior.shape[0] > 1 else 0, j if prior.shape[1] > 1 else 0])
    if i > 0:
        total += lattice.down[i - 1, j]
    if i < lattice.down.shape[0]:
        total += lattice.down[i, j]
    if j > 0:
        total += lattice.right[i, j - 1]
    if j < lattice.right.shape[1]:
        total += lattice.right[i, j]
    return total


@inner()
def _share(cells, i, j, c, d):  # type: ignore[no-untyped-def]
    """Return the entry of D for the source pixel (c, d) and the pixel (i, j)."""
    down, right = 0.0, 0.0
    for n in range(cells.row_owners.shape[1]):
        if cells.row_owners[i, n] == c:
            down += cells.row_shares[i, n]
    for n in range(cells.column_owners.shape[1]):
        if cells.column_owners[j, n] == d:
            right += cells.column_shares[j, n]
    return down * right


@inner(fastmath=FAST)
def _factorise_inside(lattice, top, bottom, left, right, band):  # type: ignore[no-untyped-def]
    """Fill band (n, b + 1) with the Cholesky factor of L + T on the pixels inside, by rows; b is their width.

    The last column has the inverse of the diagonal.
    """
    width = right - left
    for i in range(top, bottom):
        for j in range(left, right):
            p = (i - top) * width + j - left
            for t in range(width + 1):
                band[p, t] = 0
            band[p, width] = diagonal(lattice, i, j)
            if j > left:
                band[p, width - 1] -= lattice.right[i, j - 1]
            if i > top:
                band[p, 0] -= lattice.down[i - 1, j]
            for q in range(max(p - width, 0), p):
                total = band[p, q - p + width]
                shift = p - q
                for t in range(shift, q - p + width + shift):
                    total -= band[p, t - shift] * band[q, t]
                band[p, q - p + width] = total * band[q, width]
            total = band[p, width]
            for t in range(width):
                total -= band[p, t] * band[p, t]
            band[p, width] = 1 / np.sqrt(total)


@inner(fastmath=FAST)
def solve_forward(band, width, x, count):  # type: ignore[no-untyped-def]
    """x[:count] = F^-1 x with the factor F of `_factorise_inside`; rows four at a time."""
    channels = x.shape[1]
    for p in range(count):
        first = max(p - width, 0)
        q = first
        while q + 4 <= p:
            a, b = band[p, q - p + width], band[p, q + 1 - p + width]
            c, d = band[p, q + 2 - p + width], band[p, q + 3 - p + width]
            for k in range(channels):
                x[p, k] -= a * x[q, k] + b * x[q + 1, k] + c * x[q + 2, k] + d * x[q + 3, k]
            q += 4
        while q < p:
            a = band[p, q - p + width]
            for k in range(channels):
                x[p, k] -= a * x[q, k]
            q += 1
        scale = band[p, width]
        for k in range(channels):
            x[p, k] *= scale


@inner()
def is_inside(i, j, top, bottom, left, right):  # type: ignore[no-untyped-def]
    return top <= i < bottom and left <= j < right


@inner()
def _coupling(lattice, cells, blocks, n, out, line_out):  # type: ignore[no-untyped-def]
    """Fill out (inside, lines + multipliers) and line_out (lines, multipliers) with the matrix between them."""
    top, bottom, left, right = blocks.inside[n]
    begin, end = blocks.line_first[n], blocks.line_first[n + 1]
    c0, c1, d0, d1 = blocks.cells[n]
    lines, width, image_width = end - begin, right - left, lattice.inverse.shape[1]
    out[:], line_out[:] = 0, 0
    for m in range(lines):
        number = blocks.line_pixels[begin + m]
        i, j = number // image_width, number % image_width
        for e, f in ((i - 1, j), (i + 1, j), (i, j - 1), (i, j + 1)):
            if is_inside(e, f, top, bottom, left, right):
                out[(e - top) * width + f - left, m] -= weight_between(lattice, i, j, e, f)
    for c in range(c0, c1):
        for d in range(d0, d1):
            if lattice.gain[c, d] > 0:
                a = (c - c0) * (d1 - d0) + d - d0
                for i in range(top, bottom):
                    for j in range(left, right):
                        out[(i - top) * width + j - left, lines + a] = _share(cells, i, j, c, d)
                for m in range(lines):
                    number = blocks.line_pixels[begin + m]
                    line_out[m, a] = _share(cells, number // image_width, number % image_width, c, d)


@inner(fastmath=FAST)
def _eliminate_multipliers(schur, lines, multipliers, matrix):  # type: ignore[no-untyped-def]
    """Fill multipliers (M, lines + M) and matrix (lines, lines) from schur, which pixels leave of both."""
    for a in range(schur.shape[0] - 1, lines - 1, -1):
        inverse = 1 / schur[a, a]
        for j in range(a):
            multipliers[a - lines, j] = schur[a, j]
        multipliers[a - lines, a] = inverse
        for i in range(a):
            factor = schur[a, i] * inverse
            if factor != 0:
                for j in range(i + 1):
                    schur[i, j] -= factor * schur[a, j]
    for i in range(lines):
        for j in range(i + 1):
            matrix[i, j] = schur[i, j]
            matrix[j, i] = schur[i, j]


@entry(fastmath=FAST)
def eliminate_blocks(begin, end, lattice, cells, blocks, places, bands, multipliers, matrices):  # type: ignore[no-untyped-def]
    """Eliminate the blocks from begin to end - 1: fill three flat arrays.

    In them block n has, from places[n] (N + 1, 4) on, its factor, its multipliers (M, lines + M) and
    the matrix on its lines (lines, lines).
    """
    for n in range(begin, end):
        top, bottom, left, right = blocks.inside[n]
        c0, c1, d0, d1 = blocks.cells[n]
        count, width = (bottom - top) * (right - left), right - left
        lines, own = blocks.line_first[n + 1] - blocks.line_first[n], (c1 - c0) * (d1 - d0)
        total = lines + own
        band = bands[places[n, 0] : places[n + 1, 0]].reshape((count, width + 1))
        _factorise_inside(lattice, top, bottom, left, right, band)
        coupling, line_coupling = np.empty((count, total)), np.empty((lines, own))
        _coupling(lattice, cells, blocks, n, coupling, line_coupling)
        solve_forward(band, width, coupling, count)
        schur = np.zeros((total, total))
        for p in range(count):
            for i in range(total):
                factor = coupling[p, i]
                if factor != 0:
                    for j in range(i + 1):
                        schur[i, j] -= factor * coupling[p, j]
        for a in range(own):
            c, d = c0 + a // (d1 - d0), d0 + a % (d1 - d0)
            for m in range(lines):
                schur[lines + a, m] += line_coupling[m, a]
            schur[lines + a, lines + a] -= lattice.compliance[c, d] if lattice.gain[c, d] > 0 else 1.0
        rows = multipliers[places[n, 1] : places[n + 1, 1]].reshape((own, total))
        matrix = matrices[places[n, 2] : places[n + 1, 2]].reshape((lines, lines))
        _eliminate_multipliers(schur, lines, rows, matrix)


@entry()
def add_matrix(matrix, places, out):  # type: ignore[no-untyped-def]
    """out[places, places] += matrix."""
    for i in range(places.size):
        row = places[i]
        for j in range(places.size):
            out[row, places[j]] += matrix[i, j]


@entry()
def add_lines(lattice, line_pixels, pixels, eliminated, out):  # type: ignore[no-untyped-def]
    """Add the matrix of the pixels eliminated by joins (N, size): diagonals, and the edges along each line.

    Both ends of a line have neighbours among the pixels around the region.
    """
    width = lattice.inverse.shape[1]
    for n in range(pixels.shape[0]):
        for m in range(eliminated):
            number = line_pixels[pixels[n, m]]
            i, j = number // width, number % width
            out[n, m, m] += diagonal(lattice, i, j)
            for o in range(m + 1, m + 2 if 0 < m < eliminated - 1 else pixels.shape[1]):
                other = line_pixels[pixels[n, o]]
                e, f = other // width, other % width
                if abs(i - e) + abs(j - f) == 1:
                    weight = weight_between(lattice, i, j, e, f)
                    out[n, m, o] -= weight
                    out[n, o, m] -= weight
