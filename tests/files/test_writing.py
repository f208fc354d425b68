"""A result keeps the source's units and type, and what had to change is counted."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from graphsr.errors import InputError
from graphsr.files import check_output, read_image, write_image
from graphsr.files.conversion import Change, convert, convert_uncounted


def test_a_16_bit_millimetre_png_in_gives_a_16_bit_millimetre_png_out(tmp_path: Path) -> None:
    write_image(tmp_path / "source.png", np.array([[1000, 2000]], np.uint16))
    source = read_image(tmp_path / "source.png")
    target = np.array([[1000.0, 1500.25], [1999.5, 2000.0]], np.float32)
    report = write_image(tmp_path / "target.png", target, like=source)
    stored = read_image(tmp_path / "target.png")
    assert stored.dtype == np.uint16
    assert stored.array.tolist() == [[1000, 1500], [2000, 2000]]
    assert report.rounded == Change(2, 0.5)
    assert report.clipped == Change()
    assert list(report.notes()) == ["2 of 4 values rounded to uint16, by at most 0.5"]


def test_values_beyond_the_type_are_clipped_and_counted(tmp_path: Path) -> None:
    target = np.array([[-3.0, 100.0, 255.4, 300.0]], np.float32)
    report = write_image(tmp_path / "grey.png", target, like=np.uint8)
    assert read_image(tmp_path / "grey.png").array.tolist() == [[0, 100, 255, 255]]
    assert report.clipped == Change(3, 45.0)
    assert report.rounded == Change()


def test_infinity_in_a_whole_number_format_is_clipped() -> None:
    converted = convert(np.array([[np.inf, -np.inf, 1.0]]), np.dtype(np.int16))
    assert converted.array.tolist() == [[32767, -32768, 1]]
    assert converted.clipped.count == 2


@pytest.mark.parametrize(("missing", "expected"), [(None, 0), (float("nan"), 0), (0, 0), (65535, 65535)])
def test_nan_becomes_the_missing_value_and_is_counted(tmp_path: Path, missing: float | None, expected: int) -> None:
    target = np.array([[np.nan, 7.0], [np.nan, 8.0]], np.float32)
    report = write_image(tmp_path / "depth.png", target, like=np.uint16, missing=missing)
    assert read_image(tmp_path / "depth.png").array.tolist() == [[expected, 7], [expected, 8]]
    assert (report.missing, report.missing_value) == (2, expected)
    assert list(report.notes()) == [f"2 missing values written as {expected}"]


def test_floats_keep_nan_unless_the_source_had_a_value_for_it(tmp_path: Path) -> None:
    target = np.array([[np.nan, 7.5]], np.float32)
    write_image(tmp_path / "kept.npy", target, like=np.float64)
    np.testing.assert_array_equal(read_image(tmp_path / "kept.npy").array, target.astype(np.float64))
    report = write_image(tmp_path / "marked.npy", target, like=np.float32, missing=-9999)
    assert read_image(tmp_path / "marked.npy").array.tolist() == [[-9999.0, 7.5]]
    assert report.missing == 1


@pytest.mark.parametrize("missing", [-1, 0.5, 70000])
def test_a_missing_value_the_type_cannot_hold_is_refused(tmp_path: Path, missing: float) -> None:
    with pytest.raises(InputError, match=r"depth\.png.*does not fit uint16"):
        check_output(tmp_path / "depth.png", np.uint16, missing=missing)


def test_a_float_source_is_not_squeezed_into_png(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"depth\.png.*float32.*\.tif, \.npy, \.pfm or \.exr"):
        write_image(tmp_path / "depth.png", np.ones((2, 2), np.float32))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("source", "suffix", "stored"),
    [
        ("uint8", ".tif", "uint8"),
        ("uint16", ".npy", "uint16"),
        ("uint16", ".pfm", "float32"),
        ("uint8", ".exr", "float32"),
        ("uint16", ".exr", "float32"),
        ("int32", ".exr", "float32"),
        ("uint32", ".png", "uint16"),
        ("int16", ".png", "uint16"),
        ("int64", ".tif", "float64"),
        ("float16", ".pfm", "float32"),
        ("float64", ".pfm", "float32"),
        ("float64", ".exr", "float32"),
        ("float16", ".tif", "float16"),
    ],
)
def test_the_type_of_the_source_is_kept_where_the_format_has_it(
    tmp_path: Path, source: str, suffix: str, stored: str
) -> None:
    assert check_output(tmp_path / f"out{suffix}", source) == stored


def test_half_floats_say_what_they_rounded_and_clipped() -> None:
    converted = convert(np.array([[1.0, 0.1, 1e6, np.inf]], np.float32), np.dtype(np.float16))
    assert converted.array.tolist() == [[1.0, float(np.float16(0.1)), 65504.0, np.inf]]
    assert converted.rounded.count == 1
    assert converted.clipped == Change(1, 1e6 - 65504)


@pytest.mark.parametrize("missing", [None, float("nan"), 0.0, 7.0])
@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint32", "float16", "float32", "float64"])
@pytest.mark.parametrize("given_as", [np.float32, np.float64])
def test_values_are_the_same_whether_or_not_changes_are_counted(
    given_as: type, dtype: str, missing: float | None
) -> None:
    hard = [np.nan, np.inf, -np.inf, 0.1, -0.5, 0.5, 1.5, 255.4, -1e6, 1e6, 65519.0, 65521.0, 3.4e38, 3.5e38, -1e300]
    with np.errstate(over="ignore"):
        values = np.array([hard], given_as)
    before = values.copy()
    stored = convert_uncounted(values, np.dtype(dtype), missing)
    assert stored.dtype == dtype
    np.testing.assert_array_equal(stored, convert(values, np.dtype(dtype), missing).array)
    np.testing.assert_array_equal(values, before)
    if missing == 7.0:
        assert stored[0, 0] == 7
    if dtype == "float16":
        assert stored[0, 13] == (np.inf if given_as == np.float32 else 65504)


@given(arrays(np.float32, (3, 4), elements=st.floats(-1e5, 1e5, width=32)))
def test_rounding_never_moves_a_value_in_range_by_more_than_half(values: np.ndarray) -> None:
    converted = convert(values, np.dtype(np.uint16))
    inside = (values >= 0) & (values <= 65535)
    moved = np.abs(converted.array.astype(np.float64) - values)
    assert np.all(moved[inside] <= 0.5)
    assert converted.clipped.count == np.count_nonzero(~inside)
    assert converted.rounded.count == np.count_nonzero(moved[inside])


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".pfm"])
def test_picture_formats_refuse_channels_they_cannot_hold(tmp_path: Path, suffix: str) -> None:
    dtype = np.float32 if suffix == ".pfm" else np.uint8
    with pytest.raises(InputError, match=r"bands.*1 or 3 channels.*has 5.*\.tif or \.npy"):
        write_image(tmp_path / f"bands{suffix}", np.ones((2, 2, 5), dtype))


@pytest.mark.parametrize("array", [np.ones(3), np.ones((1, 1, 1, 1)), np.ones((0, 3))])
def test_only_images_are_written(tmp_path: Path, array: np.ndarray) -> None:
    with pytest.raises(InputError, match=r"out\.npy.*shape"):
        write_image(tmp_path / "out.npy", array)


def test_an_unknown_output_type_lists_the_known_ones(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"out\.gif: unknown file type \.gif; use one of \.png"):
        write_image(tmp_path / "out.gif", np.ones((2, 2), np.uint8))
