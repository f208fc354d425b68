"""The set-up of lines of pixels (lines.py): the pivots of E, and what they make of 1."""

from __future__ import annotations

import numpy as np

from graphsr.compiled import entry
from graphsr.solver.backends.lattice import BOUND, FAST, set_gain


@entry(fastmath=FAST)
def prepare_lines(s, down, right, prior_weight, compliance, known, cells, pivots, inverse, gain, spans):  # type: ignore[no-untyped-def]
    """Fill pivots, which are inverted, and inverse (H, W), and gain (h, w) in the strip s.

    spans (S, 2) gets the least and the largest number of the diagonal that bounds all edges of a pixel.
    """
    height, width = inverse.shape
    kind = inverse.dtype.type
    ground, rest = np.empty(width, inverse.dtype), np.empty(width, inverse.dtype)
    least, largest = kind(np.inf), kind(0)
    for c in range(cells.cell_strips[s], cells.cell_strips[s + 1]):
        first, last = cells.row_first[c], cells.row_first[c] + cells.row_count[c] - 1
        for i in range(first, last + 1):
            row = i if prior_weight.shape[0] > 1 else 0
            if prior_weight.shape[1] > 1:
                for x in range(width):
                    ground[x] = prior_weight[row, x]
            else:
                for x in range(width):
                    ground[x] = prior_weight[row, 0]
            for x in range(width - 1):
                ground[x] += kind(BOUND) * right[i, x]
            for x in range(width - 1):
                ground[x + 1] += kind(BOUND) * right[i, x]
            if i > 0 and i == first:
                for x in range(width):
                    ground[x] += kind(BOUND) * down[i - 1, x]
            if i + 1 < height and i == last:
                for x in range(width):
                    ground[x] += kind(BOUND) * down[i, x]
            # Pivots by sums of positive numbers alone: `rest` is what a pivot has beside the edge to the next row.
            if i == first:
                for x in range(width):
                    rest[x] = ground[x]
            else:
                for x in range(width):
                    rest[x] = ground[x] + down[i - 1, x] * rest[x] * pivots[i - 1, x]
            for x in range(width):
                total = rest[x] + down[i, x] if i < last else rest[x]
                pivots[i, x] = 1 / max(total, kind(1e-30))
            for x in range(width):
                own = ground[x]
                own += kind(BOUND) * down[i - 1, x] if i > first else kind(0)
                own += kind(BOUND) * down[i, x] if i < last else kind(0)
                least, largest = min(least, own), max(largest, own)
            for x in range(width):
                before = down[i - 1, x] * inverse[i - 1, x] if i > first else kind(0)
                inverse[i, x] = pivots[i, x] * (1 + before)
        for i in range(last - 1, first - 1, -1):
            for x in range(width):
                inverse[i, x] += pivots[i, x] * down[i, x] * inverse[i + 1, x]
    spans[s, 0], spans[s, 1] = least, largest
    set_gain(s, compliance, known, cells, inverse, gain)
