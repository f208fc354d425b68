"""Slopes of surfaces that are known at points: a plane through each point and those near it on the graph.

A graph alone prefers constant surfaces: between points it makes steps of what is a slope, with a spike at every point.
With the slopes as offsets it prefers planes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from graphsr.checked_cache import check_caches
from graphsr.measurements import geodesic
from graphsr.measurements.geodesic import nearest_points, neighbours

check_caches(geodesic)

# Found on crops of NYUv2 and GSO (docs/evidence/sparse-points.md); none of them is delicate.
_LENGTH_POWER = 0.9  # the length of an edge is its weight to the power of minus this
_NEIGHBOURS = 10
_REACH = 1.0  # at how many times the usual distance to the next point a neighbour counts 1 / e
_RIDGE = 0.2  # draws slopes that explain nothing towards 0, as so many points at the usual distance would
_FIRST_UNEXPLAINED = 0.1  # what the first fit takes for it
_LEAST_UNEXPLAINED = 1e-3  # points in a row say nothing of the slope across it
_ROUNDS = 3  # of fits, each counting less those neighbours that the one before did not meet
_LEAST_WEIGHT = 1e-6  # of a neighbour, however far, where a point is predicted by its neighbours alone
_TYPICAL = 1.5  # times the median difference: where a neighbour counts half


@dataclass(frozen=True, eq=False)
class Planes:
    """A plane for every pixel, that of the nearest point.

    Attributes:
        surface: (H, W) its value there.
        down: (H, W) how much it rises from one row to the next.
        right: (H, W) how much it rises from one column to the next.
        nearest: (H, W) the pixel of that point, as an index into the flat image.
        distance: (H, W) the distance to it along the graph; in pixels, where edges are strong.
    """

    surface: NDArray[np.float32]
    down: NDArray[np.float32]
    right: NDArray[np.float32]
    nearest: NDArray[np.int64]
    distance: NDArray[np.float32]


def fit_planes(values: NDArray[np.floating], down: NDArray[np.floating], right: NDArray[np.floating]) -> Planes:
    """Fit a plane to each point and its neighbours on the graph.

    Args:
        values: (H, W), NaN where there is no point; at least one is known.
        down: (H-1, W) edge weights, positive.
        right: (H, W-1) edge weights, positive.

    Returns:
        The planes.
    """
    rows, columns = np.nonzero(np.isfinite(values))
    long_down, long_right = _lengths(down, right)
    distance, label = nearest_points(long_down, long_right, rows, columns)
    near, far = neighbours(long_down, long_right, distance, label, min(_NEIGHBOURS + 1, len(rows)))
    points = np.stack([rows, columns, values[rows, columns]], 1).astype(np.float64)
    slopes, heights = _fit(points, near, _weights(far), values.size / len(rows))
    y, x = np.ogrid[: values.shape[0], : values.shape[1]]
    per_row, per_column = slopes[label, 0], slopes[label, 1]
    surface = heights[label] + per_row * (y - rows[label]) + per_column * (x - columns[label])
    return Planes(
        surface=surface.astype(np.float32),
        down=per_row.astype(np.float32),
        right=per_column.astype(np.float32),
        nearest=(rows * values.shape[1] + columns)[label],
        distance=distance,
    )


@dataclass(frozen=True, eq=False)
class Predictions:
    """What the neighbours of points say of them; rows and columns are those of the points.

    Attributes:
        rows: (N,).
        columns: (N,).
        errors: (N,) value minus prediction.
        usual: (N,) the median size of the errors of the neighbours.
        variance: (N,) of the prediction, in that of the error of a single neighbour: large where none is near.
    """

    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    errors: NDArray[np.float64]
    usual: NDArray[np.float64]
    variance: NDArray[np.float64]


def predict_points(
    values: NDArray[np.floating], down: NDArray[np.floating], right: NDArray[np.floating], given: NDArray[np.bool_]
) -> Predictions:
    """Predict each point by a plane through its neighbours on the graph, without the point itself.

    Args:
        values: (H, W), NaN where there is no point; at least two are known.
        down: (H-1, W) edge weights, positive.
        right: (H, W-1) edge weights, positive.
        given: (H, W) which points predict the others; they are predicted all.
    """
    rows, columns = np.nonzero(np.isfinite(values))
    long_down, long_right = _lengths(down, right)
    distance, label = nearest_points(long_down, long_right, rows, columns)
    near, far = neighbours(long_down, long_right, distance, label, min(_NEIGHBOURS + 1, len(rows)))
    points = np.stack([rows, columns, values[rows, columns]], 1).astype(np.float64)
    used = given[rows, columns][near]
    used[:, 0] = False
    weights = np.maximum(_weights(far), _LEAST_WEIGHT) * used
    _, heights = _fit(points, near, weights, values.size / len(rows))
    errors = points[:, 2] - heights
    around = np.where(used, np.abs(errors)[near], np.nan)
    none = ~used.any(1)
    around[none] = 0.0
    return Predictions(
        rows=rows,
        columns=columns,
        errors=np.where(none, 0.0, errors),
        usual=np.nanmedian(around, 1),
        variance=1 / np.maximum(weights.sum(1), _LEAST_WEIGHT),
    )


def _lengths(
    down: NDArray[np.floating], right: NDArray[np.floating]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the lengths of edges, from 1 for the strongest."""
    strongest = max(float(each.max(initial=0.0)) for each in (down, right)) or 1.0
    long_down, long_right = ((each / strongest) ** -_LENGTH_POWER for each in (down, right))
    return long_down.astype(np.float32), long_right.astype(np.float32)


def _weights(distances: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return how much neighbours at distances (N, K) count; the first is the point itself."""
    usual = np.median(distances[:, 1]) if distances.shape[1] > 1 else 1.0
    return np.asarray(np.exp(-distances / (_REACH * usual)))


def _fit(
    points: NDArray[np.float64], near: NDArray[np.int64], weights: NDArray[np.float64], area: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return slopes (N, 2) and values (N,) of the planes through points (N, 3), `area` pixels a point."""
    step = points[near] - points[:, None]
    design = np.concatenate([step[..., :2], np.ones_like(step[..., :1])], 2)  # (N, K, 3)
    ridge = _RIDGE * area * np.diag([1.0, 1.0, 0.0])
    counted, unexplained = weights, np.full(len(points), _FIRST_UNEXPLAINED)
    for _ in range(_ROUNDS):
        weighted = counted[..., None] * design
        matrix = np.einsum("nki,nkj->nij", weighted, design) + unexplained[:, None, None] * ridge
        plane = np.linalg.solve(matrix, np.einsum("nki,nk->ni", weighted, step[..., 2])[..., None])[..., 0]
        missed = np.abs(step[..., 2] - np.einsum("nki,ni->nk", design, plane))
        typical = _TYPICAL * np.median(missed)
        if not typical > 0:
            break
        counted = weights / (1 + (missed / typical) ** 2)
        unexplained = _unexplained(step[..., 2], missed, counted)
    return plane[:, :2], points[:, 2] + plane[:, 2]


def _unexplained(
    values: NDArray[np.float64], missed: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (N,) which part of the variance of values (N, K) a plane leaves."""
    total = weights.sum(1)
    mean = (weights * values).sum(1) / total
    variance = (weights * (values - mean[:, None]) ** 2).sum(1)
    left = (weights * missed**2).sum(1)
    part = np.divide(left, variance, out=np.ones_like(left), where=variance > 0)
    return np.asarray(np.clip(part, _LEAST_UNEXPLAINED, 1))
