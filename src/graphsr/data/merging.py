"""Two scenes in one: at every pixel whichever is nearer is seen, so that things stand before new backgrounds."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from graphsr.data.pair import Pair

# The other scene is moved so that its middle lies at that of the first, then nearer or further by up to this factor.
_MOST_NEARER = 2.0
# A camera blurs the outline of what stands before something else by so many pixels (standard deviation).
_OUTLINE_BLUR = (0.3, 0.8)


def merge(first: Pair, other: Pair, rng: np.random.Generator) -> Pair:
    """Return what a camera sees of two scenes that are in the same place.

    Args:
        first: says what the pair is called and in which unit it is.
        other: of the same size; both maps are positive. It is scaled, so its unit does not matter unless one of the
            two is a disparity and the other is not: then its map becomes one over what it was.
        rng: where distance and blur are drawn from.
    """
    near = first.target
    far = other.target if _is_disparity(first) == _is_disparity(other) else 1 / np.maximum(other.target, 1e-6)
    times = np.exp(rng.uniform(-1, 1) * np.log(_MOST_NEARER)) * np.nanmedian(near) / max(np.nanmedian(far), 1e-6)
    far = (far * times).astype(np.float32)
    in_front = near >= far if _is_disparity(first) else near <= far
    target = np.where(np.isnan(near) | np.isnan(far), np.float32(np.nan), np.where(in_front, near, far))
    share = ndimage.gaussian_filter(in_front.astype(np.float32), rng.uniform(*_OUTLINE_BLUR))[..., None]
    guide = (share * first.guide + (1 - share) * other.guide).round().astype(np.uint8)
    return Pair(first.name, guide, target, first.unit)


def _is_disparity(pair: Pair) -> bool:
    return pair.unit == "px"
