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
    bound, zero, one = kind(BOUND), kind(0), kind(1)
    ground, held, told = np.empty(width, inverse.dtype), np.empty(width, inverse.dtype), np.empty(width, inverse.dtype)
    least, largest = kind(np.inf), zero
    for c in range(cells.cell_strips[s], cells.cell_strips[s + 1]):
        first, last = cells.row_first[c], cells.row_first[c] + cells.row_count[c] - 1
        held[:], told[:] = 0, 0
        for i in range(first, last + 1):
            row = i if prior_weight.shape[0] > 1 else 0
            if prior_weight.shape[1] > 1:
                for x in range(width):
                    ground[x] = prior_weight[row, x]
            else:
                for x in range(width):
                    ground[x] = prior_weight[row, 0]
            for x in range(width - 1):
                ground[x] += bound * right[i, x]
            for x in range(width - 1):
                ground[x + 1] += bound * right[i, x]
            # Edges to the rows above and below, inside the line and out of it: each weighs 0 where it is the other.
            up, to = max(i - 1, 0), min(i, height - 2)
            above_inside, below_inside = one if i > first else zero, one if i < last else zero
            above_outside = bound if 0 < i == first else zero
            below_outside = bound if last == i < height - 1 else zero
            for x in range(width):
                above, below = down[up, x], down[to, x]
                ground[x] += above_outside * above + below_outside * below
                # Pivots by sums of positive numbers alone: `rest` is what one has beside the edge to the next row.
                rest, edge = ground[x] + held[x], below_inside * below
                pivot = kind(1 / max(rest + edge, kind(1e-30)))
                start = pivot * (1 + told[x])
                pivots[i, x], inverse[i, x] = pivot, start
                held[x], told[x] = edge * rest * pivot, edge * start
                ground[x] += bound * (above_inside * above + edge)
            for x in range(width):
                least, largest = min(least, ground[x]), max(largest, ground[x])
        for i in range(last - 1, first - 1, -1):
            for x in range(width):
                inverse[i, x] += pivots[i, x] * down[i, x] * inverse[i + 1, x]
    spans[s, 0], spans[s, 1] = least, largest
    set_gain(s, compliance, known, cells, inverse, gain)
