"""Positions of source pixels under guide pixels, by two geotransforms."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphsr import InputError
from graphsr.raster.grid import Box, Grid

steps = st.one_of(st.integers(1, 9).map(float), st.floats(1.0, 9.0))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(step=steps, origin=st.floats(-20.0, 20.0), begin=st.integers(0, 40), length=st.integers(2, 40))
def test_the_source_pixels_of_any_window_cover_it_and_show_at_least_a_pixel(step, origin, begin, length):
    grid = Grid((100, 100), (60, 60), (origin, origin), (step, step))
    box = Box(begin, begin, begin + length, begin + length)
    source_box = grid.source_box(box)
    sampling = grid.sampling(box, source_box)  # refuses what does not cover
    assert sampling.source_size == source_box.size
    shares = grid.visible_shares(box, source_box)
    assert shares.min() * step * step > 0
    if step >= 2 and min(source_box.size) > 1:
        # The kernels need a pixel that a source pixel has to itself.
        assert not sampling.couples_cells


def test_what_is_rounding_in_two_geotransforms_is_no_shift():
    grid = Grid.placed((1000, 1000), (125, 125), (3e-5, -1.0002), (8.0000001, 7.9999999))
    assert grid.step == (8.0, 8.0)
    assert grid.origin == (0.0, -1.0)


def test_a_pixel_belongs_to_the_source_pixel_under_its_centre():
    grid = Grid((10, 10), (5, 5), (-0.6, 0.0), (2.5, 2.0))
    rows, columns = grid.source_indices(Box(0, 0, 5, 5))
    assert rows.tolist() == [0, 0, 1, 1, 2]
    assert columns.tolist() == [0, 0, 1, 1, 2]


def test_a_source_that_is_finer_than_the_guide_is_refused():
    with pytest.raises(InputError, match=r"0\.8 x 0\.5 guide pixels, but the guide must be the finer one"):
        Grid((10, 10), (30, 30), (0.0, 0.0), (0.5, 0.8))


def test_rasters_that_do_not_overlap_are_refused():
    with pytest.raises(InputError, match="do not overlap"):
        Grid((10, 10), (5, 5), (100.0, 0.0), (2.0, 2.0))


def test_a_box_is_cut_out_of_a_larger_one():
    array = np.arange(36).reshape(6, 6)
    assert array[Box(3, 4, 5, 6).slices(Box(1, 1, 7, 7))].tolist() == [[15, 16], [21, 22]]
