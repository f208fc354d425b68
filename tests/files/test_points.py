"""Points read from files: text in its many forms, arrays, images whose zeros are holes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from graphsr import InputError
from graphsr.files import write_image
from graphsr.files.points import read_points

ROWS = np.array([[0.5, 1.5, 3.25], [4.0, 2.5, -1e-3]])


@pytest.mark.parametrize(
    "text",
    [
        "0.5,1.5,3.25\n4,2.5,-1e-3\n",
        "x,y,depth\n0.5,1.5,3.25\n4,2.5,-0.001",
        '"x", "y", "depth"\r\n0.5, 1.5, 3.25\r\n4, 2.5, -0.001\r\n',
        "# a comment\n\n0.5 1.5 3.25\n   4 2.5\t-0.001 # another\n",
        "x;y;z\n0.5;1.5;3.25\n4;2.5;-0.001\n",
        "0,5;1,5;3,25\n4;2,5;-0,001;\n",
        "\ufeff0.5,1.5,3.25\n4,2.5,-0.001\n",
    ],
)
@pytest.mark.parametrize("suffix", [".csv", ".txt"])
def test_text_with_or_without_a_header_separated_by_what_people_use(tmp_path: Path, text: str, suffix: str):
    path = tmp_path / f"points{suffix}"
    path.write_text(text, encoding="utf-8")
    found = read_points(path)
    np.testing.assert_allclose(found.points, ROWS)
    assert not found.is_map
    assert found.stored == np.float32


def test_a_fourth_column_is_kept(tmp_path: Path):
    (tmp_path / "points.csv").write_text("x,y,z,confidence\n1,2,3,0.5\n")
    np.testing.assert_array_equal(read_points(tmp_path / "points.csv").points, [[1, 2, 3, 0.5]])


@pytest.mark.parametrize("suffix", [".npy", ".npz"])
def test_rows_in_an_array(tmp_path: Path, suffix: str):
    path = tmp_path / f"points{suffix}"
    write_image(path, ROWS)
    found = read_points(path)
    np.testing.assert_array_equal(found.points, ROWS)
    assert not found.is_map


def test_zeros_of_an_image_are_holes(tmp_path: Path):
    image = np.zeros((5, 6), np.uint16)
    image[2, 3], image[4, 4] = 1200, 7
    write_image(tmp_path / "lidar.png", image)
    found = read_points(tmp_path / "lidar.png")
    assert found.is_map
    assert found.stored.dtype == np.uint16
    np.testing.assert_array_equal(found.points, np.where(image == 0, np.nan, image))
    other = read_points(tmp_path / "lidar.png", missing=7)
    np.testing.assert_array_equal(other.points, np.where(image == 7, np.nan, image))


def test_nan_of_a_map_is_a_hole_whatever_else_is(tmp_path: Path):
    values = np.full((5, 6), np.nan, np.float32)
    values[1, 1], values[2, 2] = 0, 4
    write_image(tmp_path / "map.npy", values)
    assert np.isfinite(read_points(tmp_path / "map.npy").points).sum() == 1
    assert np.isfinite(read_points(tmp_path / "map.npy", missing=float("nan")).points).sum() == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "there is no point in it"),
        ("x,y,z\n", "there is no point in it"),
        ("1,2,3\n1,two,3\n", "line 2: 'two' is not a number; each line must be x, y, value"),
        ("1,2,3\n1,2\n", "line 2 has 2 columns, and the first 3"),
        ("id,x,y,z\n1,2,3,4\n", "the columns are id, x, y, z; they must be x, y, value, in this order"),
    ],
)
def test_what_is_wrong_with_a_text_is_said_with_its_line(tmp_path: Path, text: str, message: str):
    path = tmp_path / "points.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message) as error:
        read_points(path)
    assert str(error.value).startswith(f"{path}: ")


def test_other_files_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="no such file"):
        read_points(tmp_path / "points.csv")
    (tmp_path / "points.txt").write_bytes(b"\xff\xfe\x00\x80")
    with pytest.raises(InputError, match="is not a text file"):
        read_points(tmp_path / "points.txt")
    write_image(tmp_path / "colours.png", np.zeros((5, 6, 3), np.uint8))
    with pytest.raises(InputError, match="holds 3 channels; a map of points has one"):
        read_points(tmp_path / "colours.png")
