"""Coarsening a graph by its strong ties: two rounds of pairing make aggregates of up to four nodes.

What makes this graph unlike those of textbook multigrid is D: every source cell fixes the mean of its pixels.
So aggregates never mix cells (a coarse node lies in one cell and D stays one weight a node), and a pair is made
only when the tie is strong for *both* partners. A pixel held by weak ties alone has to stay a node of its own:
it is the cheapest place to put what the cell's mean demands, and merged with a firmly held neighbour it could
not move. For the same reason the second round judges a pair by the strongest tie inside it.

Cells are grouped into strips, the unit of parallel work; the numbering keeps strips contiguous at every level.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, prange

# A tie is strong when it is at least this part of the strongest tie of either partner (measured: docs/solver.md).
STRONG = 0.25
# Coarsening that keeps more than this part of the nodes is not worth a level.
STALLED = 0.8
_MEMBERS = 4


@njit(inline="always")
def _neighbours(node, width, down, right, start, others, ties, out_node, out_tie, count):  # type: ignore[no-untyped-def]
    """Append the neighbours of a node to the buffers from `count` on; a lattice if width > 0, else a CSR graph."""
    if width > 0:
        row = node // width
        column = node - row * width
        if row > 0:
            out_node[count] = node - width
            out_tie[count] = down[node - width]
            count += 1
        if column > 0:
            out_node[count] = node - 1
            out_tie[count] = right[node - row - 1]
            count += 1
        if column + 1 < width:
            out_node[count] = node + 1
            out_tie[count] = right[node - row]
            count += 1
        if node < down.size:
            out_node[count] = node + width
            out_tie[count] = down[node]
            count += 1
    else:
        for edge in range(start[node], start[node + 1]):
            out_node[count] = others[edge]
            out_tie[count] = ties[edge]
            count += 1
    return count


@njit(cache=True, nogil=True, parallel=True)
def _stiffness(strips, width, down, right, start, others, ties, load, stiff, degree):  # type: ignore[no-untyped-def]
    """The strongest tie of each node (or what else holds it), and the most neighbours a node of a strip has."""
    for s in prange(strips.size - 1):
        most = 4
        if width == 0:
            for node in range(strips[s], strips[s + 1]):
                most = max(most, start[node + 1] - start[node])
        degree[s] = most
        near = np.empty(most, np.int64)
        tie = np.empty(most, stiff.dtype)
        for node in range(strips[s], strips[s + 1]):
            count = _neighbours(node, width, down, right, start, others, ties, near, tie, 0)
            best = load[node] if load.size > 0 else stiff.dtype.type(0)
            for e in range(count):
                best = max(best, tie[e])
            stiff[node] = best


@njit(cache=True, nogil=True)
def _pair_up(low, high, width, down, right, start, others, ties, cell, mixed, stiff, mate, near, tie):  # type: ignore[no-untyped-def]
    for node in range(low, high):
        if mate[node] >= 0:
            continue
        count = _neighbours(node, width, down, right, start, others, ties, near, tie, 0)
        best = -1
        best_tie = stiff.dtype.type(0)
        for e in range(count):
            other = near[e]
            if other < low or other >= high or mate[other] >= 0 or tie[e] <= best_tie:
                continue
            if not mixed and cell[other] != cell[node]:
                continue
            if tie[e] >= STRONG * max(stiff[node], stiff[other]):
                best = other
                best_tie = tie[e]
        if best >= 0:
            mate[node] = best
            mate[best] = node
        else:
            mate[node] = node


@njit(cache=True, nogil=True)
def _pair_pairs(  # type: ignore[no-untyped-def]
    low, high, width, down, right, start, others, ties, cell, mixed, stiff, mate, parent, members, near, tie
):
    """Join pairs to aggregates; returns how many. members (n, 4) is filled from row `low` on, -1 where empty."""
    made = 0
    pair = np.empty(near.size, np.int64)
    total = np.empty(near.size, stiff.dtype)
    for node in range(low, high):
        if parent[node] >= 0:
            continue
        partner = mate[node]
        hold = max(stiff[node], stiff[partner])
        count = _neighbours(node, width, down, right, start, others, ties, near, tie, 0)
        if partner != node:
            count = _neighbours(partner, width, down, right, start, others, ties, near, tie, count)
        found = 0
        for e in range(count):
            other = near[e]
            if other < low or other >= high or parent[other] >= 0 or other == node or other == partner:
                continue
            if not mixed and cell[other] != cell[node]:
                continue
            leader = min(other, mate[other])
            place = 0
            while place < found and pair[place] != leader:
                place += 1
            if place == found:
                pair[found] = leader
                total[found] = 0
                found += 1
            total[place] += tie[e]
        best = -1
        best_tie = stiff.dtype.type(0)
        for place in range(found):
            leader = pair[place]
            other_hold = max(stiff[leader], stiff[mate[leader]])
            if total[place] > best_tie and total[place] >= STRONG * max(hold, other_hold):
                best = leader
                best_tie = total[place]
        row = low + made
        members[row, 0] = node
        members[row, 1] = partner if partner != node else -1
        members[row, 2] = best
        members[row, 3] = mate[best] if best >= 0 and mate[best] != best else -1
        for m in range(_MEMBERS):
            if members[row, m] >= 0:
                parent[members[row, m]] = made
        made += 1
    return made


@njit(cache=True, nogil=True, parallel=True)
def _aggregate(  # type: ignore[no-untyped-def]
    strips, width, down, right, start, others, ties, cell, mixed, stiff, degree, mate, parent, members, made
):
    for s in prange(strips.size - 1):
        low, high = strips[s], strips[s + 1]
        near = np.empty(2 * degree[s], np.int64)
        tie = np.empty(2 * degree[s], stiff.dtype)
        _pair_up(low, high, width, down, right, start, others, ties, cell, mixed, stiff, mate, near, tie)
        made[s] = _pair_pairs(
            low,
            high,
            width,
            down,
            right,
            start,
            others,
            ties,
            cell,
            mixed,
            stiff,
            mate,
            parent,
            members,
            near,
            tie,
        )


@njit(cache=True, nogil=True, parallel=True)
def _number(strips, new_strips, parent):  # type: ignore[no-untyped-def]
    """Turn numbers within a strip into numbers within the level."""
    for s in prange(strips.size - 1):
        for node in range(strips[s], strips[s + 1]):
            parent[node] += new_strips[s]


@njit(cache=True, nogil=True, parallel=True)
def _coarse_edges(  # type: ignore[no-untyped-def]
    strips,
    new_strips,
    width,
    down,
    right,
    start,
    others,
    ties,
    degree,
    parent,
    members,
    new_start,
    new_others,
    new_ties,
):
    """Sum the ties between aggregates. With empty `new_others` only the neighbours are counted into new_start."""
    count_only = new_others.size == 0
    for s in prange(strips.size - 1):
        near = np.empty(_MEMBERS * degree[s], np.int64)
        tie = np.empty(_MEMBERS * degree[s], ties.dtype)
        base = new_strips[max(s - 1, 0)]
        seen = np.full(new_strips[min(s + 2, strips.size - 1)] - base, -1, np.int64)
        for made in range(new_strips[s + 1] - new_strips[s]):
            new = new_strips[s] + made
            count = 0
            for m in range(_MEMBERS):
                if members[strips[s] + made, m] >= 0:
                    count = _neighbours(
                        members[strips[s] + made, m],
                        width,
                        down,
                        right,
                        start,
                        others,
                        ties,
                        near,
                        tie,
                        count,
                    )
            first = 0 if count_only else new_start[new]
            place = first
            for e in range(count):
                other = parent[near[e]]
                if other == new:
                    continue
                # `seen` is never cleared: a place before `first` belongs to an earlier aggregate.
                known = seen[other - base]
                if count_only:
                    if known != new:
                        seen[other - base] = new
                        place += 1
                elif known >= first:
                    new_ties[known] += tie[e]
                else:
                    seen[other - base] = place
                    new_others[place] = other
                    new_ties[place] = tie[e]
                    place += 1
            if count_only:
                new_start[new + 1] = place


@njit(cache=True, nogil=True)
def _gather(members, strips, new_strips, values, out):  # type: ignore[no-untyped-def]
    """Sum a value of the nodes over each aggregate."""
    for s in range(strips.size - 1):
        for made in range(new_strips[s + 1] - new_strips[s]):
            total = values.dtype.type(0)
            for m in range(_MEMBERS):
                node = members[strips[s] + made, m]
                if node >= 0:
                    total += values[node]
            out[new_strips[s] + made] = total


@dataclass(frozen=True)
class Graph:
    """One level. The lattice has `width` > 0 and its ties in down and right; coarser levels are CSR graphs."""

    width: int
    down: np.ndarray
    right: np.ndarray
    start: np.ndarray
    others: np.ndarray
    ties: np.ndarray
    strips: np.ndarray  # (S + 1,) first node of each strip
    cell: np.ndarray  # (n,) the source cell a node lies in
    share: np.ndarray  # (n,) its weight in the mean of that cell; empty once cells are mixed
    ground: np.ndarray  # (n,) what ties it to a fixed value: the prior, and D where cells are mixed

    @property
    def nodes(self) -> int:
        return int(self.strips[-1])


def coarsen(graph: Graph, mixed: bool, load: np.ndarray) -> tuple[Graph, np.ndarray] | None:
    """The next coarser graph and the parent of each node; None when too few nodes can be joined.

    `mixed` lets aggregates cross cells. `load` (n,) is what D then holds each node with, as if it were alone.
    """
    n, strips = graph.nodes, graph.strips
    dtype = graph.ground.dtype
    lattice = (graph.width, graph.down, graph.right, graph.start, graph.others, graph.ties)
    stiff = np.empty(n, dtype)
    degree = np.empty(strips.size - 1, np.int64)
    _stiffness(strips, *lattice, load, stiff, degree)
    mate = np.full(n, -1, np.int32)
    parent = np.full(n, -1, np.int32)
    members = np.empty((n, _MEMBERS), np.int32)
    made = np.empty(strips.size - 1, np.int64)
    _aggregate(strips, *lattice, graph.cell, mixed, stiff, degree, mate, parent, members, made)
    del stiff, mate
    if made.sum() > STALLED * n:
        return None
    new_strips = np.concatenate([[0], np.cumsum(made)])
    _number(strips, new_strips, parent)

    count = int(new_strips[-1])
    start = np.zeros(count + 1, np.int64)
    none, no_ties = np.empty(0, np.int32), np.empty(0, dtype)
    _coarse_edges(strips, new_strips, *lattice, degree, parent, members, start, none, no_ties)
    np.cumsum(start, out=start)
    others, ties = np.empty(start[-1], np.int32), np.empty(start[-1], dtype)
    _coarse_edges(strips, new_strips, *lattice, degree, parent, members, start, others, ties)

    start = start.astype(np.int32) if start[-1] <= np.iinfo(np.int32).max else start

    ground = np.empty(count, dtype)
    _gather(members, strips, new_strips, graph.ground + load if mixed and load.size else graph.ground, ground)
    share = np.empty(0 if mixed else count, dtype)
    if not mixed:
        _gather(members, strips, new_strips, graph.share, share)
    cell = np.empty(count, np.int32)
    cell[parent] = graph.cell
    nothing = np.empty(0, dtype)
    return Graph(0, nothing, nothing, start, others, ties, new_strips, cell, share, ground), parent
