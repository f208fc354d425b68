"""The uncertainty of a raster: the same whatever the tiles, within the noise of its estimate."""

from __future__ import annotations

import numpy as np
import pytest
import rasterio

import graphsr
from graphsr.raster import upsample_files
from graphsr.raster.grid import Grid
from tests.raster.made_rasters import pair_of_files, picture, relief
from tests.raster.test_tile_invariance import upsampled


@pytest.mark.parametrize("step", [4.0, 5.5])
def test_does_not_show_the_tiles(step: float) -> None:
    source_size = (30, 32)
    size = int(30 * step), int(32 * step)
    guide, source = picture(size), relief(source_size)
    grid = Grid.edge_to_edge(size, source_size)
    whole = upsampled(guide, source, grid, tile=10_000, uncertainty=True)
    tiled = upsampled(guide, source, grid, tile=50, halo=24, uncertainty=True)
    assert (whole > 0).all()
    # The noise of the estimate is 25 %. Measured 0.06 and 0.09; with other draws in every window 0.09 and 0.28.
    ratio = np.abs(np.log(tiled / whole))
    assert ratio.mean() < 0.1
    assert np.quantile(ratio, 0.99) < 0.15


def test_models_without_a_graph_refuse() -> None:
    grid = Grid.edge_to_edge((32, 32), (4, 4))
    with pytest.raises(graphsr.InputError, match="has no graph, so it cannot say how sure it is"):
        upsampled(picture((32, 32)), relief((4, 4)), grid, "bicubic", uncertainty=True)


class TestCommand:
    def test_writes_a_raster_of_its_own(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path, nodata=0)
        with rasterio.open(source, "r+") as raster:
            raster.scales, raster.offsets = (0.1,), (5.0,)
        out, std = tmp_path / "out.tif", tmp_path / "std.tif"
        code, text, err = command(guide, source, "-o", out, "--uncertainty", std, "--model", "colour")
        assert code == 0, err
        with rasterio.open(out) as target, rasterio.open(std) as found:
            assert (found.crs, found.transform, found.shape) == (target.crs, target.transform, target.shape)
            assert found.dtypes == ("float32",)
            assert (found.scales, found.offsets) == ((0.1,), (0.0,))
            values = found.read(1)
            assert (values > 0).all()
            assert values.mean() < target.read(1).std()
        assert str(std) in text

    def test_is_refused_before_anything_is_computed(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path)
        out, std = tmp_path / "out.tif", tmp_path / "std.tif"
        code, _, err = command(guide, source, "-o", out, "--uncertainty", std, "--model", "bicubic")
        assert code == 2
        assert "has no graph" in err
        code, _, err = command(guide, source, "-o", out, "--uncertainty", tmp_path / "std.png", "--model", "colour")
        assert code == 2
        assert "the result is a GeoTIFF" in err
        assert not out.exists()

    def test_a_run_that_was_stopped_in_it_is_continued_without_the_target(self, command, tmp_path):
        guide, source = pair_of_files(tmp_path)
        out, std = tmp_path / "out.tif", tmp_path / "std.tif"
        upsample_files(guide, source, out, model="colour", tile=80)
        written = out.stat().st_mtime_ns

        def stop(done: int, total: int) -> None:
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            upsample_files(guide, source, std, model="colour", tile=80, uncertainty=True, progress=stop)
        more = ("-o", out, "--uncertainty", std, "--model", "colour", "--tile", "80", "--resume")
        code, text, err = command(guide, source, *more)
        assert code == 0, err
        assert "finished before" in text
        assert out.stat().st_mtime_ns == written
        with rasterio.open(std) as found:
            assert (found.read(1) > 0).all()
