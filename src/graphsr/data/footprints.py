"""Footprints: what a source pixel measures of the target under it.

`box`             the mean over its area: the published protocol, and what the solver assumes
`bicubic`         the antialiased bicubic reduction of PIL and MATLAB, with which later papers make their sources
`gaussian:SIGMA`  a Gaussian about its middle, SIGMA in source pixels: a lens
`point`           the one target pixel in its middle: a sparse scanner
"""

from __future__ import annotations

import math

import numpy as np
import torch
from PIL import Image
from scipy import ndimage

from graphsr.errors import InputError
from graphsr.sampling import Sampling
from graphsr.suggestion import suggestion

FOOTPRINTS = ("box", "bicubic", "gaussian:SIGMA", "point")
_GAUSSIAN = "gaussian:"
# A Gaussian that sees less than this part of known pixels measures nothing.
_LEAST_KNOWN = 1e-3


def check_footprint(footprint: str) -> None:
    """Raise an error if no footprint has this name."""
    if footprint.startswith(_GAUSSIAN):
        _sigma(footprint)
    elif footprint not in FOOTPRINTS:
        raise InputError(f"footprint {footprint!r}: unknown; {suggestion(footprint, FOOTPRINTS)}")


def downsample(target: np.ndarray, source_size: tuple[int, int], footprint: str = "box") -> np.ndarray:
    """Return the source that a perfect sensor with this footprint gives of a target.

    Args:
        target: (H, W), NaN = unknown.
        source_size: (h, w).
        footprint: one of `FOOTPRINTS`.

    Returns:
        (h, w) float32, NaN where no target pixel under the source pixel is known.
    """
    check_footprint(footprint)
    if footprint == "bicubic":
        return _bicubic(target, source_size)
    if footprint == "point":
        steps = (n / count for n, count in zip(target.shape, source_size, strict=True))
        rows, columns = (((np.arange(n) + 0.5) * step).astype(int) for n, step in zip(source_size, steps, strict=True))
        return target[np.ix_(rows, columns)].astype(np.float32)
    return average(target, source_size) if footprint == "box" else _gaussian(target, source_size, _sigma(footprint))


def average(target: np.ndarray, source_size: tuple[int, int]) -> np.ndarray:
    """Return the mean of the known target pixels under each source pixel, weighted by the area they share.

    Args:
        target: (H, W), NaN = unknown.
        source_size: (h, w).

    Returns:
        (h, w) float32, NaN where no target pixel is known.

    Example:
        >>> import numpy as np
        >>> average(np.array([[1.0, 3.0, 5.0, np.nan]]), (1, 2))
        array([[2., 5.]], dtype=float32)
    """
    sampling = Sampling((target.shape[0], target.shape[1]), source_size)
    values = torch.from_numpy(np.ascontiguousarray(target, dtype=np.float64))
    mean, share = sampling.masked(torch.nan_to_num(values), torch.isfinite(values))
    return np.where(share.numpy() > 0, mean.numpy(), np.nan).astype(np.float32)


def _bicubic(target: np.ndarray, source_size: tuple[int, int]) -> np.ndarray:
    known = np.isfinite(target)
    if not known.all():  # its weights are also negative, so a mean of the known pixels alone could be anything
        nearest = ndimage.distance_transform_edt(~known, return_distances=False, return_indices=True)
        target = target[tuple(nearest)]
    image = Image.fromarray(np.ascontiguousarray(target, np.float32))
    source = np.array(image.resize((source_size[1], source_size[0]), Image.Resampling.BICUBIC))
    source[average(known.astype(np.float32), source_size) == 0] = np.nan
    return source


def _sigma(footprint: str) -> float:
    try:
        sigma = float(footprint.removeprefix(_GAUSSIAN))
    except ValueError:
        sigma = math.nan
    if not 0 < sigma < math.inf:
        raise InputError(f"footprint {footprint!r}: SIGMA must be a positive number, in source pixels")
    return sigma


def _gaussian(target: np.ndarray, source_size: tuple[int, int], sigma: float) -> np.ndarray:
    rows, columns = (_gaussian_weights(n, count, sigma) for n, count in zip(target.shape, source_size, strict=True))
    known = np.isfinite(target)
    weight = rows @ known @ columns.T
    with np.errstate(invalid="ignore", divide="ignore"):
        source = rows @ np.where(known, target, 0.0) @ columns.T / weight
    return np.where(weight > _LEAST_KNOWN, source, np.nan).astype(np.float32)


def _gaussian_weights(pixels: int, count: int, sigma: float) -> np.ndarray:
    """Return (count, pixels): the weight of each target pixel in each source pixel, along one axis."""
    step = pixels / count
    centre = (np.arange(count) + 0.5) * step
    distance = (np.arange(pixels) + 0.5 - centre[:, None]) / step
    weights = np.exp(-0.5 * (distance / sigma) ** 2)
    return np.asarray(weights / weights.sum(1, keepdims=True))
