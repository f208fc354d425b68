"""graphsr.raster.upsample: lazy arrays in, a lazy array out, with coordinates where there were some."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numba
import numpy as np
import pytest
import torch
import xarray as xr

import graphsr
from graphsr import InputError
from graphsr.models.bicubic import Bicubic
from graphsr.threads import on_threads
from tests.raster.made_rasters import picture, relief

GUIDE, SOURCE = picture((96, 128)), relief((12, 16), bands=2)


def data_arrays() -> tuple[xr.DataArray, xr.DataArray]:
    """A guide of 10 m, north up, and a source of 80 m that begins 40 m further north."""
    guide = xr.DataArray(
        da.from_array(GUIDE, chunks=(3, 50, 50)),
        dims=("band", "y", "x"),
        coords={"band": [1, 2, 3], "y": 5000 - 10.0 * np.arange(96) - 5, "x": 10.0 * np.arange(128) + 5},
    )
    source = xr.DataArray(
        SOURCE,
        dims=("band", "y", "x"),
        coords={"band": ["B5", "B6"], "y": 5040 - 80.0 * np.arange(12) - 40, "x": 80.0 * np.arange(16) + 40},
        attrs={"units": "K"},
        name="heat",
    )
    return guide, source


def test_nothing_is_computed_before_it_is_asked_for():
    def fail(block: np.ndarray) -> np.ndarray:
        raise AssertionError("computed")

    guide = da.from_array(GUIDE, chunks=(3, 40, 40)).map_blocks(fail, dtype=np.float32)
    target = graphsr.raster.upsample(guide, da.from_array(SOURCE), model="colour")
    assert isinstance(target, da.Array)
    assert target.shape == (2, 96, 128)
    assert target.dtype == np.float32
    with pytest.raises(AssertionError, match="computed"):
        target.compute(scheduler="sync")


def test_a_part_of_the_target_computes_its_tiles_only():
    runs = []

    class Watched(Bicubic):
        def prepare(self, guide, source, **how):
            runs.append(guide.shape[-2])
            return super().prepare(guide, source, **how)

    target = graphsr.raster.upsample(picture((256, 64)), relief((32, 8)), model=Watched(), tile=64)
    assert target.chunks[1] == (64, 64, 64, 64)
    target[:, 64:128].compute(scheduler="sync")
    assert runs == [64 + 2 * 16]  # one tile, and two source pixels on both sides of it


def test_chunks_of_the_input_do_not_matter():
    one = graphsr.raster.upsample(da.from_array(GUIDE, chunks=(1, 17, 96)), SOURCE, model="colour", tile=50)
    other = graphsr.raster.upsample(GUIDE, da.from_array(SOURCE, chunks=(2, 5, 3)), model="colour", tile=50)
    np.testing.assert_array_equal(one.compute(), other.compute())


def test_a_plain_source_gives_a_plain_target():
    target = graphsr.raster.upsample(GUIDE[0], SOURCE[0], model="colour")
    assert target.shape == (96, 128)
    assert np.isfinite(target.compute()).all()


def test_coordinates_say_where_the_source_lies_and_go_with_the_target():
    guide, source = data_arrays()
    target = graphsr.raster.upsample(guide, source, model="colour", tile=64)
    assert isinstance(target.data, da.Array)
    assert target.dims == ("band", "y", "x")
    assert target.name == "heat"
    assert target.attrs == {"units": "K"}
    assert target.coords["band"].values.tolist() == ["B5", "B6"]
    xr.testing.assert_equal(target.coords["y"].reset_coords(drop=True), guide.coords["y"].reset_coords(drop=True))
    plain = graphsr.raster.upsample(GUIDE, SOURCE, origin=(-4.0, 0.0), step=(8.0, 8.0), model="colour", tile=64)
    np.testing.assert_array_equal(target.values, plain.compute())


def test_a_declared_fill_value_is_missing():
    guide, source = data_arrays()
    source = source.isel(band=0, drop=True).copy()
    source[3:5, 4:6] = -1.0
    source.attrs["_FillValue"] = -1.0
    target = graphsr.raster.upsample(guide, source, model="colour")
    assert "_FillValue" not in target.attrs
    assert int(np.isnan(target[:92]).sum()) == 4 * 64
    assert bool(np.isnan(target[92:]).all())  # the source ends there


def test_another_reference_system_is_refused():
    guide, source = data_arrays()
    for values, name in ((guide, "EPSG:32633"), (source, "EPSG:4326")):
        from rasterio.crs import CRS

        values.coords["spatial_ref"] = xr.DataArray(0, attrs={"crs_wkt": CRS.from_user_input(name).to_wkt()})
    with pytest.raises(InputError, match=r"source\.rio\.reproject\(guide\.rio\.crs\)"):
        graphsr.raster.upsample(guide, source)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda guide, source: (guide, source.values), "both as DataArrays"),
        (lambda guide, source: (guide, source.drop_vars("y")), "needs coordinates along 'y'"),
        (lambda guide, source: (guide, source.assign_coords(x=np.arange(16.0) ** 2)), "not evenly spaced"),
        (lambda guide, source: (guide, source.isel(y=slice(None, None, -1))), "runs the other way"),
        (lambda guide, source: (guide, source.assign_coords(x=source.x + 1e6)), "do not overlap"),
    ],
)
def test_what_does_not_fit_is_refused(change, says):
    with pytest.raises(InputError, match=says):
        graphsr.raster.upsample(*change(*data_arrays()))


def test_plain_arrays_of_the_wrong_shape_are_refused():
    with pytest.raises(InputError, match=r"guide: must hold real numbers as \(H, W\) or \(bands, H, W\)"):
        graphsr.raster.upsample(np.zeros((2, 3, 4, 5)), SOURCE)


def test_the_threads_of_the_caller_are_left_as_they_were():
    lazy = graphsr.raster.upsample(picture((64, 64)), relief((8, 8)), model="colour", tile=32)
    most = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
    with on_threads(most):
        lazy.compute(scheduler="sync")
        assert (numba.get_num_threads(), torch.get_num_threads()) == (most, most)


@pytest.mark.parametrize("sizes", [{"tile": 0}, {"tile": -8}, {"halo": -1}])
def test_tiles_without_pixels_are_refused(sizes: dict[str, Any]):
    with pytest.raises(InputError, match="a tile must be at least 1 pixel with a halo of 0 or more"):
        graphsr.raster.upsample(GUIDE, SOURCE, model="colour", **sizes)
