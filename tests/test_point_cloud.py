"""Points in space: the pinhole formula, which pixels are points, and the focal lengths that are guessed."""

from __future__ import annotations

import math

import numpy as np
import pytest

from graphsr.errors import InputError
from graphsr.point_cloud import depth_of_disparity, focal_from_film, guess_focal, has_point, points


def projected(cloud: np.ndarray, fx: float, fy: float, cx: float, cy: float) -> np.ndarray:
    """Where a pinhole camera sees points (N, 3): x and y in pixels."""
    x, y, z = cloud.astype(np.float64).T
    return np.stack([fx * x / z + cx, fy * y / z + cy], -1)


class TestPoints:
    def test_a_camera_sees_every_point_at_the_centre_of_its_pixel(self) -> None:
        depth = np.random.default_rng(0).uniform(0.5, 9, (5, 7)).astype(np.float32)
        cloud = points(depth, (11.0, 12.5), (3.1, 2.2))
        assert cloud.shape == (35, 3)
        assert cloud.dtype == np.float32
        rows, columns = np.mgrid[:5, :7] + 0.5
        # Measured 3e-7: single precision.
        np.testing.assert_allclose(
            projected(cloud, 11.0, 12.5, 3.1, 2.2), np.stack([columns.ravel(), rows.ravel()], -1), atol=1e-5
        )
        np.testing.assert_array_equal(cloud[:, 2], depth.ravel())

    def test_the_axis_passes_through_the_middle_unless_said(self) -> None:
        cloud = points(np.ones((4, 6)), 10)
        np.testing.assert_allclose(cloud.mean(0), [0, 0, 1], atol=1e-12)

    def test_x_points_right_and_y_down(self) -> None:
        cloud = points(np.ones((2, 2)), 1).reshape(2, 2, 3)
        assert (cloud[:, 1, 0] > cloud[:, 0, 0]).all()
        assert (cloud[1, :, 1] > cloud[0, :, 1]).all()

    def test_pixels_without_a_depth_are_left_out_and_the_others_stay_in_order(self) -> None:
        depth = np.array([[1.0, np.nan, 3.0], [0.0, -2.0, np.inf]])
        assert points(depth, 5)[:, 2].tolist() == [1, 3]
        np.testing.assert_array_equal(depth[has_point(depth)], [1, 3])

    def test_whole_millimetres_are_depths_too(self) -> None:
        cloud = points(np.array([[1500, 0]], np.uint16), 2, (0, 0))
        assert cloud.tolist() == [[375, 375, 1500]]

    def test_a_depth_in_double_precision_keeps_it(self) -> None:
        assert points(np.array([[1e9 + 0.25]]), 1)[0, 2] == 1e9 + 0.25

    @pytest.mark.parametrize("focal", [0, -3, math.nan, math.inf, (5, 0)])
    def test_a_focal_length_is_positive(self, focal: float) -> None:
        with pytest.raises(InputError, match="focal length: must be positive"):
            points(np.ones((2, 2)), focal)

    def test_a_map_has_two_axes(self) -> None:
        with pytest.raises(InputError, match=r"depth: must be \(H, W\)"):
            points(np.ones((2, 2, 3)), 1)


class TestDisparity:
    def test_depth_is_focal_length_times_baseline_over_disparity(self) -> None:
        disparity = np.array([[4.0, 8.0, 0.0, np.nan]], np.float32)
        depth = depth_of_disparity(disparity, 800, 0.1)
        np.testing.assert_allclose(depth, [[20, 10, np.inf, np.nan]], rtol=1e-6)
        assert len(points(depth, 800)) == 2

    @pytest.mark.parametrize("baseline", [0, -1, math.nan])
    def test_cameras_are_apart(self, baseline: float) -> None:
        with pytest.raises(InputError, match="baseline: must be positive"):
            depth_of_disparity(np.ones((2, 2)), 1, baseline)


class TestFocalLengths:
    def test_a_guess_does_not_depend_on_how_the_image_is_turned(self) -> None:
        assert guess_focal((480, 640)) == guess_focal((640, 480)) == 512

    def test_film_36_mm_wide_behind_a_lens_of_36_mm_is_one_width_away(self) -> None:
        assert focal_from_film(36, (2000, 3000)) == pytest.approx(3000)
