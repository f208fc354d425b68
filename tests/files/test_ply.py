"""Point clouds as files: an independent reader finds the points, their colours and nothing else."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from plyfile import PlyData

from graphsr.errors import InputError
from graphsr.files.camera import Camera
from graphsr.files.image import Image
from graphsr.files.ply import check_ply, write_ply, write_point_cloud
from graphsr.point_cloud import points

CAMERA = Camera((50.0, 60.0), (4.5, 3.0), "as given")


def read(path: Path) -> tuple[np.ndarray, np.ndarray]:
    """The points (N, 3) and colours (N, 3) of a file, read by plyfile."""
    vertex = PlyData.read(str(path))["vertex"].data
    places, colours = (np.stack([vertex[n] for n in names], -1) for names in ("xyz", ("red", "green", "blue")))
    return places, colours


def image(array: np.ndarray) -> Image:
    return Image(array, Path("guide.png"))


def test_points_and_colours_come_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    depth = rng.uniform(1, 5, (6, 8)).astype(np.float32)
    guide = rng.integers(0, 256, (6, 8, 3)).astype(np.uint8)
    report = write_point_cloud(tmp_path / "a.ply", image(guide), depth, CAMERA)
    cloud, colours = read(tmp_path / "a.ply")
    rows, columns = np.mgrid[:6, :8]
    # The pinhole formula, in double precision; single has 6e-8.
    expected = np.stack([(columns + 0.5 - 4.5) / 50 * depth, (rows + 0.5 - 3.0) / 60 * depth, depth], -1)
    np.testing.assert_allclose(cloud, expected.reshape(-1, 3), rtol=1e-6)
    np.testing.assert_array_equal(colours, guide.reshape(-1, 3))
    assert (report.points, report.left_out) == (48, 0)


def test_pixels_without_a_depth_are_left_out_with_their_colours(tmp_path: Path) -> None:
    depth = np.array([[1.0, np.nan], [0.0, 2.0]], np.float32)
    guide = np.arange(12, dtype=np.uint8).reshape(2, 2, 3)
    report = write_point_cloud(tmp_path / "a.ply", image(guide), depth[..., None], CAMERA)
    cloud, colours = read(tmp_path / "a.ply")
    assert cloud[:, 2].tolist() == [1, 2]
    assert colours.tolist() == [[0, 1, 2], [9, 10, 11]]
    assert "2 points (2 pixels without a depth left out)" in str(report)


def test_a_disparity_becomes_a_depth(tmp_path: Path) -> None:
    disparity = np.array([[5.0, 10.0]], np.float32)
    write_point_cloud(tmp_path / "a.ply", image(np.zeros((1, 2), np.uint8)), disparity, CAMERA, baseline=0.2)
    assert read(tmp_path / "a.ply")[0][:, 2].tolist() == [2, 1]


def test_a_guide_of_16_bits_has_colours_of_8(tmp_path: Path) -> None:
    guide = np.array([[0, 65535]], np.uint16)
    write_point_cloud(tmp_path / "a.ply", image(guide), np.ones((1, 2)), CAMERA)
    assert read(tmp_path / "a.ply")[1].tolist() == [[0, 0, 0], [255, 255, 255]]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_precision_is_kept_and_colours_may_be_left_out(tmp_path: Path, dtype: str) -> None:
    cloud = points(np.array([[1 / 3, 1e6]], dtype), 1)
    write_ply(tmp_path / "a.ply", cloud)
    vertex = PlyData.read(str(tmp_path / "a.ply"))["vertex"].data
    assert vertex.dtype.names == ("x", "y", "z")
    assert vertex["z"].dtype == dtype
    np.testing.assert_array_equal(vertex["z"], cloud[:, 2])


def test_the_header_is_what_readers_expect(tmp_path: Path) -> None:
    write_point_cloud(tmp_path / "a.ply", image(np.zeros((1, 2, 3), np.uint8)), np.ones((1, 2), np.float32), CAMERA)
    content = (tmp_path / "a.ply").read_bytes()
    header, _, data = content.partition(b"end_header\n")
    assert header.startswith(b"ply\nformat binary_little_endian 1.0\n")
    assert b"element vertex 2\nproperty float x\n" in header
    assert len(data) == 2 * (3 * 4 + 3)


def test_a_target_without_a_positive_value_is_no_cloud(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no pixel has a positive value"):
        write_point_cloud(tmp_path / "a.ply", image(np.zeros((1, 2), np.uint8)), np.zeros((1, 2)), CAMERA)
    assert not (tmp_path / "a.ply").exists()


def test_what_cannot_be_written_is_refused_in_advance(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"give it the suffix \.ply"):
        check_ply(tmp_path / "cloud.obj", 1)
    with pytest.raises(InputError, match="the source has 3 channels"):
        check_ply(tmp_path / "cloud.ply", 3)
    with pytest.raises(InputError, match="folder"):
        check_ply(tmp_path / "nowhere" / "cloud.ply", 1)
