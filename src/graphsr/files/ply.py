"""Point clouds as PLY files, binary with colours: what Open3D, MeshLab, CloudCompare and Blender read."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphsr.errors import InputError
from graphsr.files.atomic import check_folder, whole_file
from graphsr.files.camera import Camera
from graphsr.files.image import Image
from graphsr.pictures.colour import as_picture
from graphsr.point_cloud import depth_of_disparity, has_point, points

_TYPES = {np.dtype(np.float32): "float", np.dtype(np.float64): "double"}


@dataclass(frozen=True)
class PointCloudReport:
    """What was written: how many points, how many pixels were left out, and the camera."""

    path: Path
    points: int
    left_out: int
    camera: Camera

    def __str__(self) -> str:
        """Return it in words."""
        without = f" ({self.left_out:,} pixels without a depth left out)" if self.left_out else ""
        return f"{self.path}, {self.points:,} points{without}, {self.camera}"


def check_ply(path: str | os.PathLike[str], channels: int) -> None:
    """Check, before anything is computed, that a point cloud can be written; raise an `InputError` if not.

    Args:
        path: The file to write.
        channels: Those of the source.
    """
    if Path(path).suffix.lower() != ".ply":
        raise InputError(f"{path}: point clouds are PLY files; give it the suffix .ply")
    if channels != 1:
        raise InputError(f"{path}: a point cloud is made of one depth a pixel, and the source has {channels} channels")
    check_folder(Path(path))


def write_point_cloud(
    path: Path, guide: Image, target: NDArray[Any], camera: Camera, baseline: float | None = None
) -> PointCloudReport:
    """Write a target as points with the colours of its guide.

    Args:
        path: The file to write.
        guide: (H, W) or (H, W, C).
        target: (H, W) or (H, W, 1), the depth; with `baseline` the disparity in pixels.
        camera: The camera of the guide.
        baseline: The distance of the two cameras of a disparity.

    Returns:
        What was written.
    """
    depth = target.reshape(guide.size)
    if baseline is not None:
        depth = depth_of_disparity(depth, camera.focal, baseline)
    known = has_point(depth)
    if not known.any():
        raise InputError(f"{path}: no pixel has a positive value, so there is no point to write; is it a depth?")
    cloud = points(depth, camera.focal, camera.centre)
    write_ply(path, cloud, as_picture(guide.array)[known])
    return PointCloudReport(path, len(cloud), known.size - len(cloud), camera)


def write_ply(
    path: str | os.PathLike[str], cloud: NDArray[np.floating[Any]], colours: NDArray[np.uint8] | None = None
) -> None:
    """Write points as a binary PLY file, whole or not at all.

    Args:
        path: The file to write.
        cloud: (N, 3) float32 or float64.
        colours: (N, 3), sRGB; None: without.

    Returns:
        Nothing.

    Example:
        >>> import numpy as np, tempfile
        >>> from graphsr.files.ply import write_ply
        >>> from graphsr.point_cloud import points
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     write_ply(f"{folder}/wall.ply", points(np.full((3, 4), 2.5), focal=4))
    """
    path = Path(path)
    check_folder(path)
    fields: list[tuple[str, Any]] = [(name, cloud.dtype.newbyteorder("<")) for name in "xyz"]
    fields += [] if colours is None else [(name, np.dtype(np.uint8)) for name in ("red", "green", "blue")]
    rows = np.empty(len(cloud), fields)
    for n, (name, _) in enumerate(fields):
        rows[name] = cloud[:, n] if n < 3 or colours is None else colours[:, n - 3]
    properties = [f"property {_TYPES[cloud.dtype] if n < 3 else 'uchar'} {name}" for n, (name, _) in enumerate(fields)]
    header = [
        *("ply", "format binary_little_endian 1.0", "comment graphsr: x to the right, y down, z ahead"),
        *(f"element vertex {len(cloud)}", *properties, "end_header", ""),
    ]
    with whole_file(path) as temporary, temporary.open("wb") as stream:
        stream.write("\n".join(header).encode("ascii"))
        rows.tofile(stream)
