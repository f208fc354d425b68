"""The steps of `diffusion` for one image, forward and backward, in as few passes as possible."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

RATE = 0.24  # of a step; with four neighbours, 0.25 would be the most
TINY = 1e-8


class Along(NamedTuple):
    """Tables of `sampling.Axis` for the kernels; `parts` are the shares of a pixel in its cells, made to sum to 1.

    A cell is a source pixel, seen as the target pixels that it covers.
    """

    first: np.ndarray
    pixels: np.ndarray
    taps: np.ndarray
    owners: np.ndarray
    shares: np.ndarray
    parts: np.ndarray


@njit(cache=True, nogil=True, error_model="numpy")
def steps_forward(image, down, right, source, known, rows, columns, steps):  # type: ignore[no-untyped-def]
    """Diffuse an image (H, W) by conductances down (H-1, W) and right (H, W-1); source and known are (h, w)."""
    old, above, left = _padded(image), _conducting_down(down), _conducting_right(right)
    new = np.zeros_like(old)
    means, ratios = np.empty(source.shape, np.float32), np.empty(source.shape, np.float32)
    sums, wide = np.empty(image.shape[1], np.float32), np.empty((source.shape[0], image.shape[1]), np.float32)
    for _ in range(steps):
        _step(old, new, above, left, source, known, rows, columns, means, ratios, sums, wide)
        old, new = new, old
    return old[1:-1, 1:-1].copy()


@njit(cache=True, nogil=True, error_model="numpy")
def steps_backward(image, down, right, source, known, rows, columns, steps, gradient):  # type: ignore[no-untyped-def]
    """Return the gradients of the image before the steps, of down and of right, from that of the image after them.

    The images in between are computed once more and stored. A step multiplies what was diffused, J, by R, which depends
    on J through the means of the cells: hence two ways back to J. From J back to the image is a diffusion again, since
    what flows one way at an edge flows the other way too.
    """
    height, width = image.shape
    above, left = _conducting_down(down), _conducting_right(right)
    means, ratios = np.empty(source.shape, np.float32), np.empty(source.shape, np.float32)
    sums, wide = np.empty(width, np.float32), np.empty((source.shape[0], width), np.float32)
    history = np.zeros((steps + 1, height + 2, width + 2), np.float32)
    history[0] = _padded(image)
    for n in range(steps):
        _step(history[n], history[n + 1], above, left, source, known, rows, columns, means, ratios, sums, wide)
    to_above, to_left = np.zeros_like(above), np.zeros_like(left)
    back, diffused, to_diffused = _padded(gradient), np.zeros_like(history[0]), np.zeros_like(history[0])
    to_wide, to_ratios = np.empty_like(wide), np.empty(source.shape[1], np.float32)
    for n in range(steps - 1, -1, -1):
        old = history[n]
        for i in range(height):
            _diffuse_row(i, above, left, old, diffused)
        for c in range(source.shape[0]):
            _ratios_of_row(c, source, known, rows, columns, diffused, means, ratios, sums, wide)
        _to_wide(back, diffused, rows, to_wide)
        for c in range(source.shape[0]):
            _through_means(c, known, columns, means, ratios, to_wide, to_ratios)
        for i in range(height):
            _to_diffused_row(i, back, rows, wide, to_wide, to_diffused)
        _to_edges(old, to_diffused, to_above, to_left)
        for i in range(height):
            _diffuse_row(i, above, left, to_diffused, back)
    rate = np.float32(RATE)
    return back[1:-1, 1:-1].copy(), rate * to_above[1:-1], rate * to_left[:, 1:-1]


@njit(cache=True, nogil=True, error_model="numpy")
def _padded(image):  # type: ignore[no-untyped-def]
    """Surround (H, W) with zeros, so that borders need no code of their own."""
    padded = np.zeros((image.shape[0] + 2, image.shape[1] + 2), np.float32)
    padded[1:-1, 1:-1] = image
    return padded


@njit(cache=True, nogil=True, error_model="numpy")
def _conducting_down(down):  # type: ignore[no-untyped-def]
    """Return the conductance over the upper edge of each row, (H+1, W); 0 over the border."""
    above = np.zeros((down.shape[0] + 2, down.shape[1]), np.float32)
    above[1:-1] = np.float32(RATE) * down
    return above


@njit(cache=True, nogil=True, error_model="numpy")
def _conducting_right(right):  # type: ignore[no-untyped-def]
    """Return the conductance over the left edge of each column, (H, W+1); 0 over the border."""
    left = np.zeros((right.shape[0], right.shape[1] + 2), np.float32)
    left[:, 1:-1] = np.float32(RATE) * right
    return left


@njit(cache=True, nogil=True, error_model="numpy")
def _step(old, new, above, left, source, known, rows, columns, means, ratios, sums, wide):  # type: ignore[no-untyped-def]
    """Take one step in one pass, a row of cells at a time.

    Its pixel rows are diffused while the rows above are still in the cache, and multiplied as soon as all cells they
    lie in are done.
    """
    height = old.shape[0] - 2
    diffused, done = 0, 0
    for c in range(source.shape[0]):
        while diffused < rows.first[c] + rows.pixels[c]:
            _diffuse_row(diffused, above, left, old, new)
            diffused += 1
        _ratios_of_row(c, source, known, rows, columns, new, means, ratios, sums, wide)
        while done < height and rows.owners[done, 1] <= c:
            a, b = rows.owners[done]
            _multiply_row(done, wide, a, b, rows.parts[done, 0], rows.parts[done, 1], new)
            done += 1


@njit(cache=True, nogil=True, error_model="numpy")
def _diffuse_row(i, above, left, old, new):  # type: ignore[no-untyped-def]
    for x in range(above.shape[1]):
        here = old[i + 1, x + 1]
        new[i + 1, x + 1] = (
            here
            + above[i, x] * (old[i, x + 1] - here)
            + above[i + 1, x] * (old[i + 2, x + 1] - here)
            + left[i, x] * (old[i + 1, x] - here)
            + left[i, x + 1] * (old[i + 1, x + 2] - here)
        )


@njit(cache=True, nogil=True, error_model="numpy")
def _ratios_of_row(c, source, known, rows, columns, new, means, ratios, sums, wide):  # type: ignore[no-untyped-def]
    """Compute wide[c] (W,), the factors of the pixels in row c of cells, and with them means[c] and ratios[c]."""
    sums[:] = 0
    for tap in range(rows.pixels[c]):
        i, weight = rows.first[c] + tap, rows.taps[c, tap]
        for x in range(sums.size):
            sums[x] += weight * new[i + 1, x + 1]
    for d in range(ratios.shape[1]):
        mean = np.float32(TINY)
        for tap in range(columns.pixels[d]):
            mean += columns.taps[d, tap] * sums[columns.first[d] + tap]
        means[c, d] = mean
        ratios[c, d] = source[c, d] / mean if known[c, d] else np.float32(1)
    for x in range(sums.size):
        a, b = columns.owners[x, 0], columns.owners[x, 1]
        wide[c, x] = columns.parts[x, 0] * ratios[c, a] + columns.parts[x, 1] * ratios[c, b]


@njit(cache=True, nogil=True, error_model="numpy")
def _multiply_row(i, wide, a, b, part_a, part_b, new):  # type: ignore[no-untyped-def]
    for x in range(wide.shape[1]):
        new[i + 1, x + 1] *= part_a * wide[a, x] + part_b * wide[b, x]


@njit(cache=True, nogil=True, error_model="numpy")
def _to_wide(back, diffused, rows, to_wide):  # type: ignore[no-untyped-def]
    """Compute to_wide (h, W), the gradient of the factors that each row of cells has for its pixels."""
    to_wide[:] = 0
    for i in range(back.shape[0] - 2):
        a, b = rows.owners[i]
        part_a, part_b = rows.parts[i]
        for x in range(to_wide.shape[1]):
            value = back[i + 1, x + 1] * diffused[i + 1, x + 1]
            to_wide[a, x] += part_a * value
            to_wide[b, x] += part_b * value


@njit(cache=True, nogil=True, error_model="numpy")
def _through_means(c, known, columns, means, ratios, to_wide, to_ratios):  # type: ignore[no-untyped-def]
    """Replace to_wide[c] by the gradient of the sums over the columns of cells, through source / mean."""
    to_ratios[:] = 0
    for x in range(to_wide.shape[1]):
        a, b = columns.owners[x]
        to_ratios[a] += columns.parts[x, 0] * to_wide[c, x]
        to_ratios[b] += columns.parts[x, 1] * to_wide[c, x]
    for d in range(to_ratios.size):
        to_ratios[d] = -to_ratios[d] * ratios[c, d] / means[c, d] if known[c, d] else np.float32(0)
    for x in range(to_wide.shape[1]):
        a, b = columns.owners[x]
        to_wide[c, x] = columns.shares[x, 0] * to_ratios[a] + columns.shares[x, 1] * to_ratios[b]


@njit(cache=True, nogil=True, error_model="numpy")
def _to_diffused_row(i, back, rows, wide, to_wide, to_diffused):  # type: ignore[no-untyped-def]
    a, b = rows.owners[i]
    part_a, part_b = rows.parts[i]
    share_a, share_b = rows.shares[i]
    for x in range(wide.shape[1]):
        direct = back[i + 1, x + 1] * (part_a * wide[a, x] + part_b * wide[b, x])
        to_diffused[i + 1, x + 1] = direct + share_a * to_wide[a, x] + share_b * to_wide[b, x]


@njit(cache=True, nogil=True, error_model="numpy")
def _to_edges(old, to_diffused, to_above, to_left):  # type: ignore[no-untyped-def]
    height, width = old.shape[0] - 2, old.shape[1] - 2
    for i in range(1, height):
        for x in range(width):
            to_above[i, x] += (old[i, x + 1] - old[i + 1, x + 1]) * (to_diffused[i + 1, x + 1] - to_diffused[i, x + 1])
    for i in range(height):
        for x in range(1, width):
            to_left[i, x] += (old[i + 1, x] - old[i + 1, x + 1]) * (to_diffused[i + 1, x + 1] - to_diffused[i + 1, x])
