"""The camera of a guide: given in numbers or files, read from a photograph, or guessed."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as PillowImage

from graphsr.errors import InputError
from graphsr.files import read_image
from graphsr.files.camera import CameraOptions, camera_of, parse_camera
from graphsr.files.image import Image

GUIDE = Image(np.zeros((480, 640, 3), np.uint8), Path("guide.png"))
MATRIX = np.array([[525.0, 0, 319.5], [0, 526, 239.5], [0, 0, 1]])


def test_one_focal_length_holds_for_both_axes_and_the_axis_meets_the_middle() -> None:
    camera = camera_of(GUIDE, parse_camera(520, None, None))
    assert (camera.focal, camera.centre) == ((520, 520), (320, 240))
    assert str(camera) == "focal length 520 px, as given"


@pytest.mark.parametrize("text", ["525,526,319.5,239.5", "525 526 319.5 239.5", "[525, 526, 319.5, 239.5]"])
def test_intrinsics_are_four_numbers(text: str) -> None:
    assert parse_camera(None, text, None) == CameraOptions((525, 526), (319.5, 239.5))


def test_intrinsics_may_lie_in_a_file(tmp_path: Path) -> None:
    files = {
        "four.txt": "525 526 319.5 239.5\n",
        "matrix.txt": "\n".join(" ".join(map(str, row)) for row in MATRIX),
        "open3d.json": json.dumps({"width": 640, "height": 480, "intrinsic_matrix": MATRIX.T.ravel().tolist()}),
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
        found = parse_camera(None, tmp_path / name, None)
        assert found == CameraOptions((525, 526), (319.5, 239.5)), name


@pytest.mark.parametrize(
    "text",
    ["525,526,319.5", "a,b,c,d", "x" * 300, "nan,1,2,3", "no-such-file.txt", "1 0 0 0 1 0 0 0 1 0", '{"K": [1]}'],
)
def test_what_is_no_camera_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"--intrinsics .*must be four numbers, fx,fy,cx,cy"):
        parse_camera(None, text, None)


def test_intrinsics_in_a_file_that_does_not_exist_are_looked_for() -> None:
    with pytest.raises(InputError, match=r"--intrinsics no-such-file.txt: no such file; must be four numbers"):
        parse_camera(None, "no-such-file.txt", None)


@pytest.mark.parametrize("text", ["0,526,319,239", "-5,526,319,239"])
def test_focal_lengths_are_positive(text: str) -> None:
    with pytest.raises(InputError, match="must be positive"):
        parse_camera(None, text, None)


def test_a_matrix_with_skew_is_refused(tmp_path: Path) -> None:
    (tmp_path / "k.txt").write_text("525 3 319.5 0 526 239.5 0 0 1")
    with pytest.raises(InputError, match="fx 0 cx, 0 fy cy, 0 0 1"):
        parse_camera(None, tmp_path / "k.txt", None)


def test_binary_files_and_folders_are_refused(tmp_path: Path) -> None:
    (tmp_path / "k.npy").write_bytes(b"\x93NUMPY\xff\xfe")
    with pytest.raises(InputError, match=r"k\.npy: cannot be read as text"):
        parse_camera(None, tmp_path / "k.npy", None)
    with pytest.raises(InputError):
        parse_camera(None, tmp_path, None)


def test_the_focal_length_is_said_once() -> None:
    with pytest.raises(InputError, match="leave one out"):
        parse_camera(500, "525,526,319.5,239.5", None)


@pytest.mark.parametrize("baseline", [0.0, -1.0, math.nan])
def test_a_baseline_is_positive(baseline: float) -> None:
    with pytest.raises(InputError, match=r"--baseline .* must be positive"):
        parse_camera(500, None, baseline)


def test_intrinsics_of_the_source_are_found_out() -> None:
    with pytest.raises(InputError, match="not in the guide of 640 x 480 pixels"):
        camera_of(GUIDE, CameraOptions((1500, 1500), (960, 540)))


def test_a_photograph_says_its_focal_length(tmp_path: Path) -> None:
    exif = PillowImage.Exif()
    exif.get_ifd(0x8769)[0xA405] = 36
    PillowImage.fromarray(np.zeros((200, 300, 3), np.uint8)).save(tmp_path / "photo.jpg", exif=exif)
    camera = camera_of(read_image(tmp_path / "photo.jpg"), CameraOptions())
    assert camera.focal == pytest.approx((300, 300))
    assert "from the EXIF data of photo.jpg" in str(camera)
    assert camera_of(read_image(tmp_path / "photo.jpg"), CameraOptions((5, 5))).focal == (5, 5)


def test_otherwise_it_is_guessed_and_said_so(tmp_path: Path) -> None:
    PillowImage.fromarray(np.zeros((200, 300, 3), np.uint8)).save(tmp_path / "photo.jpg")
    for guide in (GUIDE, read_image(tmp_path / "photo.jpg")):
        camera = camera_of(guide, CameraOptions())
        assert camera.focal[0] == 0.8 * max(guide.size)
        assert "guessed: 0.8 of the longer side; --focal says it" in str(camera)
