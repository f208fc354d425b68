"""Rasters on a large offset keep the digits of their type: heights in millimetres over a far datum."""

from __future__ import annotations

import numpy as np
import rasterio
from rasterio.transform import from_origin

import graphsr
from graphsr.raster.pair import open_pair
from tests.raster.made_rasters import averages, picture, write

OFFSET = 1e8


def relief_on_an_offset(size: tuple[int, int]) -> np.ndarray:
    return np.random.default_rng(0).standard_normal((1, *size)) + OFFSET


def test_files_keep_the_digits(tmp_path):
    guide = write(tmp_path / "guide.tif", picture((64, 64)).astype("uint8"), from_origin(0, 640, 10, 10))
    values = relief_on_an_offset((8, 8))
    values[0, 2:4, 2:4] = np.nan
    source = write(tmp_path / "source.tif", values, from_origin(0, 640, 80, 80))
    out = tmp_path / "out.tif"
    graphsr.raster.upsample_files(guide, source, out, model="colour", exact=True, fill=True)
    with rasterio.open(out) as raster:
        assert raster.dtypes == ("float64",)
        target = raster.read()
    known = np.isfinite(values)
    # Measured: 1e-7; what float64 itself can tell apart at this offset is 1.5e-8.
    assert np.abs(averages(target, open_pair(guide, source).grid) - values)[known].max() < 1e-6
    assert np.abs(target - OFFSET).max() < 20


def test_lazy_arrays_keep_the_digits():
    guide, source = picture((64, 64)), relief_on_an_offset((8, 8))
    target = graphsr.raster.upsample(guide, source, model="bicubic")
    assert target.dtype == np.float64
    whole = graphsr.upsample(np.moveaxis(guide, 0, 2), source[0], model="bicubic").target
    np.testing.assert_allclose(target.compute(scheduler="sync")[0], whole, rtol=0, atol=1e-5)
