"""Points in space: a map of depths as a pinhole camera saw it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphsr.arrays import as_array
from graphsr.errors import InputError

# Of the longer side, a field of view of 64 degrees: between a phone's main camera (26 mm on film: 0.75) and a Kinect
# (525 of 640 pixels: 0.82).
_GUESSED_FOCAL = 0.8
_FILM_DIAGONAL_MM = math.hypot(36, 24)

Pair = tuple[float, float]


def points(depth: Any, focal: float | Pair, centre: Pair | None = None) -> NDArray[np.floating[Any]]:
    """Return the points of a depth map in space.

    A pixel x, y of depth z lies at ((x - cx) z / fx, (y - cy) z / fy, z): x to the right, y down, z ahead, in the
    units of the depth.

    Args:
        depth: (H, W), along the optical axis. What is not finite, or not positive, is no point.
        focal: The focal length in pixels, or that along x and that along y.
        centre: Where the optical axis meets the image, x and y in pixels from its upper left corner, so that the
            first pixel's centre is 0.5, 0.5. Default the middle of the image.

    Returns:
        (N, 3) float32, or float64 for depths in that, in the order of `depth[has_point(depth)]`.

    Example:
        >>> import numpy as np
        >>> from graphsr.point_cloud import points
        >>> points(np.array([[2.0, np.nan]], np.float32), focal=0.5).tolist()
        [[-2.0, 0.0, 2.0]]
    """
    z = _map("depth", depth)
    fx, fy = check_focal(focal)
    height, width = z.shape
    cx, cy = (width / 2, height / 2) if centre is None else centre
    known = has_point(z)
    along = z[known].astype(np.float64 if z.dtype == np.float64 else np.float32)
    found = np.empty((len(along), 3), along.dtype)
    found[:, 2] = along
    rays = (np.arange(width) + 0.5 - cx) / fx, (np.arange(height)[:, None] + 0.5 - cy) / fy
    for axis, ray in enumerate(rays):
        found[:, axis] = np.broadcast_to(ray.astype(along.dtype), z.shape)[known] * along
    return found


def has_point(depth: Any) -> NDArray[np.bool_]:
    """Return which pixels of a depth map (H, W) are points: those with a positive, finite depth.

    Args:
        depth: (H, W).

    Returns:
        (H, W).

    Example:
        >>> from graphsr.point_cloud import has_point
        >>> has_point([[2.0, 0.0, float("nan")]]).tolist()
        [[True, False, False]]
    """
    z = _map("depth", depth)
    found: NDArray[np.bool_] = np.isfinite(z) & (z > 0)
    return found


def depth_of_disparity(disparity: Any, focal: float | Pair, baseline: float) -> NDArray[np.floating[Any]]:
    """Return the depths of a disparity map: focal length times baseline over disparity.

    Args:
        disparity: (H, W), in pixels. What is not positive is infinitely far.
        focal: As in `points`; that along x counts.
        baseline: The distance of the two cameras, in the units that the depth shall have.

    Returns:
        (H, W), NaN where there is no disparity, infinity where it is not positive.

    Example:
        >>> from graphsr.point_cloud import depth_of_disparity
        >>> depth_of_disparity([[10.0, 20.0]], focal=500, baseline=0.2).tolist()
        [[10.0, 5.0]]
    """
    values = _map("disparity", disparity)
    if not (math.isfinite(baseline) and baseline > 0):
        raise InputError(f"baseline: must be positive, the distance of the two cameras, not {baseline:g}")
    known = has_point(values)
    product = check_focal(focal)[0] * baseline
    values = values.astype(np.result_type(values.dtype, np.float32))
    beyond = np.where(np.isnan(values), np.nan, np.inf).astype(values.dtype)
    depth: NDArray[np.floating[Any]] = np.divide(values.dtype.type(product), values, out=beyond, where=known)
    return depth


def guess_focal(size: tuple[int, int]) -> float:
    """Return a focal length in pixels for an image (H, W) of an unknown camera, such as a phone or a Kinect has.

    Args:
        size: Height and width of the image, in pixels.

    Returns:
        0.8 of the longer side: a field of view of 64 degrees.

    Example:
        >>> from graphsr.point_cloud import guess_focal
        >>> guess_focal((480, 640))
        512.0
    """
    return _GUESSED_FOCAL * max(size)


def focal_from_film(focal_mm: float, size: tuple[int, int]) -> float:
    """Return a focal length in pixels from one on 35 mm film, which cameras write into their photographs.

    Args:
        focal_mm: The focal length that shows as much on 35 mm film.
        size: Height and width of the photograph, in pixels.

    Returns:
        The focal length in pixels; diagonals are what is compared.

    Example:
        >>> from graphsr.point_cloud import focal_from_film
        >>> round(focal_from_film(26, (3024, 4032)))
        3029
    """
    return focal_mm / _FILM_DIAGONAL_MM * math.hypot(*size)


def check_focal(focal: float | Pair) -> Pair:
    """Return the focal length along x and along y; raise an `InputError` if one is not positive."""
    fx, fy = (focal, focal) if isinstance(focal, int | float) else focal
    if not (0 < fx < math.inf and 0 < fy < math.inf):
        given = f"{fx:g}" if fx == fy else f"{fx:g}, {fy:g}"
        raise InputError(f"focal length: must be positive, in pixels of the guide, not {given}")
    return float(fx), float(fy)


def _map(name: str, values: Any) -> np.ndarray:
    array = as_array(name, values)
    if array.ndim != 2:
        raise InputError(f"{name}: must be (H, W), one value a pixel, but its shape is {array.shape}")
    return array
