"""Points large enough to be seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

_SHARE = 0.4  # the radius of a point, of the distance between points
_SMALLEST, _LARGEST = 1.0, 4.0  # pixels of the picture
_FEW = 0.25  # a map with less of its pixels known is one of points
_VISIBLE = 4  # pixels of the picture; what is as large can be seen as it is


def is_sparse(values: NDArray[Any], size: tuple[int, int]) -> bool:
    """Return whether a map (h, w) shown in so many rows and columns is one of points too small to be seen."""
    return has_few(np.isfinite(values)) and max(size[0] / values.shape[0], size[1] / values.shape[1]) < _VISIBLE


def has_few(known: NDArray[np.bool_]) -> bool:
    """Return whether so few pixels (h, w) are known that they are points rather than a map with holes."""
    return bool(np.count_nonzero(known) < _FEW * known.size)


def enlarged_points(values: NDArray[Any], size: tuple[int, int]) -> NDArray[Any]:
    """Draw each point of a map as a disc.

    Args:
        values: (h, w), NaN where there is no point.
        size: (H, W), rows and columns to show it in.

    Returns:
        (H, W), each pixel near a point with its value, the others NaN.
    """
    rows, columns = np.nonzero(np.isfinite(values))
    shown = np.full(size, np.nan, np.float64)
    if not len(rows):
        return shown
    places = tuple(
        ((along + 0.5) * side / sides).astype(int)
        for along, side, sides in zip((rows, columns), size, values.shape, strict=True)
    )
    shown[places] = values[rows, columns]
    known = np.isfinite(shown)
    spacing = np.sqrt(shown.size / np.count_nonzero(known))
    radius = np.clip(_SHARE * spacing, _SMALLEST, _LARGEST)
    distance, (near_row, near_column) = distance_transform_edt(~known, return_indices=True)
    return np.where(distance <= radius, shown[near_row, near_column], np.nan)
