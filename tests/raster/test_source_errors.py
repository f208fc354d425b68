"""Noise, outliers and confidence in tiles: the same whatever the tiles, and as for a whole pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import graphsr
from graphsr import InputError
from graphsr.raster.grid import Grid
from tests.raster.made_rasters import picture, relief
from tests.raster.test_tile_invariance import MOST, largest_difference, upsampled

SIZE, SOURCE_SIZE = (192, 192), (48, 48)
GRID = Grid.edge_to_edge(SIZE, SOURCE_SIZE)


def with_errors(noise: float = 0.0, outliers: float = 0.0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return guide (C, H, W), source (1, h, w) with errors in parts of its standard deviation, and without them."""
    rng = np.random.default_rng(3)
    guide, clean = picture(SIZE), relief(SOURCE_SIZE)
    source = clean + noise * clean.std() * rng.standard_normal(clean.shape)
    wrong = rng.random(clean.shape) < outliers
    return guide, np.where(wrong, source + 6 * clean.std(), source).astype(np.float32), clean


@pytest.mark.parametrize("how", [{"noise": "auto"}, {"robust": True}, {"confidence": 1e-3}])
def test_the_target_is_the_same_whatever_the_tiles(how: dict[str, Any]) -> None:
    guide, source, _ = with_errors(noise=0.05, outliers=0.02)
    whole = upsampled(guide, source, GRID, tile=10_000, **how)
    assert largest_difference(upsampled(guide, source, GRID, tile=96, **how), whole) < MOST


def test_it_is_what_upsample_gives() -> None:
    guide, source, _ = with_errors(noise=0.05, outliers=0.02)
    how: dict[str, Any] = {"noise": "auto", "robust": True}
    plain = graphsr.upsample(np.moveaxis(guide, 0, 2), source[0], model="colour", **how).target
    found = upsampled(guide, source, GRID, tile=96, **how)[0]
    assert np.sqrt(np.square(found - plain).mean()) < 0.03 * plain.std()


def test_outliers_do_not_leave_holes() -> None:
    guide, source, clean = with_errors(outliers=0.02)
    target = upsampled(guide, source, GRID, tile=96, robust=True)
    assert np.isfinite(target).all()
    back = target.reshape(1, 48, 4, 48, 4).mean((2, 4))
    assert np.sqrt(np.square(back - clean).mean()) < 0.2 * np.sqrt(np.square(source - clean).mean())


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"noise": -1}, "noise: must be"),
        ({"robust": -1.0}, "robust: must be"),
        ({"confidence": 0}, "confidence: of all source pixels must be above 0"),
        ({"noise": 1, "exact": True}, "noise: with exact"),
        ({"noise": 1, "model": "bicubic"}, "Bicubic does not weigh source pixels"),
    ],
)
def test_what_makes_no_sense_is_refused(how: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        graphsr.raster.upsample(picture(SIZE), relief(SOURCE_SIZE), **{"model": "colour", **how})


def test_files_take_the_same_options(tmp_path: Path) -> None:
    rasterio = pytest.importorskip("rasterio")
    guide, source, _ = with_errors(noise=0.05, outliers=0.02)
    for name, values, metres in (("guide", guide, 1), ("source", source, 4)):
        with rasterio.open(
            tmp_path / f"{name}.tif", "w", driver="GTiff", dtype=values.dtype, count=values.shape[0],
            height=values.shape[1], width=values.shape[2], crs="EPSG:32632",
            transform=rasterio.transform.from_origin(600000, 5400000, metres, metres),
        ) as raster:  # fmt: skip
            raster.write(values)
    report = graphsr.raster.upsample_files(
        tmp_path / "guide.tif", tmp_path / "source.tif", tmp_path / "out.tif",
        model="colour", noise="auto", robust=True, tile=96,
    )  # fmt: skip
    (sigma,) = report.plan.settings.errors.noise or ()
    assert sigma == pytest.approx(0.05 * relief(SOURCE_SIZE).std(), rel=0.5)
    with rasterio.open(tmp_path / "out.tif") as raster:
        found = raster.read(1)
    lazy = upsampled(guide, source, GRID, tile=96, noise="auto", robust=True)[0]
    np.testing.assert_allclose(found, lazy, atol=1e-3 * source.std())
