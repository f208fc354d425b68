"""Points large enough to be seen."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt

_SHARE = 0.3  # the radius of a point, of the distance between points
_LARGEST = 1 / 150  # of the longer side


def enlarged_points(values: NDArray[Any]) -> NDArray[Any]:
    """Draw each point as a disc.

    Args:
        values: (H, W), NaN where there is no point; at least one is known.

    Returns:
        (H, W), each pixel near a point with its value, the others NaN.
    """
    known = np.isfinite(values)
    spacing = np.sqrt(values.size / np.count_nonzero(known))
    radius = min(_SHARE * spacing, max(1.0, _LARGEST * max(values.shape)))
    distance, (rows, columns) = distance_transform_edt(~known, return_indices=True)
    return np.where(distance <= radius, values[rows, columns], np.nan)
