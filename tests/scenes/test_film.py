"""Films of rendered scenes: what moves, moves; what does not, only has other noise."""

from __future__ import annotations

import numpy as np

from graphsr.scenes import scene
from graphsr.scenes.film import film

SIZE = (36, 48)


def test_the_first_frame_is_the_scene():
    first, alone = next(film(7, 1, SIZE)), scene(7, SIZE)
    np.testing.assert_array_equal(first.depth, alone.depth)
    np.testing.assert_array_equal(first.guide, alone.guide)


def test_frames_of_a_still_film_differ_in_noise_alone():
    one, other = film(7, 2, SIZE)
    np.testing.assert_array_equal(one.depth, other.depth)
    difference = np.abs(one.guide.astype(int) - other.guide)
    assert 0 < difference.mean() < 8


def test_a_thing_moves_and_the_rest_stands_still():
    one, other = film(7, 2, SIZE, thing=0.1)
    changed = np.abs(one.depth - other.depth) > 0.01
    assert 0 < changed.mean() < 0.5


def test_a_camera_moves_and_all_with_it():
    one, other = film(7, 2, SIZE, camera=0.1)
    assert (np.abs(one.depth - other.depth) > 1e-4).mean() > 0.5
