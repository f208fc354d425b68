"""JPEG, and the orientation that cameras leave to the reader."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image as PillowImage
from PIL import ImageOps

from graphsr.errors import InputError
from graphsr.files import read_image, write_image
from graphsr.files.orientation import ORIENTATION_TAG, upright


def photograph(size: tuple[int, int] = (16, 24)) -> np.ndarray:
    rows, columns = np.mgrid[: size[0], : size[1]]
    return np.stack([rows * 10, columns * 9, rows + columns], axis=-1).astype(np.uint8)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_photograph_is_read_upright(tmp_path: Path, orientation: int) -> None:
    exif = PillowImage.Exif()
    exif[ORIENTATION_TAG] = orientation
    path = tmp_path / "photo.jpg"
    PillowImage.fromarray(photograph()).save(path, quality=95, exif=exif)
    with PillowImage.open(path) as picture:
        expected = np.asarray(ImageOps.exif_transpose(picture))
    image = read_image(path)
    np.testing.assert_array_equal(image.array, expected)
    assert bool(image.notes) == (orientation != 1)


@pytest.mark.parametrize("suffix", [".png", ".tif"])
def test_the_orientation_of_other_formats_counts_too(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"photo{suffix}"
    if suffix == ".tif":
        tag = (ORIENTATION_TAG, "H", 1, 6, True)
        tifffile.imwrite(path, photograph(), photometric="rgb", extratags=[tag])
    else:
        exif = PillowImage.Exif()
        exif[ORIENTATION_TAG] = 6
        PillowImage.fromarray(photograph()).save(path, exif=exif)
    np.testing.assert_array_equal(read_image(path).array, upright(photograph(), 6)[0])
    assert read_image(path).size == (24, 16)


def test_jpeg_in_four_inks_is_read_as_colour(tmp_path: Path) -> None:
    PillowImage.new("CMYK", (8, 8), (0, 0, 0, 255)).save(tmp_path / "print.jpg")
    image = read_image(tmp_path / "print.jpg")
    assert image.channels == 3
    assert image.array.max() < 10


def test_what_jpeg_compression_changed_is_reported(tmp_path: Path) -> None:
    noise = np.random.default_rng(0).integers(0, 256, (32, 32, 3)).astype(np.uint8)
    report = write_image(tmp_path / "noise.jpg", noise)
    stored = read_image(tmp_path / "noise.jpg").array
    difference = np.abs(stored.astype(int) - noise)
    assert report.compressed.count == np.count_nonzero(difference) > 0
    assert report.compressed.largest == difference.max()
    assert "JPEG compression" in next(report.notes())


@pytest.mark.parametrize(("dtype", "advice"), [("uint16", ".png"), ("float32", ".tif")])
def test_jpeg_is_refused_for_what_it_would_spoil(tmp_path: Path, dtype: str, advice: str) -> None:
    with pytest.raises(InputError, match=advice):
        write_image(tmp_path / "depth.jpg", np.ones((4, 4), dtype))
    assert list(tmp_path.iterdir()) == []
