"""WebP, BMP, PGM and PPM: formats of cameras and tools that are read, but not written."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image as PillowImage

from graphsr.errors import InputError
from graphsr.files import read_image, write_image
from graphsr.files.orientation import ORIENTATION_TAG

COLOURS = np.random.default_rng(0).integers(0, 256, (5, 7, 3)).astype(np.uint8)


@pytest.mark.parametrize("name", ["a.webp", "a.bmp", "a.ppm"])
def test_colours_are_read_as_they_are(tmp_path: Path, name: str) -> None:
    PillowImage.fromarray(COLOURS).save(tmp_path / name, lossless=True)  # which WebP alone heeds
    image = read_image(tmp_path / name)
    assert image.dtype == np.uint8
    assert image.notes == ()
    np.testing.assert_array_equal(image.array, COLOURS)


@pytest.mark.parametrize("name", ["a.bmp", "a.pgm"])
def test_grey_has_one_channel(tmp_path: Path, name: str) -> None:
    PillowImage.fromarray(COLOURS[..., 0]).save(tmp_path / name)
    np.testing.assert_array_equal(read_image(tmp_path / name).array, COLOURS[..., 0])


def test_an_alpha_channel_is_dropped_and_said(tmp_path: Path) -> None:
    PillowImage.new("RGBA", (4, 3), (10, 20, 30, 40)).save(tmp_path / "a.webp", lossless=True, exact=True)
    image = read_image(tmp_path / "a.webp")
    assert image.array[0, 0].tolist() == [10, 20, 30]
    assert image.notes == ("alpha channel dropped",)


def test_a_bmp_with_a_palette_becomes_its_colours(tmp_path: Path) -> None:
    colours = np.array([[[255, 0, 0], [0, 0, 255]]], np.uint8)
    PillowImage.fromarray(colours).quantize(4).save(tmp_path / "palette.bmp")
    np.testing.assert_array_equal(read_image(tmp_path / "palette.bmp").array, colours)


def test_a_bmp_of_single_bits_becomes_black_and_white(tmp_path: Path) -> None:
    PillowImage.fromarray(np.array([[True, False]])).save(tmp_path / "bits.bmp")
    assert read_image(tmp_path / "bits.bmp").array.tolist() == [[255, 0]]


def test_a_webp_is_turned_upright(tmp_path: Path) -> None:
    exif = PillowImage.Exif()
    exif[ORIENTATION_TAG] = 6
    PillowImage.fromarray(COLOURS).save(tmp_path / "phone.webp", lossless=True, exif=exif)
    image = read_image(tmp_path / "phone.webp")
    np.testing.assert_array_equal(image.array, np.rot90(COLOURS, -1))
    assert image.notes == ("turned upright (orientation tag 6)",)


def test_an_animation_is_refused(tmp_path: Path) -> None:
    frames = [PillowImage.new("RGB", (8, 8), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "film.webp", save_all=True, append_images=frames[1:])
    with pytest.raises(InputError, match=r"film\.webp: holds 2 frames; save the one to use"):
        read_image(tmp_path / "film.webp")


def test_pictures_larger_than_pillow_likes_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    PillowImage.fromarray(COLOURS).save(tmp_path / "large.bmp")
    monkeypatch.setattr(PillowImage, "MAX_IMAGE_PIXELS", 4)
    assert read_image(tmp_path / "large.bmp").size == (5, 7)


class TestNetpbm:
    @pytest.mark.parametrize("largest", [1000, 4095, 65535])
    def test_16_bit_values_are_not_rescaled(self, tmp_path: Path, largest: int) -> None:
        depth_mm = np.array([[0, 1, 999], [500, 256, 1000]], np.uint16)
        (tmp_path / "depth.pgm").write_bytes(b"P5 3 2 %d\n" % largest + depth_mm.astype(">u2").tobytes())
        image = read_image(tmp_path / "depth.pgm")
        assert image.dtype == np.uint16
        np.testing.assert_array_equal(image.array, depth_mm)

    def test_16_bit_colour_keeps_its_low_bits(self, tmp_path: Path) -> None:
        deep = np.arange(2 * 3 * 3, dtype=np.uint16).reshape(2, 3, 3) * 1001
        (tmp_path / "deep.ppm").write_bytes(b"P6\n3 2\n65535\n" + deep.astype(">u2").tobytes())
        np.testing.assert_array_equal(read_image(tmp_path / "deep.ppm").array, deep)

    def test_text_and_comments_are_read(self, tmp_path: Path) -> None:
        (tmp_path / "a.pgm").write_text("P2 # by hand\n# 3 wide\n3 2\n15\n0 1 2 # first row\n3 4 15\n")
        image = read_image(tmp_path / "a.pgm")
        assert image.dtype == np.uint8
        assert image.array.tolist() == [[0, 1, 2], [3, 4, 15]]
        (tmp_path / "a.pnm").write_text("P3 1 1 300 1 2 300")
        assert read_image(tmp_path / "a.pnm").array.tolist() == [[[1, 2, 300]]]

    def test_pixels_that_look_like_white_space_are_pixels(self, tmp_path: Path) -> None:
        (tmp_path / "a.pgm").write_bytes(b"P5 2 2 255\n" + b"\n #1")
        assert read_image(tmp_path / "a.pgm").array.tolist() == [[10, 32], [35, 49]]

    @pytest.mark.parametrize(
        ("content", "says"),
        [
            (b"P5 3 2 255\n12345", "cut short; 6 values needed, 5 found"),
            (b"P2 3 2 255\n1 2 3", "cut short; 6 values needed, 3 found"),
            (b"P5 3 2 70000\n" + bytes(12), "the largest value must be 1 to 65535, not 70000"),
            (b"P5 1 1 100\n\xff", "holds 255, but says that 100 is its largest value"),
            (b"P4 8 1\n\xff", "not a PGM or PPM file"),
            (b"P2 1 1 255\n-1", "cannot be read as PGM or PPM"),
        ],
    )
    def test_what_is_wrong_is_said(self, tmp_path: Path, content: bytes, says: str) -> None:
        (tmp_path / "a.pgm").write_bytes(content)
        with pytest.raises(InputError, match=rf"a\.pgm: {says}"):
            read_image(tmp_path / "a.pgm")


@pytest.mark.parametrize(("name", "format"), [("a.webp", "WebP"), ("a.bmp", "BMP"), ("a.pgm", "PGM or PPM")])
def test_writing_is_refused_with_what_can_be_written(tmp_path: Path, name: str, format: str) -> None:
    with pytest.raises(InputError, match=rf"{name}: {format} files are read, but not written; use one of \.png, ") as e:
        write_image(tmp_path / name, COLOURS)
    assert name[1:] not in str(e.value).partition("use one of")[2]
    assert list(tmp_path.iterdir()) == []
