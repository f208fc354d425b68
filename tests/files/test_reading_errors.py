"""A file that cannot be read is named, with the reason, in one line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image as PillowImage

from graphsr.errors import InputError
from graphsr.files import read_image, write_image
from graphsr.files.registry import FORMATS, format_of

SUFFIXES = [suffix for entry in FORMATS for suffix in entry.suffixes]


def complaint_about(path: Path) -> str:
    with pytest.raises(InputError) as caught:
        read_image(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    return message


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_missing_file_is_said_to_be_missing(tmp_path: Path, suffix: str) -> None:
    assert "no such file" in complaint_about(tmp_path / f"absent{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_folder_is_no_file(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"folder{suffix}").mkdir()
    assert "is a folder" in complaint_about(tmp_path / f"folder{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_an_empty_file_is_said_to_be_empty(tmp_path: Path, suffix: str) -> None:
    (tmp_path / f"empty{suffix}").touch()
    assert "empty" in complaint_about(tmp_path / f"empty{suffix}")


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_noise_is_no_image(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"noise{suffix}"
    path.write_bytes(np.random.default_rng(3).bytes(2000))
    complaint_about(path)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_file_cut_short_is_not_half_read(tmp_path: Path, suffix: str, share: float) -> None:
    path = tmp_path / f"cut{suffix}"
    noise = np.random.default_rng(3).integers(0, 256, (40, 50)).astype(np.uint8)
    if format_of(path).write is None:
        PillowImage.fromarray(noise).save(path, lossless=True)  # which WebP alone heeds
    else:
        write_image(path, noise if suffix != ".exr" else noise.astype(np.float32))
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    complaint_about(path)


def test_a_file_with_the_wrong_suffix_is_told_the_right_one(tmp_path: Path) -> None:
    write_image(tmp_path / "photo.jpg", np.zeros((8, 8, 3), np.uint8))
    (tmp_path / "photo.jpg").rename(tmp_path / "photo.png")
    assert "holds a JPEG image; give it the suffix .jpg" in complaint_about(tmp_path / "photo.png")


@pytest.mark.parametrize("name", ["photo.heic", "photo"])
def test_an_unknown_file_type_lists_the_known_ones(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"anything")
    message = complaint_about(tmp_path / name)
    assert all(suffix in message for suffix in SUFFIXES)
