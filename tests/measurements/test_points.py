"""Points become a map: which pixel they count for, how several in one are averaged, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest

from graphsr import InputError
from graphsr.measurements.points import point_map

SIZE = (4, 6)


def test_a_point_counts_for_the_pixel_it_lies_in():
    values, confidence = point_map([(0.5, 0.5, 7.0), (5.9, 2.1, 8.0), (6.0, 4.0, 9.0)], SIZE)
    expected = np.full(SIZE, np.nan)
    expected[0, 0], expected[2, 5], expected[3, 5] = 7, 8, 9  # the far border belongs to the last pixel
    np.testing.assert_array_equal(values, expected)
    np.testing.assert_array_equal(confidence, np.isfinite(expected))


def test_points_in_one_pixel_are_averaged_by_confidence():
    values, confidence = point_map([(1.2, 1.2, 2.0, 0.3), (1.8, 1.9, 6.0, 0.1)], SIZE)
    assert values[1, 1] == pytest.approx(3.0)
    assert confidence[1, 1] == pytest.approx(0.4)
    assert np.isfinite(values).sum() == 1


def test_small_differences_of_large_values_are_kept():
    values, _ = point_map([(1, 1, 1e9 + 1), (1.5, 1.5, 1e9 + 3)], SIZE)
    assert values[1, 1] == 1e9 + 2


def test_confidence_0_leaves_a_point_out():
    values, confidence = point_map([(1, 1, 2.0), (3, 3, 4.0)], SIZE, confidence=[0, 0.5])
    assert np.isnan(values[1, 1])
    assert (values[3, 3], confidence[3, 3]) == (4.0, 0.5)


@pytest.mark.parametrize("confidence", [0.25, np.full(SIZE, 0.25)])
def test_a_map_of_the_size_of_the_guide_is_taken_as_it_is(confidence):
    given = np.full(SIZE, np.nan)
    given[2, 3] = 5
    values, weights = point_map(given, SIZE, confidence)
    np.testing.assert_array_equal(values, given)
    assert weights[2, 3] == 0.25
    assert weights.sum() == 0.25


def test_a_map_as_wide_as_a_row_is_still_a_map():
    given = np.ones((5, 3))
    values, _ = point_map(given, (5, 3))
    np.testing.assert_array_equal(values, given)


@pytest.mark.parametrize(
    ("points", "message"),
    [
        (np.ones((5, 2)), "have 2 columns; each row must be x, y, value"),
        (np.ones((5, 7)), r"must be \(N, 3\).* a map of the guide's size \(4, 6\), not \(5, 7\)"),
        (np.ones(3), r"must be \(N, 3\)"),
        (np.empty((0, 3)), "there is none; at least one is needed"),
        ([(1, 1, 1), (1, 1, np.nan)], r"1 of 2 hold NaN or infinity, the first is points\[1\]"),
        ([(7, 1, 1), (1, 1, 1)], r"1 of 2 lie outside .* points\[0\] at x = 7, y = 1; x must be from 0 to 6 and y fr"),
        ([(1, 5.5, 1)], r"are the two swapped\?"),
        ([("a", "b", "c")], "must hold real numbers"),
        ([(1, 1, 1), (1, 1)], "are all its rows of the same length"),
        (np.full(SIZE, np.nan), "there is none"),
        (np.full(SIZE, np.inf), "infinity"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(points, message):
    with pytest.raises(InputError, match=message) as error:
        point_map(points, SIZE)
    assert str(error.value).startswith("points: ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("points", "confidence", "message"),
    [
        (np.ones((5, 4)), 1.0, "fourth column"),
        (np.ones((5, 3)), np.ones(4), r"one for each point, \(5,\), not \(4,\)"),
        (np.ones((5, 3)), -1.0, "between 0 .* and 1, but holds -1"),
        (np.ones((5, 3)), 2.0, "between 0 .* and 1, but holds 2"),
        (np.ones((5, 3)), np.nan, "but holds nan"),
        (np.ones((5, 3)), "high", "real numbers"),
        (np.ones((5, 3)), 0.0, "above 0"),
    ],
)
def test_wrong_confidences_are_refused(points, confidence, message):
    with pytest.raises(InputError, match=message):
        point_map(points, SIZE, confidence)
