"""Cutting a raster: every pixel in one tile, borders where source pixels end, a halo that follows from the model."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import graphsr
from graphsr import Architecture, GraphSR, InputError
from graphsr.models.window import Locality
from graphsr.raster.grid import Box, Grid
from graphsr.raster.tile import locality_of
from graphsr.raster.tiling import cut_tiles, decay_length, default_halo, default_side

COLOUR = Locality(edge_weight=9e-4, floor=2e-3)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    size=st.tuples(st.integers(1, 90), st.integers(1, 90)),
    step=st.floats(1.0, 9.0),
    origin=st.floats(-9.0, 0.0),
    side=st.integers(1, 100),
    halo=st.integers(0, 30),
    multiple=st.sampled_from([1, 32]),
)
def test_every_pixel_belongs_to_one_tile_and_every_window_has_its_halo(size, step, origin, side, halo, multiple):
    grid = Grid(size, (95, 95), (origin, origin), (step, step))
    owners = np.zeros(size, int)
    for tile in cut_tiles(grid, side, (halo, halo), multiple):
        owners[tile.core.slices()] += 1
        core, window = tile.core, tile.window
        grown = Box(core.top - halo, core.left - halo, core.bottom + halo, core.right + halo).clipped(size)
        assert window & grown == grown
        assert window.top % multiple == 0
        assert window.left % multiple == 0
    assert (owners == 1).all()


def test_tiles_meet_where_source_pixels_meet():
    grid = Grid((1000, 1000), (130, 130), (-5.0, -3.0), (8.0, 8.0))
    borders = {tile.core.top for tile in cut_tiles(grid, 300, (0, 0))} - {0}
    assert borders
    assert all((border + 5) % 8 == 0 for border in borders)


def test_the_halo_grows_with_the_root_of_the_factor_and_of_the_contrast():
    assert decay_length(8.0, COLOUR) == pytest.approx((8 / 0.008) ** 0.5, rel=1e-3)
    assert decay_length(32.0, COLOUR) == pytest.approx(2 * decay_length(8.0, COLOUR), rel=2e-2)
    sharp = Locality(edge_weight=9e-4, floor=2e-5)
    assert decay_length(8.0, sharp) == pytest.approx(10 * decay_length(8.0, COLOUR), rel=1e-2)


def test_predicted_floors_count_as_the_middle_one():
    plain = Architecture(extractor="unet-lite0", features=4, decoder_channels=(8,) * 5, floor=1e-2, first_lambda=1e-4)
    lengths = [decay_length(8.0, locality_of(GraphSR(replace(plain, floors=floors)))) for floors in (False, True)]
    assert lengths[0] == lengths[1]


def test_a_network_adds_its_reach_to_the_halo():
    grid = Grid.edge_to_edge((800, 800), (100, 100))
    alone = default_halo(grid, COLOUR)[0]
    assert default_halo(grid, COLOUR, "bicubic")[0] == math.ceil(alone + 1.5 * grid.step[0])
    assert alone == 206
    assert default_halo(grid, Locality(256, 32, 9e-4, 2e-3))[0] == alone + 256


def test_a_first_target_adds_its_own_decay_also_where_the_source_counts_less():
    grid, first = Grid.edge_to_edge((512, 512), (64, 64)), Locality(edge_weight=5e-4, floor=5e-3)
    looking = replace(COLOUR, shown=(first,))
    for confidence in (1.0, 1e-3):
        without, with_one = COLOUR.weighed(confidence), looking.weighed(confidence)
        added = default_halo(grid, with_one)[0] - default_halo(grid, without)[0]
        assert added == pytest.approx(4 * decay_length(8.0, first.weighed(confidence)), abs=1)


def test_the_default_tile_shrinks_with_the_memory_a_pixel_takes():
    grid = Grid.edge_to_edge((20_000, 20_000), (2500, 2500))
    assert default_side(grid, (101, 101), 208) == 2048
    assert default_side(grid, (357, 357), 850) == 768
    assert default_side(grid, (357, 357), 850, double=True) < 768


def test_a_raster_that_fits_is_one_tile():
    grid = Grid.edge_to_edge((600, 900), (75, 112))
    assert len(cut_tiles(grid, default_side(grid, (357, 357), 850), (357, 357))) == 1


@pytest.mark.parametrize("factor", [2, 4, 8, 16])
def test_windows_of_the_bundled_model_fit_into_memory(factor):
    grid = Grid.edge_to_edge((20_480, 20_480), (20_480 // factor, 20_480 // factor))
    model = graphsr.load("default")
    halo = default_halo(grid, locality_of(model))
    side = default_side(grid, halo, model.bytes_per_pixel(1))
    assert (side + 2 * halo[0]) ** 2 * model.bytes_per_pixel(1) <= 2e9


class TestModels:
    def test_the_colour_model_and_bicubic_run_in_tiles(self):
        assert locality_of(graphsr.load("colour")) == COLOUR
        assert locality_of(graphsr.load("bicubic")).edge_weight == 0

    @pytest.mark.parametrize("name", ["guided-filter", "sd-filter"])
    def test_baselines_that_scale_by_the_whole_image_are_refused(self, name):
        with pytest.raises(InputError, match="has to see the whole image"):
            locality_of(graphsr.load(name))

    @pytest.mark.slow
    @pytest.mark.parametrize("extractor", ["gdpt", "unet-efficientnet-b2"])
    def test_networks_that_look_at_the_whole_image_are_refused(self, extractor):
        with pytest.raises(InputError, match="has to see the whole image"):
            locality_of(GraphSR(Architecture(extractor=extractor)))

    def test_checkpoints_of_the_reference_code_are_refused(self):
        with pytest.raises(InputError, match="has to see the whole image"):
            locality_of(GraphSR(Architecture(extractor="unet-resnet18", published=True)))
