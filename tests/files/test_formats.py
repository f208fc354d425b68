"""Every format gives back what was put into it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphsr.files import read_image, write_image
from graphsr.files.registry import FORMATS

SHAPES = [(5, 7), (4, 6, 3)]
CASES = [
    (suffix, dtype, shape)
    for entry in FORMATS
    if not entry.lossy
    for suffix in entry.suffixes
    for dtype in entry.types
    for shape in SHAPES
]


def some_values(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    """Values over the whole range of the type, its two ends included."""
    rng = np.random.default_rng(7)
    if np.dtype(dtype).kind == "f":
        return (rng.normal(size=shape) * 100).astype(dtype)
    limits = np.iinfo(dtype)
    values = rng.integers(limits.min, limits.max, size=shape, dtype=dtype, endpoint=True)
    values.flat[0], values.flat[-1] = limits.min, limits.max
    return values


@pytest.mark.parametrize(("suffix", "dtype", "shape"), CASES)
def test_what_is_written_is_read_back_exactly(tmp_path: Path, suffix: str, dtype: str, shape: tuple[int, ...]) -> None:
    array = some_values(dtype, shape)
    report = write_image(tmp_path / f"image{suffix}", array)
    image = read_image(tmp_path / f"image{suffix}")
    assert image.dtype == array.dtype
    assert image.notes == ()
    np.testing.assert_array_equal(image.array, array)
    assert list(report.notes()) == []
    assert report.dtype == dtype


@pytest.mark.parametrize("suffix", [".tif", ".npy", ".npz", ".exr"])
@pytest.mark.parametrize("channels", [2, 4, 13])
def test_formats_for_measurements_hold_any_number_of_channels(tmp_path: Path, suffix: str, channels: int) -> None:
    bands = some_values("float32", (3, 5, channels))
    write_image(tmp_path / f"bands{suffix}", bands)
    np.testing.assert_array_equal(read_image(tmp_path / f"bands{suffix}").array, bands)


@pytest.mark.parametrize("suffix", [".tif", ".npy", ".pfm", ".exr"])
def test_nan_and_infinity_survive_in_formats_that_hold_floats(tmp_path: Path, suffix: str) -> None:
    depth = np.array([[1.5, np.nan], [np.inf, -np.inf]], np.float32)
    write_image(tmp_path / f"depth{suffix}", depth)
    np.testing.assert_array_equal(read_image(tmp_path / f"depth{suffix}").array, depth)


@pytest.mark.parametrize("suffix", [".png", ".tif", ".pfm", ".exr", ".jpg"])
def test_a_single_trailing_channel_is_written_as_grey(tmp_path: Path, suffix: str) -> None:
    dtype = "float32" if suffix in (".pfm", ".exr") else "uint8"
    grey = np.full((8, 8, 1), 40, dtype)
    write_image(tmp_path / f"grey{suffix}", grey)
    np.testing.assert_array_equal(read_image(tmp_path / f"grey{suffix}").array, grey[..., 0])


def test_the_case_of_a_suffix_does_not_matter(tmp_path: Path) -> None:
    write_image(tmp_path / "DEPTH.PNG", np.ones((2, 3), np.uint16))
    assert read_image(tmp_path / "DEPTH.PNG").size == (2, 3)


def test_arrays_in_foreign_byte_order_become_native(tmp_path: Path) -> None:
    np.save(tmp_path / "big.npy", np.array([[1, 2], [3, 4]], ">u2"))
    image = read_image(tmp_path / "big.npy")
    assert image.dtype == np.uint16
    assert image.dtype.isnative
    assert image.array.tolist() == [[1, 2], [3, 4]]


def test_truth_values_are_read_as_zeros_and_ones(tmp_path: Path) -> None:
    np.save(tmp_path / "mask.npy", np.array([[True, False]]))
    image = read_image(tmp_path / "mask.npy")
    assert image.dtype == np.uint8
    assert image.array.tolist() == [[1, 0]]
