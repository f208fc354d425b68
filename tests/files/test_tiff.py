"""TIFF as cameras, GIS programs and microscopes write it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tifffile
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image as PillowImage

from graphsr.errors import InputError
from graphsr.files import read_image, write_image

GDAL_NODATA, GEO_KEYS = 42113, 34735


@given(
    arrays(
        st.sampled_from(["uint8", "uint16", "int16", "int32", "float32", "float64"]),
        array_shapes(min_dims=2, max_dims=3, max_side=8),
    )
)
def test_any_tiff_array_round_trips(tmp_path_factory: pytest.TempPathFactory, array: np.ndarray) -> None:
    path = tmp_path_factory.mktemp("tiff") / "any.tif"
    write_image(path, array)
    expected = array[..., 0] if array.ndim == 3 and array.shape[2] == 1 else array
    np.testing.assert_array_equal(read_image(path).array, expected)


def test_bands_stored_as_planes_are_read_as_channels(tmp_path: Path) -> None:
    bands = np.arange(4 * 5 * 6, dtype=np.uint16).reshape(4, 5, 6)
    tifffile.imwrite(tmp_path / "planes.tif", bands, planarconfig="separate", photometric="minisblack")
    np.testing.assert_array_equal(read_image(tmp_path / "planes.tif").array, np.moveaxis(bands, 0, -1))


def test_deflate_with_a_predictor_is_read(tmp_path: Path) -> None:
    array = np.arange(40 * 30, dtype=np.uint16).reshape(40, 30)
    PillowImage.fromarray(array).save(tmp_path / "packed.tif", compression="tiff_adobe_deflate", tiffinfo={317: 2})
    np.testing.assert_array_equal(read_image(tmp_path / "packed.tif").array, array)


@pytest.mark.parametrize("dtype", ["uint8", "uint16", "float32"])
def test_lzw_compression_is_read(tmp_path: Path, dtype: str) -> None:
    array = np.arange(40 * 30).reshape(40, 30).astype(dtype)
    PillowImage.fromarray(array).save(tmp_path / "lzw.tif", compression="tiff_lzw")
    image = read_image(tmp_path / "lzw.tif")
    assert image.dtype == dtype
    np.testing.assert_array_equal(image.array, array)


def test_the_value_a_geotiff_declares_as_no_data_is_kept(tmp_path: Path) -> None:
    heights = np.array([[10.0, -9999.0]], np.float32)
    tags = [(GDAL_NODATA, "s", 0, "-9999", True), (GEO_KEYS, "H", 4, (1, 1, 0, 0), True)]
    tifffile.imwrite(tmp_path / "dem.tif", heights, extratags=tags, metadata=None)
    image = read_image(tmp_path / "dem.tif")
    assert image.missing == -9999.0
    assert image.notes == ("georeference not carried over; graphsr raster keeps it, and places the source by it",)


def test_the_missing_value_we_write_is_declared(tmp_path: Path) -> None:
    write_image(tmp_path / "depth.tif", np.array([[1.0, np.nan]], np.float32), like="uint16", missing=65535)
    image = read_image(tmp_path / "depth.tif")
    assert image.missing == 65535
    assert image.array.tolist() == [[1, 65535]]


@pytest.mark.parametrize(("kind", "dropped"), [("unassalpha", True), ("unspecified", False)])
def test_only_a_sample_declared_as_alpha_is_dropped(tmp_path: Path, kind: str, dropped: bool) -> None:
    array = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
    tifffile.imwrite(tmp_path / "four.tif", array, photometric="rgb", extrasamples=[kind])
    image = read_image(tmp_path / "four.tif")
    np.testing.assert_array_equal(image.array, array[..., :3] if dropped else array)
    assert image.notes == (("alpha channel dropped",) if dropped else ())


def test_white_is_zero_is_turned_round(tmp_path: Path) -> None:
    tifffile.imwrite(tmp_path / "scan.tif", np.array([[0, 255]], np.uint8), photometric="miniswhite")
    assert read_image(tmp_path / "scan.tif").array.tolist() == [[255, 0]]


def test_a_palette_becomes_its_colours(tmp_path: Path) -> None:
    colours = np.array([[[255, 0, 0], [0, 0, 255]]], np.uint8)
    PillowImage.fromarray(colours).quantize(4).save(tmp_path / "palette.tif")
    np.testing.assert_array_equal(read_image(tmp_path / "palette.tif").array, colours)


def test_one_bit_becomes_black_and_white(tmp_path: Path) -> None:
    PillowImage.fromarray(np.array([[True, False]])).save(tmp_path / "bits.tif")
    assert read_image(tmp_path / "bits.tif").array.tolist() == [[255, 0]]


def test_overviews_are_passed_over_and_several_pages_refused(tmp_path: Path) -> None:
    full, small = np.ones((8, 8), np.uint8), np.ones((4, 4), np.uint8)
    for name, subfile in (("overview.tif", 1), ("pages.tif", 0)):
        with tifffile.TiffWriter(tmp_path / name) as writer:
            writer.write(full, metadata=None)
            writer.write(small, subfiletype=subfile, metadata=None)
    assert read_image(tmp_path / "overview.tif").size == (8, 8)
    with pytest.raises(InputError, match=r"pages\.tif: holds 2 pages"):
        read_image(tmp_path / "pages.tif")
