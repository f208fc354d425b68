"""Points on the edges of a source: exact for straight edges, nowhere else."""

from __future__ import annotations

import math

import numpy as np
import pytest

from graphsr.measurements.edge_points import edge_points


def half_plane(angle: float, offset: float, size: int = 16, fine: int = 32) -> np.ndarray:
    """Return (size, size) area averages of 1 where x cos + y sin > offset about the middle, 0 elsewhere."""
    places = (np.arange(size * fine) + 0.5) / fine - size / 2
    high = places[None, :] * math.cos(angle) + places[:, None] * math.sin(angle) > offset
    return high.reshape(size, fine, size, fine).mean((1, 3))


@pytest.mark.parametrize("degrees", [0, 20, 45, 70, 90, 135, 200, 300])
@pytest.mark.parametrize("offset", [0.0, 0.3, -0.45])
def test_points_lie_on_a_straight_edge(degrees: int, offset: float) -> None:
    angle = math.radians(degrees)
    normal = np.array([math.cos(angle), math.sin(angle)])
    points = edge_points(half_plane(angle, offset + 0.1)[None])
    assert len(points.weights) > 20
    distance = (points.places - 8) @ normal - offset - 0.1
    # In source pixels: normals come from 3 x 3 pixels; measured 0.05 on average, 0.2 at the most.
    assert np.average(np.abs(distance), weights=points.weights) < 0.06
    assert np.average(points.normals @ normal, weights=points.weights) > 0.98


def test_a_slope_has_no_edges() -> None:
    slope = np.add.outer(np.arange(12.0), 0.5 * np.arange(10.0))
    assert len(edge_points(slope[None]).weights) == 0


def test_a_constant_has_no_edges() -> None:
    assert len(edge_points(np.full((1, 8, 8), 3.0)).weights) == 0


def test_nothing_is_found_beside_a_hole() -> None:
    source = half_plane(0.0, 0.1)
    source[6:9] = np.nan
    rows = edge_points(source[None]).places[:, 1]
    assert len(rows) > 0
    assert not ((rows > 4) & (rows < 11)).any()


def test_a_source_of_missing_pixels_has_no_points() -> None:
    assert len(edge_points(np.full((1, 8, 8), np.nan)).weights) == 0


def test_units_do_not_matter() -> None:
    source = half_plane(0.3, 0.1)
    one, other = edge_points(source[None]), edge_points(1e4 + 500 * source[None])
    np.testing.assert_allclose(one.places, other.places, atol=1e-9)
    np.testing.assert_allclose(one.weights, other.weights, atol=1e-9)


def test_channels_are_used_together() -> None:
    one, other = half_plane(0.0, 0.1), half_plane(math.pi / 2, 0.1)
    count = [len(edge_points(np.stack(channels)).weights) for channels in ([one], [other], [one, other])]
    assert count[0] + count[1] == count[2]
