"""Turning a guide to the axes of its source, and targets back."""

from __future__ import annotations

import math

import numpy as np
import pytest

from graphsr.measurements.rotation import RotatedFrame

ANGLE = math.radians(3.0)


def test_points_are_where_the_image_shows_them() -> None:
    frame = RotatedFrame((60, 80), ANGLE)
    image = np.zeros((60, 80, 1))
    image[20, 50] = 1.0
    seen = frame.rotated(image)[..., 0]
    assert seen.shape == frame.frame_size
    rows, columns = np.indices(seen.shape) + 0.5
    centre = np.array([(columns * seen).sum(), (rows * seen).sum()]) / seen.sum()
    # A map to the pixel's centre in the image becomes one to the same place in the frame.
    place = frame.matrix(np.array([[1.0, 0.0, 50.5], [0.0, 1.0, 20.5]]))[:, 2]
    np.testing.assert_allclose(centre, place, atol=0.1)


def test_a_rotated_map_lies_along_the_axes_of_the_frame() -> None:
    c, s = 4 * math.cos(ANGLE), 4 * math.sin(ANGLE)
    matrix = RotatedFrame((60, 80), ANGLE).matrix(np.array([[c, -s, 1.0], [s, c, 2.0]]))
    np.testing.assert_allclose(matrix[:, :2], [[4, 0], [0, 4]], atol=1e-12)


def test_the_frame_holds_the_whole_image() -> None:
    frame = RotatedFrame((60, 80), ANGLE)
    y, x = np.indices((60, 80))
    image = np.stack([x, y], 2).astype(float)  # linear, so that interpolation is exact
    np.testing.assert_allclose(frame.rotated_back(frame.rotated(image))[3:-3, 3:-3], image[3:-3, 3:-3], atol=1e-3)


@pytest.mark.parametrize("size", [(1, 1), (5, 300)])
def test_without_a_rotation_nothing_changes(size: tuple[int, int]) -> None:
    frame = RotatedFrame(size, 0.0)
    assert frame.frame_size == size
    image = np.random.default_rng(0).random((*size, 2))
    np.testing.assert_allclose(frame.rotated(image), image)
