"""What tiles know of the whole: holes are filled as in the whole, scales are those of the whole."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphsr import InputError
from graphsr.raster.grid import Box, Grid
from graphsr.raster.statistics import BLOCK, Statistics, combine, guide_samples, source_chunks, summarise
from graphsr.sampling import fill_holes
from graphsr.scaling import Scale
from tests.raster.made_rasters import picture, relief


def read(source: np.ndarray, box: Box, grid: Grid) -> np.ndarray:
    out = np.full((source.shape[0], *box.size), np.nan, np.float32)
    both = box & grid.covered
    if not both.empty:
        out[(slice(None), *both.slices(box))] = source[(slice(None), *both.slices())]
    return out


def statistics_of(source: np.ndarray, grid: Grid, guide: np.ndarray | None = None) -> Statistics:
    guide = picture(grid.size) if guide is None else guide
    samples = [guide[(slice(None), *box.slices())] for box in guide_samples(grid)]
    summaries = [summarise(read(source, box, grid), box, grid) for box in source_chunks(grid)]
    return combine(grid, samples, summaries)


@pytest.mark.slow
@settings(max_examples=15, deadline=None, derandomize=True)
@given(seed=st.integers(0, 99), share=st.sampled_from([0.02, 0.5, 0.999]), shift=st.integers(-150, 150))
def test_a_window_is_filled_as_the_whole_is(seed, share, shift):
    generator = np.random.default_rng(seed)
    source = relief((200, 230), bands=2, seed=seed)
    source[generator.random(source.shape) < share] = np.nan
    source[:, 30:170, 20:140] = np.nan  # larger than two blocks
    source[:, 0, 200] = 500.0
    grid = Grid((400, 460), (200, 230), (2.0 * shift, 0.0), (2.0, 2.0))
    if not np.isfinite(read(source, grid.source_extent, grid)).any((1, 2)).all():
        return
    whole = statistics_of(source, grid)
    area = grid.source_extent.aligned(BLOCK, margin=1)
    values = torch.from_numpy(read(source, area, grid))[None]
    about = torch.from_numpy(whole.source_mean).reshape(1, -1, 1, 1)
    expected = fill_holes(torch.nan_to_num(values), torch.isfinite(values)) - about.to(values.dtype)
    top = grid.source_extent.top
    part = Box(top + 40, 55, top + 120, 190)
    box = whole.source_needed(part)
    found = whole.filled(read(source, box, grid), box, part)
    # Values of hundreds in single precision; measured 1e-4.
    torch.testing.assert_close(found, expected[(..., *part.slices(area))], rtol=0, atol=1e-3)


def test_mean_and_deviation_of_the_source_are_those_of_its_known_pixels_under_the_guide():
    source = relief((60, 60), bands=3).astype(np.float32)
    source[1, 5:9] = np.nan
    source[:, 40:] = 1e6  # beyond the guide
    grid = Grid((320, 480), (60, 60), (0.0, 0.0), (8.0, 8.0))
    found = statistics_of(source, grid)
    np.testing.assert_allclose(found.source_mean, np.nanmean(source[:, :40], (1, 2)), rtol=1e-5)
    np.testing.assert_allclose(found.source_std, np.nanstd(source[:, :40], (1, 2)), rtol=1e-4)


def test_clouds_do_not_decide_the_scale_of_a_guide():
    guide = picture((200, 200))
    cloudy = guide.copy()
    cloudy[:, :10, :10] = 65535.0
    grid = Grid.edge_to_edge((200, 200), (25, 25))
    clear, under = (statistics_of(relief((25, 25)), grid, image) for image in (guide, cloudy))
    np.testing.assert_allclose(under.guide_std, clear.guide_std, rtol=0.03)
    np.testing.assert_allclose(under.guide_mean, clear.guide_mean, rtol=0.03)


def test_a_guide_of_two_values_keeps_its_contrast():
    guide = np.zeros((1, 100, 100), np.float32)
    guide[:, 0, :5] = 1.0
    found = statistics_of(relief((25, 25)), Grid.edge_to_edge((100, 100), (25, 25)), guide)
    assert found.guide_std == pytest.approx(guide.std(), rel=1e-3)


def test_large_guides_are_sampled_whatever_the_tiles():
    grid = Grid((50_000, 400), (500, 4), (0.0, 0.0), (100.0, 100.0))
    boxes = guide_samples(grid)
    assert sum(box.size[0] * box.size[1] for box in boxes) < 5e6
    assert min(box.top for box in boxes) == 0
    assert max(box.bottom for box in boxes) == 50_000


def test_a_band_without_any_value_is_named():
    source = relief((25, 25), bands=2)
    source[1] = np.nan
    with pytest.raises(InputError, match="no pixel of band 2"):
        statistics_of(source, Grid.edge_to_edge((200, 200), (25, 25)))


def test_bands_are_combined_as_in_an_array():
    source = relief((150, 170), bands=3, seed=4)
    source[1] += 0.5 * source[0]
    source[2, 40:90, 60:100] = np.nan
    grid = Grid((300, 340), (150, 170), (0.0, 0.0), (2.0, 2.0))
    found = statistics_of(source, grid).scale()
    values = torch.from_numpy(source)[None]
    whole = Scale.of(torch.zeros(1, 3, 4, 4), values, torch.isfinite(values))
    torch.testing.assert_close(found.source_axis, whole.source_axis, rtol=1e-3, atol=1e-4)
