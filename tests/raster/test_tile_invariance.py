"""Tiles that do not show: any cut gives the target of one solve, and its averages are the source."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import graphsr
from graphsr import Architecture, GraphSR
from graphsr.graph import Edges
from graphsr.raster.grid import Box, Grid
from graphsr.raster.tile import PreparedTile, finish_tile
from graphsr.raster.tiling import Tile
from graphsr.solver import Problem, solve_problem
from tests.raster.made_rasters import averages, picture, relief

# The promise, in standard deviations of the target.
MOST = 1e-3


def upsampled(guide: np.ndarray, source: np.ndarray, grid: Grid, model: Any = "colour", **how: Any) -> np.ndarray:
    lazy = graphsr.raster.upsample(guide, source, origin=grid.origin, step=grid.step, model=model, **how)
    return lazy.compute(scheduler="sync")


def largest_difference(one: np.ndarray, other: np.ndarray) -> float:
    """In standard deviations; the same pixels must have a value."""
    assert (np.isnan(one) == np.isnan(other)).all()
    return float(np.nanmax(np.abs(one - other)) / np.nanstd(other))


@pytest.mark.slow
@settings(max_examples=12, deadline=None, derandomize=True)
@given(
    step=st.sampled_from([2.0, 3.0, 4.0, 8.0, 2.6, 5.5, 7.5]),
    shift=st.tuples(st.floats(-1.0, 1.0), st.floats(-1.0, 1.0)),
    side=st.integers(40, 110),
    holes=st.booleans(),
    seed=st.integers(0, 9),
)
def test_the_target_is_the_same_whatever_the_tiles(step, shift, side, holes, seed):
    size = (170, 190)
    source_size = int(np.ceil(size[0] / step)) + 2, int(np.ceil(size[1] / step)) + 2
    grid = Grid.placed(size, source_size, (shift[0] * step, shift[1] * step), (step, step))
    guide, source = picture(size, seed=seed), relief(source_size, seed=seed)
    if holes:
        source[:, source_size[0] // 3 : source_size[0] // 2, source_size[1] // 4 : source_size[1] // 2] = np.nan
    whole = upsampled(guide, source, grid, tile=10_000)
    assert largest_difference(upsampled(guide, source, grid, tile=side), whole) < MOST


def test_filled_holes_are_the_same_whatever_the_tiles():
    guide, source = picture((200, 200)), relief((50, 50))
    source[:, 8:40, 10:44] = np.nan  # wider than a tile with its halo
    grid = Grid.edge_to_edge((200, 200), (50, 50))
    whole = upsampled(guide, source, grid, tile=10_000, fill=True)
    assert np.isfinite(whole).all()
    assert largest_difference(upsampled(guide, source, grid, tile=48, fill=True), whole) < MOST


@pytest.mark.parametrize("footprint", ["bicubic", "point"])
def test_a_footprint_is_the_same_whatever_the_tiles(footprint):
    guide, source = picture((150, 160)), relief((37, 40))
    grid = Grid.placed((150, 160), (37, 40), (0.5, -0.5), (4.0, 4.0))
    whole = upsampled(guide, source, grid, tile=10_000, footprint=footprint)
    assert largest_difference(upsampled(guide, source, grid, tile=56, footprint=footprint), whole) < MOST


def test_edge_to_edge_it_is_what_upsample_gives():
    guide, source = picture((160, 160)), relief((20, 20))
    plain = graphsr.upsample(np.moveaxis(guide, 0, 2), source[0], model="colour").target
    found = upsampled(guide, source, Grid.edge_to_edge((160, 160), (20, 20)), tile=64)[0]
    # Not the same to the last digit: a raster's scale is measured without the tails. Measured 4e-3.
    assert np.abs(found - plain).max() < 0.02 * plain.std()


@pytest.mark.slow
@pytest.mark.parametrize("exact", [False, True], ids=["soft", "exact"])
@pytest.mark.parametrize("step", [4.0, 5.5])
def test_the_target_averages_back_to_the_source_also_at_seams(step, exact):
    source_size = (40, 42)
    size = (int(40 * step), int(42 * step))
    grid = Grid(size, source_size, (0.0, 0.0), (step, step))
    source = relief(source_size)
    target = upsampled(picture(size), source, grid, tile=50, exact=exact)
    error = np.abs(averages(target, grid) - source).max() / source.std()
    if exact and step == 4.0:  # a source pixel lies in one tile; single precision
        assert error < 3e-6
    elif exact:  # pixels of a source pixel that a seam cuts come from two solves
        assert error < 1e-4
    else:  # lambda 9e-4 against a confidence of 1; the whole solve has the same
        whole = upsampled(picture(size), source, grid, tile=10_000)
        assert error < 1.01 * np.abs(averages(whole, grid) - source).max() / source.std() + 1e-4


def test_bands_share_one_graph_and_each_may_have_its_own_holes():
    guide, source = picture((120, 120)), relief((15, 15), bands=3)
    source[1, 4:6, 4:9] = np.nan
    grid = Grid.edge_to_edge((120, 120), (15, 15))
    whole = upsampled(guide, source, grid, tile=10_000)
    tiled = upsampled(guide, source, grid, tile=48)
    assert largest_difference(tiled, whole) < MOST
    assert np.isnan(tiled[1, 32:48, 32:72]).all()
    assert np.isfinite(tiled[[0, 2]]).all()


def test_a_guide_with_holes_gives_no_value_there_and_good_ones_elsewhere():
    guide, source = picture((120, 120)), relief((15, 15))
    guide[0, 30:50, 60:80] = np.nan
    found = upsampled(guide, source, Grid.edge_to_edge((120, 120), (15, 15)), tile=48)[0]
    assert np.isnan(found[30:50, 60:80]).all()
    assert np.isfinite(found).sum() == 120 * 120 - 400


def test_beyond_the_source_there_is_no_value():
    grid = Grid((120, 140), (10, 10), (24.0, -16.0), (8.0, 8.0))
    found = upsampled(picture((120, 140)), relief((10, 10)), grid, tile=48, fill=True)[0]
    assert np.isfinite(found[24:104, :64]).all()
    assert np.isnan(found[:24]).all()
    assert np.isnan(found[104:]).all()
    assert np.isnan(found[:, 64:]).all()


def test_bicubic_runs_in_tiles_too():
    guide, source = picture((120, 120)), relief((15, 15))
    grid = Grid.edge_to_edge((120, 120), (15, 15))
    plain = graphsr.upsample(np.moveaxis(guide, 0, 2), source[0], model="bicubic").target
    np.testing.assert_allclose(upsampled(guide, source, grid, "bicubic", tile=40)[0], plain, rtol=0, atol=2e-3)


@pytest.mark.parametrize(
    ("first_target", "reweighting", "local_scale"),
    [(False, 0, False), (True, 0, False), (True, 8, False), (True, 8, True)],
)
@pytest.mark.parametrize("bands", [1, 3])
def test_a_network_does_not_see_the_tiles_either(bands, first_target, reweighting, local_scale):
    torch.manual_seed(0)
    how = Architecture(
        extractor="unet-lite0", features=4, decoder_channels=(8, 8, 8, 8, 8), sharp=True, hints=True,
        offsets=not local_scale, colour_mu=0.15, floor=1e-1, first_lambda=1e-3, first_mu=2.0, first_target=first_target,
        reweighting=reweighting, local_scale=local_scale,
    )  # fmt: skip
    network = GraphSR(how).eval()
    if reweighting:
        torch.nn.init.normal_(network.reweighting.last.weight, std=0.05)
    guide, source = picture((256, 1024)), relief((32, 128), bands=bands)
    grid = Grid.edge_to_edge((256, 1024), (32, 128))
    whole = upsampled(guide, source, grid, network, tile=10_000)
    assert largest_difference(upsampled(guide, source, grid, network, tile=300), whole) < MOST


@pytest.mark.slow
def test_the_bundled_network_does_not_see_the_tiles():
    guide, source = picture((128, 1280)), relief((16, 160))
    grid = Grid.edge_to_edge((128, 1280), (16, 160))
    whole = upsampled(guide, source, grid, "default", tile=10_000)
    assert largest_difference(upsampled(guide, source, grid, "default", tile=260), whole) < MOST


@pytest.mark.slow  # 20,000 iterations
def test_a_tile_too_sharp_for_single_precision_is_solved_in_double():
    guide, source = picture((16, 16)), relief((2, 2))
    problem = graphsr.load("colour").prepare(torch.from_numpy(guide)[None], torch.from_numpy(source)[None])
    assert isinstance(problem, Problem)
    generator = torch.Generator().manual_seed(0)
    shapes = problem.edges.down.shape, problem.edges.right.shape
    edges = Edges(*(1e3 * 10 ** (-10 * torch.rand(shape, generator=generator)) for shape in shapes))
    problem = replace(problem, edges=edges)  # single precision reaches 5e-2 after 20,000 iterations
    tile = Tile(0, Box(0, 0, 16, 16), Box(0, 0, 16, 16), Box(0, 0, 2, 2))
    found = finish_tile(PreparedTile(tile, problem, 1e-5, np.ones((1, 16, 16), bool), np.zeros(1))).values
    expected = solve_problem(problem.to(torch.float64), rtol=1e-5).target
    np.testing.assert_array_equal(found, expected[0].float())
