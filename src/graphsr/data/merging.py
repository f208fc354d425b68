"""Two scenes in one: at every pixel whichever is nearer is seen, so that things stand before new backgrounds."""

from __future__ import annotations

import numpy as np
from scipy import ndimage

from graphsr.data.pair import Pair

# The middle of the other scene lies up to so many spreads before or behind that of the first, and its own spread is up
# to so many times larger or smaller.
_MOST_ASIDE, _MOST_TIMES = 0.5, 2.0
# A spread is the distance between these quantiles, but at least this part of the median: a wall has none.
_QUANTILES, _LEAST_SPREAD = (0.1, 0.9), 0.05
# A camera blurs the outline of what stands before something else by so many pixels (standard deviation).
_OUTLINE_BLUR = (0.3, 0.8)


def merge(first: Pair, other: Pair, rng: np.random.Generator) -> Pair:
    """Return what a camera sees of two scenes that are in the same place.

    Args:
        first: says what the pair is called and in which unit it is.
        other: of the same size, in any unit, as its values are brought to where those of the first are.
        rng: where distance, spread and blur are drawn from.
    """
    one, two = first.target, other.target
    if _is_disparity(first) != _is_disparity(other):
        two = -two  # what is near has large disparities and small depths
    (middle, spread), (its_middle, its_spread) = _middle_and_spread(one), _middle_and_spread(two)
    aside, times = rng.uniform(-_MOST_ASIDE, _MOST_ASIDE), _MOST_TIMES ** rng.uniform(-1, 1)
    two = (middle + spread * (aside + times / its_spread * (two - its_middle))).astype(np.float32)
    in_front = one >= two if _is_disparity(first) else one <= two
    target = np.where(np.isnan(one) | np.isnan(two), np.float32(np.nan), np.where(in_front, one, two))
    share = ndimage.gaussian_filter(in_front.astype(np.float32), rng.uniform(*_OUTLINE_BLUR))[..., None]
    guide = (share * first.guide + (1 - share) * other.guide).round().astype(np.uint8)
    return Pair(first.name, guide, target, first.unit)


def _is_disparity(pair: Pair) -> bool:
    return pair.unit == "px"


def _middle_and_spread(values: np.ndarray) -> tuple[float, float]:
    known = values[np.isfinite(values)]
    if not known.size:
        return 0.0, 1.0
    low, middle, high = np.quantile(known, (_QUANTILES[0], 0.5, _QUANTILES[1])).tolist()
    return middle, max(high - low, _LEAST_SPREAD * abs(middle), 1e-6)
