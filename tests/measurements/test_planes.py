"""Slopes between points: distances along the graph against Dijkstra's, and planes that are planes."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from graphsr.measurements.geodesic import nearest_points, neighbours
from graphsr.measurements.planes import fit_planes

SIZE = (12, 15)


def lengths(seed=0):
    rng = np.random.default_rng(seed)
    height, width = SIZE
    down, right = np.exp(2 * rng.random((height - 1, width))), np.exp(2 * rng.random((height, width - 1)))
    return down.astype(np.float32), right.astype(np.float32)


def all_distances(down, right):
    """(H * W, H * W), by SciPy."""
    pixel = np.arange(down.shape[1] * right.shape[0]).reshape(SIZE)
    one = np.r_[pixel[:-1].ravel(), pixel[:, :-1].ravel()]
    other = np.r_[pixel[1:].ravel(), pixel[:, 1:].ravel()]
    graph = coo_array((np.r_[down.ravel(), right.ravel()], (one, other)), (pixel.size, pixel.size))
    return dijkstra(graph.tocsr(), directed=False)


def test_distances_to_the_nearest_point_are_the_shortest():
    rows, columns = np.array([1, 6, 10, 11]), np.array([2, 13, 0, 9])
    down, right = lengths()
    distance, label = nearest_points(down, right, rows, columns)
    expected = all_distances(down, right)[rows * SIZE[1] + columns]
    # Single precision of sums of some twenty lengths.
    np.testing.assert_allclose(distance.ravel(), expected.min(0), rtol=1e-5)
    np.testing.assert_array_equal(label.ravel(), expected.argmin(0))


def test_neighbours_are_in_the_order_of_their_distance_from_each_point_itself_first():
    rows, columns = np.array([1, 6, 10, 11, 3]), np.array([2, 13, 0, 9, 7])
    down, right = lengths()
    distance, label = nearest_points(down, right, rows, columns)
    near, far = neighbours(down, right, distance, label, 3)
    assert near.shape == far.shape == (5, 3)
    np.testing.assert_array_equal(near[:, 0], np.arange(5))
    assert (np.diff(far, axis=1) >= 0).all()
    between = all_distances(down, right)[rows * SIZE[1] + columns][:, rows * SIZE[1] + columns]
    # The next point of all is met where the two areas touch, so its distance is exact.
    np.testing.assert_allclose(far[:, 1], np.sort(between, 1)[:, 1], rtol=1e-5)


def test_more_neighbours_than_points_are_infinitely_far():
    down, right = lengths()
    distance, label = nearest_points(down, right, np.array([3]), np.array([4]))
    _, far = neighbours(down, right, distance, label, 2)
    np.testing.assert_array_equal(far, [[0, np.inf]])


def points_of(surface, count, seed=1):
    values = np.full(surface.shape, np.nan)
    chosen = np.random.default_rng(seed).choice(surface.size, count, replace=False)
    values.flat[chosen] = surface.flat[chosen]
    return values


def test_points_of_a_plane_give_that_plane():
    y, x = np.indices((40, 50))
    surface = 3 + 0.2 * y - 0.1 * x
    planes = fit_planes(points_of(surface, 60), np.ones((39, 50)), np.ones((40, 49)))
    # Measured: 91 %; the others are near points whose neighbours lie in a row.
    assert (np.abs(planes.down - 0.2) < 0.04).mean() > 0.8
    assert (np.abs(planes.right + 0.1) < 0.02).mean() > 0.8
    assert np.abs(planes.surface - surface).mean() < 0.1 * surface.std()


def test_two_planes_stay_apart_where_the_graph_is_cut():
    y, x = np.indices((40, 50))
    surface = np.where(x < 25, 0.1 * y, 20 - 0.1 * y)
    right = np.ones((40, 49))
    right[:, 24] = 1e-4
    planes = fit_planes(points_of(surface, 80), np.ones((39, 50)), right)
    assert np.abs(planes.surface - surface).max() < 1
    assert np.abs(planes.right).max() < 0.1


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_points_give_finite_planes_through_them(count):
    values = points_of(np.full((8, 9), 5.0), count)
    planes = fit_planes(values, np.ones((7, 9)), np.ones((8, 8)))
    np.testing.assert_allclose(planes.surface, 5.0, rtol=1e-6)
