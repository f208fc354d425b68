"""The coarse levels of the preconditioner, kept in flat arrays, and one V-cycle over them.

Every level is a small copy of the whole problem: ties (a CSR graph), ground (prior) and, as long as cells are not
mixed, D as one weight a node. A relaxation solves  E z + D^T m = r,  D z = C^-1 m  with E a scaled diagonal of
the Laplacian. D needs no iteration in it: cells are disjoint, so  C^-1 + D E^-1 D^T  is diagonal. With exact
fidelity C^-1 is 0 and nothing else changes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange

from graphsr.solver.coarsening import Graph, coarsen

# E = DAMPING * (sum of ties) + ground: 1 would leave the checkerboard mode undamped (measured: docs/solver.md).
DAMPING = 1.3
# Relaxations on the coarsest level, where the ties left are weak and the graph no longer shrinks.
LAST_SWEEPS = 4
_FEW_NODES = 32


class Levels(NamedTuple):
    """All coarse levels, finest first. Node and edge numbers count through; strips (levels, S + 1) bound them."""

    strips: np.ndarray
    start: np.ndarray
    others: np.ndarray
    ties: np.ndarray
    parent: np.ndarray
    ground: np.ndarray
    inverse: np.ndarray  # E^-1
    cell: np.ndarray
    share: np.ndarray
    gain: np.ndarray  # (levels, cells) (C^-1 + D E^-1 D^T)^-1
    has_cells: np.ndarray  # (levels,) whether D still lives on the level
    cell_strips: np.ndarray  # (S + 1,) first cell of each strip


def build(fine: Graph, cell_strips: np.ndarray, slack: np.ndarray, known: np.ndarray) -> tuple[Levels, np.ndarray]:
    """Coarsen as far as it pays. Also returns the parents of the pixels (into the flat numbering).

    slack (cells,) is C^-1, 0 for exact fidelity; known (cells,) marks the cells that have data at all.
    """
    dtype = fine.ground.dtype
    graphs: list[Graph] = []
    parents: list[np.ndarray] = []
    graph, mixed = fine, False
    weight = np.zeros_like(slack)
    np.divide(1.0, slack, out=weight, where=known & (slack > 0))
    nothing = np.empty(0, dtype)
    while graph.nodes > _FEW_NODES:
        load = (graph.share * weight[graph.cell]).astype(dtype) if mixed and graph.share.size else nothing
        coarser = coarsen(graph, mixed, load)
        if coarser is None and not mixed and bool((slack > 0).all()):
            # Within cells nothing is left to join. Across them D can only be carried as if each node were alone,
            # which is stiffer than the truth: safe, and right where ties are stronger than the data.
            mixed = True
            continue
        if coarser is None:
            break
        graph, parent = coarser
        graphs.append(graph)
        parents.append(parent)
    return _flatten(graphs, parents, fine, cell_strips, slack, known)


def _flatten(
    graphs: list[Graph],
    parents: list[np.ndarray],
    fine: Graph,
    cell_strips: np.ndarray,
    slack: np.ndarray,
    known: np.ndarray,
) -> tuple[Levels, np.ndarray]:
    dtype = fine.ground.dtype
    offset = np.concatenate([[0], np.cumsum([g.nodes for g in graphs])]).astype(np.int64)
    edge_offset = np.concatenate([[0], np.cumsum([g.others.size for g in graphs])]).astype(np.int64)

    def joined(parts: list[np.ndarray], kind: type | np.dtype) -> np.ndarray:
        return np.concatenate([np.empty(0, kind), *parts]).astype(kind, copy=False)

    wide = np.int64 if edge_offset[-1] > np.iinfo(np.int32).max else np.int32
    starts = [g.start[:-1] + wide(e) for g, e in zip(graphs, edge_offset, strict=False)]
    start = joined([*starts, edge_offset[-1:]], wide)
    ground = joined([g.ground for g in graphs], dtype)
    ties = joined([g.ties for g in graphs], dtype)
    inverse = np.empty_like(ground)
    _invert_diagonal(start, ties, ground, inverse)
    gain = np.zeros((len(graphs), slack.size), dtype)
    has_cells = np.array([g.share.size > 0 for g in graphs], np.bool_)
    for level, g in enumerate(graphs):
        if has_cells[level]:
            spread = np.bincount(
                g.cell,
                g.share.astype(np.float64) ** 2 * inverse[offset[level] : offset[level + 1]],
                slack.size,
            )
            gain[level] = gains(slack, spread, known)
    levels = Levels(
        strips=np.stack([g.strips + o for g, o in zip(graphs, offset, strict=False)])
        if graphs
        else np.zeros((0, fine.strips.size), np.int64),
        start=start,
        others=joined([g.others + np.int32(o) for g, o in zip(graphs, offset, strict=False)], np.int32),
        ties=ties,
        parent=joined([p + np.int32(o) for p, o in zip(parents[1:], offset[1:], strict=False)], np.int32),
        ground=ground,
        inverse=inverse,
        cell=joined([g.cell for g in graphs], np.int32),
        share=joined([g.share if g.share.size else np.zeros(g.nodes, dtype) for g in graphs], dtype),
        gain=gain,
        has_cells=has_cells,
        cell_strips=cell_strips,
    )
    return levels, parents[0] if parents else np.zeros(0, np.int32)


def gains(slack: np.ndarray, spread: np.ndarray, known: np.ndarray) -> np.ndarray:
    """(C^-1 + D E^-1 D^T)^-1 cell by cell; 0 where there is no data."""
    stiffness = slack + spread
    gain = np.zeros_like(stiffness)
    np.divide(1.0, stiffness, out=gain, where=known & (stiffness > 0))
    return gain


@njit(cache=True, nogil=True)
def _invert_diagonal(start, ties, ground, inverse):  # type: ignore[no-untyped-def]
    largest = ground.dtype.type(0)
    for node in range(ground.size):
        total = ground.dtype.type(0)
        for edge in range(start[node], start[node + 1]):
            total += ties[edge]
        inverse[node] = ground.dtype.type(DAMPING) * total + ground[node]
        largest = max(largest, inverse[node])
    for node in range(ground.size):
        inverse[node] = 1 / max(inverse[node], largest * ground.dtype.type(1e-20))


# The loops below take plain arrays: reading a field of a tuple inside them would cost more than the arithmetic.


@njit(cache=True, nogil=True)
def _relax_strip_from_zero(low, high, cells, cell, share, inverse, gain, r, z, m):  # type: ignore[no-untyped-def]
    first, last = cells
    for c in range(first, last):
        m[c] = 0
    for a in range(low, high):
        m[cell[a]] += share[a] * inverse[a] * r[a]
    for c in range(first, last):
        m[c] *= gain[c]
    for a in range(low, high):
        z[a] = inverse[a] * (r[a] - share[a] * m[cell[a]])


@njit(cache=True, nogil=True)
def _restrict_strip(low, high, start, others, ties, ground, cell, share, parent, r, z, m):  # type: ignore[no-untyped-def]
    for a in range(low, high):
        value = z[a]
        rest = r[a] - ground[a] * value - share[a] * m[cell[a]]
        for edge in range(start[a], start[a + 1]):
            rest -= ties[edge] * (value - z[others[edge]])
        r[parent[a]] += rest


@njit(cache=True, nogil=True)
def _relax_strip(  # type: ignore[no-untyped-def]
    low, high, cells, start, others, ties, ground, cell, share, inverse, gain, slack, r, z, m, step, w
):
    first, last = cells
    for c in range(first, last):
        step[c] = -slack[c] * m[c]
    for a in range(low, high):
        value = z[a]
        rest = r[a] - ground[a] * value - share[a] * m[cell[a]]
        for edge in range(start[a], start[a + 1]):
            rest -= ties[edge] * (value - z[others[edge]])
        w[a] = value + inverse[a] * rest
        step[cell[a]] += share[a] * w[a]
    for c in range(first, last):
        step[c] *= gain[c]
        m[c] += step[c]
    for a in range(low, high):
        w[a] -= inverse[a] * share[a] * step[cell[a]]


@njit(cache=True, nogil=True)
def _cells_of(s, level, levels):  # type: ignore[no-untyped-def]
    """The cells of a strip; none where cells are mixed (their multipliers stay 0)."""
    if levels.has_cells[level]:
        return levels.cell_strips[s], levels.cell_strips[s + 1]
    return 0, 0


# The channels of an image go through each strip one after the other, while its ties are in the cache.


@njit(cache=True, nogil=True, parallel=True)
def _relax_from_zero(level, levels, active, r, z, m):  # type: ignore[no-untyped-def]
    for strip in prange(levels.strips.shape[1] - 1):
        s = np.int64(strip)
        for k in range(active.size):
            if active[k]:
                _relax_strip_from_zero(
                    levels.strips[level, s], levels.strips[level, s + 1], _cells_of(s, level, levels),
                    levels.cell, levels.share, levels.inverse, levels.gain[level], r[k], z[k], m[k, level],
                )  # fmt: skip


@njit(cache=True, nogil=True, parallel=True)
def _restrict(level, levels, active, r, z, m):  # type: ignore[no-untyped-def]
    for strip in prange(levels.strips.shape[1] - 1):
        s = np.int64(strip)
        for k in range(active.size):
            if active[k]:
                r[k, levels.strips[level + 1, s] : levels.strips[level + 1, s + 1]] = 0
                _restrict_strip(
                    levels.strips[level, s], levels.strips[level, s + 1], levels.start, levels.others, levels.ties,
                    levels.ground, levels.cell, levels.share, levels.parent, r[k], z[k], m[k, level],
                )  # fmt: skip


@njit(cache=True, nogil=True, parallel=True)
def _prolong(level, levels, active, z, w):  # type: ignore[no-untyped-def]
    for strip in prange(levels.strips.shape[1] - 1):
        s = np.int64(strip)
        parent = levels.parent
        for k in range(active.size):
            if active[k]:
                for a in range(levels.strips[level, s], levels.strips[level, s + 1]):
                    z[k, a] += w[k, parent[a]]


@njit(cache=True, nogil=True, parallel=True)
def _relax(level, levels, active, slack, r, z, m, step, w):  # type: ignore[no-untyped-def]
    """w = z after one relaxation; m takes the new multipliers."""
    for strip in prange(levels.strips.shape[1] - 1):
        s = np.int64(strip)
        for k in range(active.size):
            if active[k]:
                _relax_strip(
                    levels.strips[level, s], levels.strips[level, s + 1], _cells_of(s, level, levels),
                    levels.start, levels.others, levels.ties, levels.ground, levels.cell, levels.share,
                    levels.inverse, levels.gain[level], slack, r[k], z[k], m[k, level], step, w[k],
                )  # fmt: skip


@njit(cache=True, nogil=True)
def v_cycle(levels, active, slack, r, z, w, m, step):  # type: ignore[no-untyped-def]
    """Approximately solve the finest coarse level for r (K, nodes); the answer is left in w.

    m is (K, levels, cells), step (cells,) scratch; channels that are not active are left alone.
    """
    last = levels.strips.shape[0] - 1
    for level in range(last + 1):
        _relax_from_zero(level, levels, active, r, z, m)
        if level < last:
            _restrict(level, levels, active, r, z, m)
    for _ in range(LAST_SWEEPS - 1):
        _relax(last, levels, active, slack, r, z, m, step, w)
        low, high = levels.strips[last, 0], levels.strips[last, -1]
        z[:, low:high] = w[:, low:high]
    for level in range(last, -1, -1):
        if level < last:
            _prolong(level, levels, active, z, w)
        _relax(level, levels, active, slack, r, z, m, step, w)
