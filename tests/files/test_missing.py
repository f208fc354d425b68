"""Which source pixels count as missing, and when zeros look like holes."""

from __future__ import annotations

import numpy as np
import pytest

from graphsr.files import mark_missing, suspected_missing


def kinect_depth(hole_share: float) -> np.ndarray:
    rng = np.random.default_rng(1)
    depth = rng.integers(800, 4000, (60, 80)).astype(np.uint16)
    depth[rng.random(depth.shape) < hole_share] = 0
    return depth


def test_the_missing_value_becomes_nan() -> None:
    values, holes = mark_missing(np.array([[0, 5], [7, 0]], np.uint16), 0)
    assert values.dtype == np.float32
    np.testing.assert_array_equal(values, [[np.nan, 5], [7, np.nan]])
    np.testing.assert_array_equal(holes, [[True, False], [False, True]])


def test_without_a_missing_value_only_what_is_not_finite_is_missing() -> None:
    values, holes = mark_missing(np.array([[0.0, np.nan], [np.inf, 2.0]], np.float32), None)
    np.testing.assert_array_equal(values, [[0, np.nan], [np.nan, 2]])
    assert holes.sum() == 2


def test_nan_as_the_missing_value_changes_nothing() -> None:
    values, _ = mark_missing(np.array([[0.0, np.nan]], np.float32), float("nan"))
    np.testing.assert_array_equal(values, [[0, np.nan]])


@pytest.mark.parametrize("typed", [-9999.1, -3.4028234663852886e38, -3.4028235e38])
def test_a_decimal_meets_what_the_files_type_made_of_it(typed: float) -> None:
    stored = np.array([[typed, 1.0]]).astype(np.float32)
    assert mark_missing(stored, typed)[1].tolist() == [[True, False]]


def test_wide_integers_keep_their_precision() -> None:
    values, _ = mark_missing(np.array([[2**31 - 1, 2**31 - 2]], np.int32), None)
    assert values[0, 0] - values[0, 1] == 1


@pytest.mark.parametrize("dtype", [np.uint16, np.float32])
def test_zeros_that_stand_apart_look_like_holes(dtype: type) -> None:
    assert suspected_missing(kinect_depth(0.1).astype(dtype)) == pytest.approx(0.1, abs=0.02)


def test_pixels_that_are_marked_already_do_not_hide_zeros() -> None:
    depth = kinect_depth(0.1).astype(np.float32)
    depth[:10] = np.nan
    assert suspected_missing(depth) > 0.05


@pytest.mark.parametrize(
    "array",
    [
        kinect_depth(0.0),
        kinect_depth(0.1) - kinect_depth(0.1).mean() * (kinect_depth(0.1) > 0),  # of both signs
        np.maximum(kinect_depth(0.1).astype(np.float32), 0)[..., None].repeat(3, 2),  # features
        np.zeros((4, 4), np.uint16),
        np.eye(8, dtype=np.uint8),  # a mask
        np.arange(256, dtype=np.uint8).repeat(10).reshape(40, 64),  # a picture with dark parts
    ],
)
def test_other_zeros_do_not(array: np.ndarray) -> None:
    assert suspected_missing(array) == 0.0
