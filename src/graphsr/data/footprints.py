"""Sources made of targets: what a source pixel measures of the known target pixels in its footprint.

The footprints are those of `graphsr.footprints`, but for `point`, which is the one target pixel in the middle here: a
scanner sees one surface, never the mean of two.
"""

from __future__ import annotations

import numpy as np
import torch
from scipy import ndimage

from graphsr.footprints import check_footprint
from graphsr.sampling import Sampling

# A Gaussian that sees less than this part of known pixels measures nothing.
_LEAST_KNOWN = 1e-3


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
    least = 0.0 if footprint == "box" else _LEAST_KNOWN
    return _masked(target, Sampling((target.shape[0], target.shape[1]), source_size, footprint=footprint), least)


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
    return _masked(target, Sampling((target.shape[0], target.shape[1]), source_size), 0.0)


def _masked(target: np.ndarray, sampling: Sampling, least: float) -> np.ndarray:
    """Return the means of the known pixels (h, w), NaN where their share is not above `least`."""
    values = torch.from_numpy(np.ascontiguousarray(target, dtype=np.float64))
    mean, share = sampling.masked(torch.nan_to_num(values), torch.isfinite(values))
    return np.where(share.numpy() > least, mean.numpy(), np.nan).astype(np.float32)


def _bicubic(target: np.ndarray, source_size: tuple[int, int]) -> np.ndarray:
    known = np.isfinite(target)
    if not known.any():
        return np.full(source_size, np.nan, np.float32)
    if not known.all():  # its weights are also negative, so a mean of the known pixels alone could be anything
        nearest = ndimage.distance_transform_edt(~known, return_distances=False, return_indices=True)
        target = target[tuple(nearest)]
    sampling = Sampling((target.shape[0], target.shape[1]), source_size, footprint="bicubic")
    source = sampling(torch.from_numpy(np.ascontiguousarray(target, dtype=np.float64))).numpy().astype(np.float32)
    source[average(known.astype(np.float32), source_size) == 0] = np.nan
    return source
