"""Noise, outliers and confidence in tiles: the same whatever the tiles, and as for a whole pair."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import graphsr
from graphsr import InputError
from graphsr.measurements.source_errors import SourceErrors
from graphsr.raster.grid import Grid
from graphsr.raster.source_samples import resolve_errors
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


@pytest.mark.parametrize("how", [{"noise": 1.0}, {"robust": True}])
def test_what_is_stated_of_the_errors_takes_the_place_of_a_restoration(how: dict[str, Any]) -> None:
    guide, source, _ = with_errors(noise=0.05)
    torch.manual_seed(0)
    model = graphsr.GraphSR(graphsr.Architecture(extractor="colour", confidence=True, restoration=4)).eval()
    torch.nn.init.normal_(model.restoration.last.weight)
    torch.nn.init.zeros_(model.noise_network.last.bias)  # a hundredth of the standard deviation, about
    models = model, model.without_restoration()
    restoring, plain = (upsampled(guide, source, GRID, each, tile=96, **how) for each in models)
    np.testing.assert_array_equal(restoring, plain)
    restoring, plain = (upsampled(guide, source, GRID, each, tile=96) for each in models)
    assert largest_difference(restoring, plain) > 0.01


def test_parts_without_data_do_not_make_the_noise_smaller() -> None:
    """Most samples of a strip of land in a large raster are empty, and tell nothing."""
    rng = np.random.default_rng(5)
    source = np.full((1, 1600, 300), np.nan, np.float32)
    source[:, :300] = rng.standard_normal((1, 300, 300))
    grid = Grid.edge_to_edge((3200, 600), (1600, 300))
    errors = SourceErrors(noise="auto")
    found = resolve_errors(lambda box: source[(slice(None), *box.slices())], grid, graphsr.load("colour"), errors)
    assert found.noise == pytest.approx((1.0,), rel=0.1)


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


def some_confidences() -> np.ndarray:
    confidence = np.ones(SOURCE_SIZE)
    confidence[10:20, 5:30], confidence[30:33, 30:34] = 51 / 255, 0
    return confidence


def test_every_source_pixel_may_have_its_own_confidence() -> None:
    guide, source, _ = with_errors(noise=0.05)
    confidence = some_confidences()
    how: dict[str, Any] = {"noise": "auto", "confidence": confidence}
    whole = upsampled(guide, source, GRID, tile=10_000, **how)
    assert largest_difference(upsampled(guide, source, GRID, tile=96, **how), whole) < MOST
    holes = np.where(confidence > 0, source, np.nan)
    assert (np.isnan(whole) == np.isnan(upsampled(guide, holes, GRID, tile=96))).all()
    even = upsampled(guide, holes, GRID, tile=10_000, noise="auto")
    different = np.abs(whole - even)[0, 48:76, 28:112].mean()  # inside the region of little confidence
    assert different > 5 * np.nanmean(np.abs(whole - even)[0, :, 140:])


@pytest.mark.parametrize(
    ("confidence", "says"),
    [
        (np.full(SOURCE_SIZE, 2.0), "must lie between 0"),
        (np.zeros(SOURCE_SIZE), "is 0 everywhere"),
        (np.ones((3, 3)), "must be one number or have the source's shape"),
        (np.full(SOURCE_SIZE, np.nan), "must lie between 0"),
    ],
)
def test_confidences_that_are_none_are_refused(confidence: np.ndarray, says: str) -> None:
    with pytest.raises(InputError, match=f"confidence: {says}"):
        graphsr.raster.upsample(picture(SIZE), relief(SOURCE_SIZE), model="colour", confidence=confidence)


def write(path: Path, values: np.ndarray, metres: float) -> Path:
    rasterio = pytest.importorskip("rasterio")
    with rasterio.open(
        path, "w", driver="GTiff", dtype=values.dtype, count=values.shape[0],
        height=values.shape[1], width=values.shape[2], crs="EPSG:32632",
        transform=rasterio.transform.from_origin(600000, 5400000, metres, metres),
    ) as raster:  # fmt: skip
        raster.write(values)
    return path


def test_confidences_are_read_from_a_raster_by_the_same_rule(tmp_path: Path) -> None:
    rasterio = pytest.importorskip("rasterio")
    guide, source, _ = with_errors(noise=0.05)
    files = write(tmp_path / "guide.tif", guide, 1), write(tmp_path / "source.tif", source, 4)
    bytes_ = np.round(255 * some_confidences()).astype(np.uint8)[None]
    how: dict[str, Any] = {"model": "colour", "tile": 96}
    graphsr.raster.upsample_files(
        *files, tmp_path / "out.tif", confidence=write(tmp_path / "confidence.tif", bytes_, 4), **how
    )
    with rasterio.open(tmp_path / "out.tif") as raster:
        found = raster.read(1)
    lazy = upsampled(guide, source, GRID, tile=96, confidence=some_confidences())[0]
    np.testing.assert_allclose(found, lazy, atol=1e-3 * source.std())
    for wrong, says in (
        (bytes_[:, 1:], "must lie on the grid of the source, 48 x 48"),
        (bytes_ // 100, "parts of 255"),
    ):
        with pytest.raises(InputError, match=says):
            graphsr.raster.upsample_files(
                *files, tmp_path / "two.tif", confidence=write(tmp_path / "wrong.tif", wrong, 4), **how
            )


def test_files_take_the_same_options(tmp_path: Path) -> None:
    rasterio = pytest.importorskip("rasterio")
    guide, source, _ = with_errors(noise=0.05, outliers=0.02)
    write(tmp_path / "guide.tif", guide, 1)
    write(tmp_path / "source.tif", source, 4)
    report = graphsr.raster.upsample_files(
        tmp_path / "guide.tif", tmp_path / "source.tif", tmp_path / "out.tif",
        model="colour", noise="auto", robust=True, tile=96,
    )  # fmt: skip
    (sigma,) = report.plan.settings.errors.noise or ()
    assert sigma == pytest.approx(0.05 * relief(SOURCE_SIZE).std(), rel=0.5)
    whole = graphsr.upsample(np.moveaxis(guide, 0, 2), source[0], model="colour", noise=sigma, robust=True)
    assert whole.report.switched_off > 20
    assert report.switched_off == pytest.approx(whole.report.switched_off, rel=0.05)  # each is counted in one tile
    with rasterio.open(tmp_path / "out.tif") as raster:
        found = raster.read(1)
    lazy = upsampled(guide, source, GRID, tile=96, noise="auto", robust=True)[0]
    np.testing.assert_allclose(found, lazy, atol=1e-3 * source.std())
