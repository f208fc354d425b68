"""Graphs of fewer and fewer nodes: nodes joined by their strongest edges, level by level.

A graph is the matrix L + diag(pull): `pull` is what ties a node to a fixed value, the prior or an edge to a pixel that
is not in the graph. Joining nodes into one adds up their pulls and the edges that lead out of the group (the Galerkin
product for piecewise constant vectors), so that matrices of all levels have this form.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

# A node tied to a fixed value so much more strongly than to its neighbours does not move with them.
_FIXED = 4.0
# A node is joined to a neighbour only along an edge of at least this part of its strongest: others cross an edge of
# the image.
_STRONG = 0.25


class Graph(NamedTuple):
    """N nodes and their edges, in compressed rows: the edges of node i are first[i] to first[i + 1]."""

    first: np.ndarray  # (N + 1,)
    other: np.ndarray  # (edges,) the node at the other end
    weight: np.ndarray  # (edges,)
    pull: np.ndarray  # (N,)
    diagonal: np.ndarray  # (N,) pull and the weights of all edges


@njit(cache=True, nogil=True)
def lattice_graph(down, right, prior_weight, nodes, count):  # type: ignore[no-untyped-def]
    """Return the graph of the pixels that have a number in nodes (H, W); the others, -1, are fixed.

    down (H-1, W) and right (H, W-1) are edge weights, prior_weight (H, W) or (1, 1).
    """
    height, width = nodes.shape
    first, other, weight = np.zeros(count + 1, np.int64), np.empty(4 * count, np.int32), np.empty(4 * count)
    pull, diagonal = np.empty(count), np.empty(count)
    edge = 0
    for y in range(height):
        for x in range(width):
            i = nodes[y, x]
            if i < 0:
                continue
            pull[i] = prior_weight[y, x] if prior_weight.size > 1 else prior_weight[0, 0]
            total = pull[i]
            for side in range(4):
                if side == 0 and y > 0:
                    j, w = nodes[y - 1, x], np.float64(down[y - 1, x])
                elif side == 1 and x > 0:
                    j, w = nodes[y, x - 1], np.float64(right[y, x - 1])
                elif side == 2 and x < width - 1:
                    j, w = nodes[y, x + 1], np.float64(right[y, x])
                elif side == 3 and y < height - 1:
                    j, w = nodes[y + 1, x], np.float64(down[y, x])
                else:
                    continue
                total += w
                if j < 0:
                    pull[i] += w
                else:
                    other[edge], weight[edge] = j, w
                    edge += 1
            first[i + 1], diagonal[i] = edge, max(total, 1e-300)
    return Graph(first, other[:edge].copy(), weight[:edge].copy(), pull, diagonal)


@njit(cache=True, nogil=True)
def pairs(graph):  # type: ignore[no-untyped-def]
    """Join each node with the neighbour it is tied to most strongly, or with that one's group.

    Returns the number of each node's group (N,), -1 for a node that its pull holds in place, and how many groups.
    """
    count = graph.pull.size
    group = np.full(count, -2, np.int32)
    for i in range(count):
        if graph.pull[i] >= _FIXED * (graph.diagonal[i] - graph.pull[i]):
            group[i] = -1
    groups = 0
    for i in range(count):
        if group[i] != -2:
            continue
        free, strongest = -1, -1
        free_weight, strongest_weight = 0.0, 0.0
        for edge in range(graph.first[i], graph.first[i + 1]):
            j, w = graph.other[edge], graph.weight[edge]
            if group[j] != -1 and w > strongest_weight:
                strongest, strongest_weight = j, w
            if group[j] == -2 and w > free_weight:
                free, free_weight = j, w
        if free >= 0 and free_weight >= _STRONG * strongest_weight:
            group[free] = groups
        elif strongest >= 0 and group[strongest] >= 0:
            group[i] = group[strongest]
            continue
        group[i] = groups
        groups += 1
    return group, groups


@njit(cache=True, nogil=True)
def members_of(group, groups):  # type: ignore[no-untyped-def]
    """Return the nodes in the order of their groups, and where each group begins (groups + 1,)."""
    begin = np.zeros(groups + 1, np.int64)
    for i in range(group.size):
        if group[i] >= 0:
            begin[group[i] + 1] += 1
    for g in range(groups):
        begin[g + 1] += begin[g]
    place, members = begin.copy(), np.empty(begin[groups], np.int32)
    for i in range(group.size):
        if group[i] >= 0:
            members[place[group[i]]] = i
            place[group[i]] += 1
    return members, begin


@njit(cache=True, nogil=True)
def join(graph, group, groups):  # type: ignore[no-untyped-def]
    """Return the graph whose nodes are the groups."""
    members, begin = members_of(group, groups)
    first, other = np.zeros(groups + 1, np.int64), np.empty(graph.other.size, np.int32)
    weight, pull, diagonal = np.empty(graph.other.size), np.zeros(groups), np.empty(groups)
    place = np.full(groups, -1, np.int64)  # of the last edge to each group
    edge = 0
    for g in range(groups):
        total = 0.0
        for m in range(begin[g], begin[g + 1]):
            i = members[m]
            pull[g] += graph.pull[i]
            for e in range(graph.first[i], graph.first[i + 1]):
                there, w = group[graph.other[e]], graph.weight[e]
                if there < 0:
                    pull[g] += w
                elif there != g:
                    total += w
                    if place[there] >= first[g]:
                        weight[place[there]] += w
                    else:
                        place[there], other[edge], weight[edge] = edge, there, w
                        edge += 1
        first[g + 1], diagonal[g] = edge, max(total + pull[g], 1e-300)
    return Graph(first, other[:edge].copy(), weight[:edge].copy(), pull, diagonal)


@njit(cache=True, nogil=True)
def compose(group, larger):  # type: ignore[no-untyped-def]
    """Return the group of groups that each node belongs to."""
    out = np.empty(group.size, np.int32)
    for i in range(group.size):
        out[i] = larger[group[i]] if group[i] >= 0 else -1
    return out


def coarser(graph: Graph, passes: int) -> tuple[Graph, np.ndarray]:
    """Return a graph of about 2^passes times fewer nodes, and the node of it that each one belongs to, or -1."""
    group, groups = pairs(graph)
    graph = join(graph, group, groups)
    for _ in range(passes - 1):
        larger, groups = pairs(graph)
        graph = join(graph, larger, groups)
        group = compose(group, larger)
    return graph, group
