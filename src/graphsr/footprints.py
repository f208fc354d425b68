"""Footprints: what a source pixel averages over, as weights along one axis.

`box`             the mean over its area
`bicubic`         the antialiased bicubic reduction of PIL and MATLAB, with which many sources are made
`gaussian:SIGMA`  a Gaussian about its middle, SIGMA in source pixels: a lens
`point`           the value in its middle, linear between the target pixels around it: a sparse scanner
"""

from __future__ import annotations

import math

import numpy as np

from graphsr.errors import InputError
from graphsr.suggestion import suggestion

FOOTPRINTS = ("box", "bicubic", "gaussian:SIGMA", "point")
_GAUSSIAN = "gaussian:"
# The cubic kernel of PIL and MATLAB; it reaches two source pixels.
_CUBIC = -0.5
_CUBIC_REACH = 2.0
# Standard deviations beyond which a Gaussian counts as 0: below 4e-4 of its middle.
_GAUSSIAN_REACH = 4.0
# A wider one leaves nothing of what differs between two neighbouring source pixels.
_LARGEST_SIGMA = 1.0
_NEGLIGIBLE = 1e-9


def check_footprint(footprint: str) -> None:
    """Raise an error if no footprint has this name."""
    if isinstance(footprint, str) and footprint.startswith(_GAUSSIAN):
        _sigma(footprint)
    elif footprint not in FOOTPRINTS or footprint == FOOTPRINTS[2]:
        hint = suggestion(footprint, FOOTPRINTS) if isinstance(footprint, str) else f"one of {', '.join(FOOTPRINTS)}"
        raise InputError(f"footprint {footprint!r}: unknown; {hint}")


def footprint_reach(footprint: str) -> float:
    """Return how far a footprint reaches from the middle of its source pixel, in source pixels."""
    if footprint == "bicubic":
        return _CUBIC_REACH
    return max(_GAUSSIAN_REACH * _sigma(footprint), 0.5) if footprint.startswith(_GAUSSIAN) else 0.5


def footprint_weights(
    footprint: str, centres: np.ndarray, step: float, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the weights of the target pixels in source pixels, for every footprint but the box.

    Args:
        footprint: One of `FOOTPRINTS`.
        centres: (cells,) the middle of each source pixel, in target pixels; inside the target.
        step: How many target pixels a source pixel measures.
        size: Target pixels along the axis.

    Returns:
        The first target pixel of each source pixel (cells,), how many there are (cells,), and their weights
        (cells, most), zero padded; each row sums to 1.
    """
    reach = 1.0 if footprint == "point" else max(footprint_reach(footprint) * step, 1.0)
    first = np.clip(np.ceil(centres - reach - 0.5 + _NEGLIGIBLE), 0, size - 1).astype(np.int64)
    last = np.clip(np.floor(centres + reach - 0.5 - _NEGLIGIBLE), 0, size - 1).astype(np.int64)
    count = last - first + 1
    pixels = first[:, None] + np.arange(count.max())
    distance = np.abs(pixels + 0.5 - centres[:, None])  # in target pixels
    weights = np.where(pixels <= last[:, None], _kernel(footprint, distance, step), 0.0)
    return first, count, weights / weights.sum(1, keepdims=True)


def _kernel(footprint: str, distance: np.ndarray, step: float) -> np.ndarray:
    """Return weights, of any sum, by the distance from the middle in target pixels (cells, n)."""
    if footprint == "point":
        # A middle within half a pixel of the border has one pixel, and that a weight.
        return np.asarray(np.maximum(1.0 - distance, _NEGLIGIBLE * (distance <= 1.0)))
    if footprint == "bicubic":
        return cubic_weight(distance / step, _CUBIC)
    # Relative to the nearest pixel, which keeps its weight however narrow the Gaussian is.
    nearest = distance.min(1, keepdims=True)
    return np.asarray(np.exp(-0.5 * (distance**2 - nearest**2) / (step * _sigma(footprint)) ** 2))


def cubic_weight(distance: np.ndarray, a: float) -> np.ndarray:
    """Return the weight of a sample at a distance, in samples, of the cubic kernel with the parameter a."""
    d = np.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((a * d - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))


def _sigma(footprint: str) -> float:
    try:
        sigma = float(footprint.removeprefix(_GAUSSIAN))
    except ValueError:
        sigma = math.nan
    if not 0 < sigma <= _LARGEST_SIGMA:
        raise InputError(
            f"footprint {footprint!r}: SIGMA must be a positive number, in source pixels, and at most "
            f"{_LARGEST_SIGMA:g}; gaussian:0.5 is that of many lenses"
        )
    return sigma
