"""Lines across the edges of a source: they tell where the guide changes, and a dilation apart from the shift."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphsr.measurements.edge_points import GROUPS, EdgePoints, edge_points
from graphsr.measurements.edge_profiles import EdgeProfiles
from graphsr.sampling import Sampling

SIZE, FACTOR = (96, 128), 4


def a_disc(radius: float, x: float, y: float) -> np.ndarray:
    """Return (H, W): 1 in a disc about x, y, and 0 outside, with pixels between at its rim."""
    row, column = np.indices(SIZE) + 0.5
    return np.clip(radius + 0.5 - np.hypot(column - x, row - y), 0, 1)


def points_of_a_disc() -> EdgePoints:
    depth = torch.from_numpy(a_disc(30.0, 62.0, 47.0))
    return edge_points(Sampling(SIZE, (SIZE[0] // FACTOR, SIZE[1] // FACTOR))(depth).numpy()[None])


def the_lines(radius: float) -> EdgeProfiles:
    """Return lines across a disc of 30 pixels in the source; in the guide it has another radius."""
    guide = 200 * a_disc(radius, 62.0, 47.0)[..., None] + np.random.default_rng(0).normal(0, 3, (*SIZE, 3))
    return EdgeProfiles(guide, points_of_a_disc(), np.array([[FACTOR, 0.0, 0.0], [0.0, FACTOR, 0.0]]), 6.0)


def best(lines: EdgeProfiles) -> tuple[float, float, float]:
    """Return the shift and the dilation of the highest score, to a quarter of a pixel."""
    steps = np.arange(-2, 2.1, 0.25)
    scores = {
        (x, y, d): lines.by_group(np.array([[FACTOR, 0, x], [0, FACTOR, y]]), d).sum()
        for x in steps
        for y in steps
        for d in steps
    }
    return max(scores, key=scores.__getitem__)


def test_an_aligned_disc_has_its_best_score_where_it_is() -> None:
    assert best(the_lines(30.0)) == pytest.approx((0, 0, 0), abs=0.3)


def test_a_larger_disc_is_a_dilation_and_no_shift() -> None:
    x, y, dilation = best(the_lines(31.0))
    assert (x, y) == pytest.approx((0, 0), abs=0.3)
    # Towards the low side, outwards, as far as its price lets it.
    assert -1.3 < dilation < -0.4


def test_groups_add_up_and_lines_outside_the_guide_count_nothing() -> None:
    lines = the_lines(30.0)
    matrix = np.array([[FACTOR, 0.0, 0.0], [0.0, FACTOR, 0.0]])
    assert lines.by_group(matrix, 0.0).shape == (GROUPS,)
    assert lines.by_group(matrix, 0.0).sum() > 0
    far = np.array([[FACTOR, 0.0, 1000.0], [0.0, FACTOR, 1000.0]])
    beyond = EdgeProfiles(np.zeros((*SIZE, 3)), points_of_a_disc(), far, 6.0)
    np.testing.assert_array_equal(beyond.by_group(far, 0.0), 0)
