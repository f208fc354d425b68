"""Noise and outliers of sparse points: what is said of them, as a confidence of every point.

A point that the planes of its neighbours do not explain is an outlier, unless edges of the guide part it from them:
its prediction then has a large variance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from graphsr.errors import InputError
from graphsr.measurements.noise import LEAST_CONFIDENCE, Noise
from graphsr.measurements.planes import predict_points

# The noise of points at which their confidence is a half, in standard deviations of them: fitted
# (docs/evidence/sparse-points.md).
_UNIT = 0.035
# A point is an outlier beyond so many standard deviations: where outliers are common and where they are rare.
_IF_COMMON, _IF_RARE = 4.0, 10.0
# They are common where more than this share of all points, and not just a few, are beyond the second number.
_COMMON, _A_FEW = 0.01, 2
# The least standard deviation of a prediction, in those of all points.
_LEAST_ERROR = 0.03
_ROUNDS = 3
# Fewer points do not tell which of them is wrong.
_FEWEST = 8


def refuse_auto(noise: Noise | None) -> float | None:
    """Return a stated noise of sparse points; raise InputError where it should be estimated."""
    if noise == "auto":
        raise InputError(
            "noise: sparse points do not tell noise from the detail between them; give a standard deviation, not 'auto'"
        )
    return noise


def confidence_of_points(noise: float, values: NDArray[np.floating]) -> float:
    """Return the confidence of points with this noise.

    Args:
        noise: Standard deviation, in the units of the points.
        values: (H, W), NaN where there is no point.
    """
    std = float(np.nanstd(values)) or 1.0
    return max(LEAST_CONFIDENCE, 1 / (1 + (noise / (_UNIT * std)) ** 2))


def find_outliers(
    values: NDArray[np.floating],
    down: NDArray[np.floating],
    right: NDArray[np.floating],
    *,
    noise: float,
    cutoff: float | None,
) -> NDArray[np.bool_]:
    """Find points that those around them do not explain.

    Args:
        values: (H, W), NaN where there is no point.
        down: (H-1, W) edge weights, positive.
        right: (H, W-1) edge weights, positive.
        noise: Standard deviation of the noise of the points, in their units.
        cutoff: The error from which on a point is wrong; None: by the noise and the errors around it.

    Returns:
        (H, W), where they are.
    """
    known = np.isfinite(values)
    wrong = np.zeros(values.shape, bool)
    if np.count_nonzero(known) < _FEWEST:
        return wrong
    least = noise**2 + (_LEAST_ERROR * float(np.nanstd(values))) ** 2
    for _ in range(_ROUNDS):
        found = predict_points(values, down, right, known & ~wrong)
        std = np.sqrt((least + (1.4826 * found.usual) ** 2) * (1 + found.variance))
        deviations = np.abs(found.errors) / std
        many = np.count_nonzero(deviations > _IF_RARE) > max(_A_FEW, _COMMON * len(deviations))
        beyond = deviations > (_IF_COMMON if many else _IF_RARE) if cutoff is None else np.abs(found.errors) > cutoff
        wrong = np.zeros(values.shape, bool)
        wrong[found.rows[beyond], found.columns[beyond]] = True
        if wrong.sum() == known.sum():  # nobody is left to say so
            return np.zeros(values.shape, bool)
    return wrong
