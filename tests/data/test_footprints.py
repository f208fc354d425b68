"""Footprints: every source pixel measures what lies under it, and nothing unknown."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn.functional import interpolate

from graphsr.data.footprints import average, downsample
from graphsr.errors import InputError

SIZE, SOURCE_SIZE = (32, 48), (8, 12)
EVERY = ("box", "bicubic", "gaussian:0.5", "point")
every_footprint = pytest.mark.parametrize("footprint", EVERY)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def target_with_holes() -> np.ndarray:
    target = rng(5).uniform(1, 4, SIZE).astype(np.float32)
    target[rng(6).random(SIZE) < 0.3] = np.nan
    target[4:8, 8:12] = np.nan  # a source pixel of which nothing is known
    return target


class TestAverage:
    def test_a_source_pixel_is_the_mean_of_the_known_pixels_of_its_block(self) -> None:
        target = target_with_holes()
        blocks = target.reshape(8, 4, 12, 4).transpose(0, 2, 1, 3).reshape(8, 12, 16)
        known = np.isfinite(blocks)
        sums = np.where(known, blocks, 0).astype(np.float64).sum(2)
        expected = np.where(known.any(2), sums / np.maximum(known.sum(2), 1), np.nan)
        source = average(target, SOURCE_SIZE)
        assert np.isnan(source[1, 2])
        np.testing.assert_allclose(source, expected, rtol=1e-6)

    def test_a_pixel_in_two_source_pixels_counts_by_area(self) -> None:
        source = average(np.array([[1, 2, 4], [1, 2, 4]], np.float32), (1, 2))
        np.testing.assert_allclose(source, [[(1 + 0.5 * 2) / 1.5, (0.5 * 2 + 4) / 1.5]], rtol=1e-6)
        with_hole = average(np.array([[1, np.nan, 4]], np.float32), (1, 2))
        np.testing.assert_allclose(with_hole, [[1, 4]], rtol=1e-6)


class TestEveryFootprint:
    @every_footprint
    @pytest.mark.parametrize("source_size", [(8, 12), (7, 11), (32, 48), (1, 1)])
    def test_a_flat_map_stays_what_it_is(self, footprint: str, source_size: tuple[int, int]) -> None:
        source = downsample(np.full(SIZE, 2.5, np.float32), source_size, footprint)
        assert source.shape == source_size
        assert source.dtype == np.float32
        np.testing.assert_allclose(source, 2.5, rtol=1e-6)

    @every_footprint
    def test_a_slope_stays_where_it_is(self, footprint: str) -> None:
        ramp = np.tile(np.arange(45, dtype=np.float32) + 0.5, (33, 1))
        source = downsample(ramp, (11, 15), footprint)
        # At the border a wide footprint sees one side only.
        np.testing.assert_allclose(source[:, 3:-3], np.tile(3 * (np.arange(15) + 0.5), (11, 1))[:, 3:-3], atol=1e-3)

    @every_footprint
    def test_unknown_pixels_count_nowhere(self, footprint: str) -> None:
        target = np.full(SIZE, 2.0, np.float32)
        target[rng(1).random(SIZE) < 0.4] = np.nan
        source = downsample(target, SOURCE_SIZE, footprint)
        assert np.isfinite(source).any()
        np.testing.assert_allclose(source[np.isfinite(source)], 2.0, rtol=1e-6)
        assert np.isnan(downsample(np.full(SIZE, np.nan, np.float32), SOURCE_SIZE, footprint)).all()

    @every_footprint
    def test_the_target_is_not_changed(self, footprint: str) -> None:
        target = target_with_holes()
        before = target.copy()
        downsample(target, SOURCE_SIZE, footprint)
        np.testing.assert_array_equal(target, before)


def test_bicubic_is_the_antialiased_one_of_other_libraries() -> None:
    target = rng().uniform(1, 4, SIZE).astype(np.float32)
    other = interpolate(torch.from_numpy(target)[None, None], size=SOURCE_SIZE, mode="bicubic", antialias=True)
    # Measured: 5e-7.
    np.testing.assert_allclose(downsample(target, SOURCE_SIZE, "bicubic"), other[0, 0].numpy(), atol=3e-6)


def test_a_wider_gaussian_is_smoother() -> None:
    target = rng().uniform(1, 4, SIZE).astype(np.float32)
    stds = [downsample(target, SOURCE_SIZE, f"gaussian:{sigma}").std() for sigma in (0.2, 0.5, 1.0)]
    assert stds == sorted(stds, reverse=True)


def test_a_point_is_one_pixel_of_the_target() -> None:
    target = np.arange(32 * 48, dtype=np.float32).reshape(SIZE)
    np.testing.assert_array_equal(downsample(target, SOURCE_SIZE, "point"), target[2::4, 2::4])


@pytest.mark.parametrize(
    ("footprint", "says"),
    [
        ("bicubik", "did you mean bicubic"),
        ("gaussian:wide", "SIGMA must be a positive number"),
        ("gaussian:0", "SIGMA must be a positive number"),
        ("gaussian", "gaussian:SIGMA"),
    ],
)
def test_a_footprint_that_does_not_exist_is_refused(footprint: str, says: str) -> None:
    with pytest.raises(InputError, match=says):
        downsample(np.ones(SIZE, np.float32), SOURCE_SIZE, footprint)
