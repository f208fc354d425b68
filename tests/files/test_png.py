"""PNG of every kind found in the wild."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from PIL import Image as PillowImage

from graphsr.files import read_image, write_image
from graphsr.files.formats.png import SIGNATURE


def encode_16_bit(array: np.ndarray, colour_type: int, filter_type: int) -> bytes:
    """A PNG written by the book (ISO 15948), with the same filter in every row."""
    height, width, channels = array.shape
    pixel = 2 * channels
    rows = array.astype(">u2").view(np.uint8).reshape(height, width * pixel).astype(int)
    left = np.pad(rows, ((0, 0), (pixel, 0)))[:, :-pixel]
    up = np.pad(rows, ((1, 0), (0, 0)))[:-1]
    corner = np.pad(rows, ((1, 0), (pixel, 0)))[:-1, :-pixel]
    estimate = left + up - corner
    to_left, to_up, to_corner = abs(estimate - left), abs(estimate - up), abs(estimate - corner)
    paeth = np.where((to_left <= to_up) & (to_left <= to_corner), left, np.where(to_up <= to_corner, up, corner))
    prediction = [np.zeros_like(rows), left, up, (left + up) // 2, paeth][filter_type]
    filtered = np.concatenate([np.full((height, 1), filter_type), (rows - prediction) % 256], axis=1)
    header = struct.pack(">IIBBBBB", width, height, 16, colour_type, 0, 0, 0)
    data = zlib.compress(filtered.astype(np.uint8).tobytes())
    return SIGNATURE + chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")


def chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


@pytest.mark.parametrize("filter_type", range(5))
@pytest.mark.parametrize(("colour_type", "channels"), [(2, 3), (6, 4), (4, 2)])
def test_all_16_bits_of_colour_are_read(tmp_path: Path, colour_type: int, channels: int, filter_type: int) -> None:
    array = np.random.default_rng(0).integers(0, 65536, (6, 5, channels)).astype(np.uint16)
    (tmp_path / "deep.png").write_bytes(encode_16_bit(array, colour_type, filter_type))
    image = read_image(tmp_path / "deep.png")
    assert image.dtype == np.uint16
    visible = {2: array[..., 0], 3: array, 4: array[..., :3]}[channels]
    np.testing.assert_array_equal(image.array, visible)
    assert image.notes == (() if channels == 3 else ("alpha channel dropped",))


@given(
    arrays(
        st.sampled_from([np.uint8, np.uint16]),
        st.one_of(
            array_shapes(min_dims=2, max_dims=2, max_side=9),
            array_shapes(min_dims=2, max_dims=2, max_side=9).map(lambda shape: (*shape, 3)),
        ),
    )
)
def test_any_png_array_round_trips(tmp_path_factory: pytest.TempPathFactory, array: np.ndarray) -> None:
    path = tmp_path_factory.mktemp("png") / "any.png"
    write_image(path, array)
    np.testing.assert_array_equal(read_image(path).array, array)


def test_what_we_write_in_16_bit_colour_other_programs_read(tmp_path: Path) -> None:
    array = np.arange(4 * 5 * 3, dtype=np.uint16).reshape(4, 5, 3) * 1000
    write_image(tmp_path / "deep.png", array)
    with PillowImage.open(tmp_path / "deep.png") as picture:
        picture.load()  # checks the checksums too
        np.testing.assert_array_equal(np.asarray(picture), array >> 8)


@pytest.mark.parametrize(("mode", "kept"), [("RGBA", 3), ("LA", 1)])
def test_an_alpha_channel_is_dropped_and_said(tmp_path: Path, mode: str, kept: int) -> None:
    PillowImage.new(mode, (4, 3), (10, 20, 30, 40)[: len(mode)]).save(tmp_path / "alpha.png")
    image = read_image(tmp_path / "alpha.png")
    assert image.channels == kept
    assert image.array.flat[0] == 10
    assert image.notes == ("alpha channel dropped",)


def test_a_palette_becomes_its_colours(tmp_path: Path) -> None:
    colours = np.array([[[255, 0, 0], [0, 0, 255]]], np.uint8)
    PillowImage.fromarray(colours).quantize(4).save(tmp_path / "palette.png")
    np.testing.assert_array_equal(read_image(tmp_path / "palette.png").array, colours)


def test_one_bit_becomes_black_and_white(tmp_path: Path) -> None:
    PillowImage.fromarray(np.array([[True, False]])).save(tmp_path / "bits.png")
    assert read_image(tmp_path / "bits.png").array.tolist() == [[255, 0]]
