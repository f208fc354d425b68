"""Levels under the relaxation, for wide regions without data.

The relaxation moves values one pixel an iteration. Where no source pixel is known for hundreds of pixels, the
preconditioner becomes the sum of it and of a correction that is constant on groups of some 16 strongly tied pixels:
P B P^T r, with B a multigrid cycle for the graph of these groups. Groups hold only pixels of source pixels that are
missing, so that a correction does not change what D measures and exact fidelity stays exact, or that are known so
weakly that their data term can be taken for a pull on each pixel.

Both parts are at most the inverse of the matrix, so no eigenvalue of the preconditioned matrix exceeds 2.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from graphsr.solver.backends.aggregation import Graph, coarser, lattice_graph, members_of
from graphsr.solver.backends.smoothing import smooth_down, smooth_up, spread_groups, sum_groups

# Matchings from pixels to the first level (groups of some 2^4 pixels: about what a source pixel of x4 holds fixed,
# which the relaxation deals with quickly), and from level to level.
_FIRST_PASSES, _PASSES = 4, 2
# A graph so small is solved directly; one that does not get smaller any more, only if it is not large.
_SMALL, _LARGEST_DIRECT = 200, 500
# Every level but the first visits the next one so often (a W-cycle): groups of groups are corrected too little by a
# single visit.
_VISITS = 2


class Levels:
    """The correction of one image, set up.

    Args:
        down: Edge weights (H-1, W).
        right: Edge weights (H, W-1).
        pull: Weight (H, W) or (1, 1) with which each pixel is tied to a fixed value: prior and weak data.
        free: (H, W) which pixels may be corrected.

    Attributes:
        count: How many groups.
    """

    # The eigenvalues of the matrix preconditioned by relaxation and correction: at most, and (in parts of that) as a
    # solve of some 200 iterations has them. A few iterations after a restart would not show such a small one.
    largest, smallest = 2.0, 5e-4

    def __init__(self, down: np.ndarray, right: np.ndarray, pull: np.ndarray, free: np.ndarray) -> None:
        nodes = np.full(free.shape, -1, np.int32)
        nodes[free] = np.arange(np.count_nonzero(free), dtype=np.int32)
        pixels = lattice_graph(down, right, pull, nodes, np.count_nonzero(free))
        graph, group = coarser(pixels, _FIRST_PASSES)
        self.count = graph.pull.size
        groups = np.full(free.shape, -1, np.int32)
        groups[free] = group
        self._members, self._begin = members_of(groups.ravel(), self.count)
        self._size = free.shape
        self._levels: list[tuple[Graph, np.ndarray]] = []
        while graph.pull.size > _SMALL:
            smaller, group = coarser(graph, _PASSES)
            if smaller.pull.size > 0.8 * graph.pull.size:
                break
            self._levels.append((graph, group))
            graph = smaller
        self._last = graph
        self._inverse = _dense_inverse(graph) if graph.pull.size <= _LARGEST_DIRECT else None

    def correction(self, r: np.ndarray) -> np.ndarray:
        """Return B P^T r for a residual (H, W): one number for each group (count,)."""
        right_hand_side = np.empty(self.count)
        sum_groups(r.reshape(-1), self._members, self._begin, right_hand_side)
        return self._cycle(0, right_hand_side)

    def of_members(self, values: np.ndarray) -> np.ndarray:
        """Return those of values (H, W) that belong to pixels in groups, in the order that `spread` takes."""
        return np.asarray(values.reshape(-1)[self._members])

    def spread(self, correction: np.ndarray, scales: np.ndarray, out: np.ndarray) -> None:
        """Set the pixels of out (H, W) that are in groups to P e of a correction e (count,), each times its scale."""
        spread_groups(correction, scales, self._members, self._begin, out.reshape(-1))

    def on_pixels(self, correction: np.ndarray) -> np.ndarray:
        """Return P e (H, W) of a correction e (count,)."""
        out = np.zeros(self._size)
        self.spread(correction, np.ones(self._members.size), out)
        return out

    def rms(self, correction: np.ndarray) -> float:
        """Return the RMS over all pixels of a correction (count,)."""
        pixels = self._size[0] * self._size[1]
        return float(np.sqrt(np.dot(np.diff(self._begin), np.square(correction)) / pixels))

    def _cycle(self, depth: int, b: np.ndarray) -> np.ndarray:
        x = np.zeros(b.size)
        if depth == len(self._levels):
            if self._inverse is not None:
                return np.asarray(self._inverse @ b)
            nothing = np.full(b.size, -1, np.int32)
            for _ in range(_VISITS):
                smooth_down(self._last, nothing, b, x, np.empty(0))
                smooth_up(self._last, nothing, b, x, np.empty(0))
            return x
        graph, group = self._levels[depth]
        below = self._levels[depth + 1][0] if depth + 1 < len(self._levels) else self._last
        residual = np.empty(below.pull.size)
        for _ in range(_VISITS if depth else 1):
            smooth_down(graph, group, b, x, residual)
            smooth_up(graph, group, b, x, self._cycle(depth + 1, residual))
        return x


def _dense_inverse(graph: Graph) -> np.ndarray:
    count = graph.pull.size
    # The rounding of sums may leave a matrix that is tied to nothing; slightly too stiff it is still a bound.
    matrix: Any = np.diag(graph.diagonal * (1 + 1e-13))
    for i in range(count):
        ends = slice(graph.first[i], graph.first[i + 1])
        matrix[i, graph.other[ends]] -= graph.weight[ends]
    return np.linalg.inv(matrix)
