"""Distances along the pixel graph from points: short inside a surface, long across its edges."""

from __future__ import annotations

import heapq

import numpy as np
from numba import njit
from numpy.typing import NDArray
from scipy.sparse import csr_array

# Distances of paths that wind are final after a few rounds; later ones would change hardly a pixel.
_MOST_ROUNDS = 8


def nearest_points(
    down: NDArray[np.float32], right: NDArray[np.float32], rows: NDArray[np.int64], columns: NDArray[np.int64]
) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return how far each pixel is from its nearest point, and which one that is.

    Args:
        down: (H-1, W) lengths of the edges between (i, j) and (i+1, j).
        right: (H, W-1) lengths of the edges between (i, j) and (i, j+1).
        rows: (N,) of the points; no two in one pixel.
        columns: (N,) of the points.

    Returns:
        Distances (H, W) and numbers of points (H, W).
    """
    size = right.shape[0], down.shape[1]
    distance = np.full(size, np.inf, np.float32)
    label = np.zeros(size, np.int64)
    distance[rows, columns] = 0
    label[rows, columns] = np.arange(len(rows))
    _spread(down, right, distance, label)
    return distance, label


@njit(cache=True, nogil=True)
def _spread(down, right, distance, label):  # type: ignore[no-untyped-def]
    """Shorten distances by those of neighbours, row by row down and up again, until none changes."""
    height, width = distance.shape
    for _ in range(_MOST_ROUNDS):
        changed = False
        for step in range(2 * height):
            y = step if step < height else 2 * height - 1 - step
            if 0 < step < height or step > height:
                before = y - 1 if step < height else y + 1
                between = down[min(y, before)]
                for x in range(width):
                    through = distance[before, x] + between[x]
                    if through < distance[y, x]:
                        distance[y, x], label[y, x], changed = through, label[before, x], True
            for x in range(1, width):
                through = distance[y, x - 1] + right[y, x - 1]
                if through < distance[y, x]:
                    distance[y, x], label[y, x], changed = through, label[y, x - 1], True
            for x in range(width - 2, -1, -1):
                through = distance[y, x + 1] + right[y, x]
                if through < distance[y, x]:
                    distance[y, x], label[y, x], changed = through, label[y, x + 1], True
        if not changed:
            break


def neighbours(
    down: NDArray[np.float32],
    right: NDArray[np.float32],
    distance: NDArray[np.float32],
    label: NDArray[np.int64],
    count: int,
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the points that are nearest to each point, itself first.

    Args:
        down: Lengths of edges, as in `nearest_points`.
        right: The same.
        distance: (H, W) from the nearest point.
        label: (H, W) the nearest point.
        count: How many to find.

    Returns:
        Numbers of points (N, count), and the distances to them (N, count), infinite where there are no more.
    """
    points = int(label.max()) + 1
    upper = np.concatenate([label[:-1].ravel(), label[:, :-1].ravel()])
    lower = np.concatenate([label[1:].ravel(), label[:, 1:].ravel()])
    across = distance[:-1] + distance[1:] + down, distance[:, :-1] + distance[:, 1:] + right
    length = np.concatenate([each.ravel() for each in across]).astype(np.float64)
    touching = upper != lower
    pair = (np.minimum(upper, lower) * points + np.maximum(upper, lower))[touching]
    order = np.lexsort((length[touching], pair))
    pair, shortest = np.unique(pair[order], return_index=True)
    graph = csr_array((length[touching][order][shortest], (pair // points, pair % points)), (points, points))
    graph = graph + graph.T
    found, far = _search(graph.indptr, graph.indices, graph.data, count)
    return found, far


@njit(cache=True, nogil=True)
def _search(first, others, lengths, count):  # type: ignore[no-untyped-def]
    """Return the `count` nearest nodes of every node of a graph in compressed rows, and their distances (Dijkstra)."""
    nodes = first.size - 1
    found = np.zeros((nodes, count), np.int64)
    distances = np.full((nodes, count), np.inf)
    for node in range(nodes):
        queue = [(0.0, node)]
        done = 0
        while len(queue) > 0 and done < count:
            distance, nearest = heapq.heappop(queue)
            if nearest in found[node, :done]:
                continue
            found[node, done], distances[node, done] = nearest, distance
            done += 1
            for k in range(first[nearest], first[nearest + 1]):
                heapq.heappush(queue, (distance + lengths[k], np.int64(others[k])))  # type: ignore[misc]
    return found, distances
