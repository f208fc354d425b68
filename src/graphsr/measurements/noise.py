"""The noise of a source: estimated where the source is smooth, and made a confidence.

With noise of standard deviation sigma the negative logarithm of the posterior of a target y is, up to a factor,

    sum (D y - s)^2 / sigma^2  +  sum w (y_p - y_q - o)^2 / u^2,

where u says what an edge weight of 1 means: how far, in units of the source, neighbours with that weight may differ.
Multiplied by u^2 it is the energy of a solve with the confidence u^2 / sigma^2. A source without noise is not without
error, as no graph tells all, so that the confidence is 1 there: u^2 / (u^2 + sigma^2). Every graph model says its u.
"""

from __future__ import annotations

import logging
import math
from numbers import Real
from typing import Literal

import torch
from torch import Tensor

from graphsr.errors import InputError

Noise = float | Literal["auto"]

# This quantile of the absolute value of a standard normal variable, and its value. A low quantile is taken where
# the source is smooth.
_QUANTILE, _OF_NORMAL = 0.25, 0.31864
# Fewer pixels whose surroundings are known say nothing of noise.
_FEWEST = 16
# Fitted: how the unit grows with the factor, which is that of _UNIT_FACTOR where a model says it
# (docs/evidence/noise-and-outliers.md).
_GROWTH, _UNIT_FACTOR = 0.75, 8.0
# The confidence that a stated noise leaves at least, however large it is beside what the source varies by: a constant
# source, or a channel of zeros, is still known.
LEAST_CONFIDENCE = 1e-12
# The square root leaves room for the squares that are summed on the way.
_LARGEST = torch.finfo(torch.float32).max ** 0.5

_log = logging.getLogger("graphsr")


def check_noise(noise: object, *, exact: bool) -> Noise | None:
    """Return a stated noise if it is one; raise InputError if not, or where it makes no sense."""
    if noise is None:
        return None
    if exact:
        raise InputError("noise: with exact the target averages back to the source, noise and all; give one of the two")
    if isinstance(noise, str):
        if noise == "auto":
            return "auto"
        raise InputError(f"noise: must be a standard deviation in the source's units or 'auto', not {noise!r}")
    number = float(noise) if isinstance(noise, Real) and not isinstance(noise, bool) else math.nan
    if not 0 <= number < math.inf:
        raise InputError(f"noise: must be a standard deviation, 0 or above and finite, or 'auto', not {noise!r}")
    if number > _LARGEST:
        raise InputError(f"noise: {number:g} is too large for single precision; it is in the source's units")
    return number


def parse_noise(text: str | None) -> Noise | None:
    """Return the noise that a command was given."""
    try:
        number = None if text is None else float(text)
    except ValueError:
        return check_noise(text, exact=False)
    return check_noise(number, exact=False)


def resolve_noise(noise: Noise, source: Tensor) -> Tensor:
    """Return the standard deviation of the noise (B, K, 1, 1), in the units of the source (B, K, h, w)."""
    if noise == "auto":
        return told_noise(noise_levels(source))
    return source.new_full((*source.shape[:2], 1, 1), noise)


def told_noise(estimated: Tensor) -> Tensor:
    """Return what `noise_levels` found, with 0 where the source does not tell; that is said."""
    if bool(torch.isnan(estimated).any()):
        _log.warning(
            "noise: too few source pixels lie side by side to estimate it, so 0 is taken; give a standard deviation"
        )
    return torch.nan_to_num(estimated)


def estimate_noise(source: Tensor) -> Tensor:
    """Estimate the standard deviation of white noise in a source as `noise_levels` does; 0 where it does not tell."""
    return torch.nan_to_num(noise_levels(source))


def noise_levels(source: Tensor) -> Tensor:
    """Estimate the standard deviation of white noise in a source.

    The mask (1, -2, 1) x (1, -2, 1) does not see slanted planes and multiplies the standard deviation of noise by 6. A
    low quantile of its responses is that of smooth places. Curved surfaces respond too, but to a mask of twice the size
    16 / 4 times as strongly, while white noise responds to both alike; from the two, the noise is told apart.

    Args:
        source: (B, K, h, w); NaN is missing.

    Returns:
        (B, K, 1, 1) in the units of the source; NaN where too few pixels are known to tell.
    """
    channels = source.detach().double().flatten(0, 1)
    found = [_noise_of_channel(channel) for channel in channels]
    return source.new_tensor(found).reshape(*source.shape[:2], 1, 1)


def _noise_of_channel(channel: Tensor) -> float:
    """Estimate the noise of (h, w)."""
    near = _level(_responses(channel))
    coarse = [_responses(channel[row::2, column::2]) for row in range(2) for column in range(2)]
    far = _level(torch.cat(coarse))
    if near is None or far is None:
        return math.nan
    return math.sqrt(max(0.0, (16 * near**2 - far**2) / 15))


def _responses(channel: Tensor) -> Tensor:
    """Return the absolute responses of the mask, in standard deviations of noise, where all under it is known: (n,)."""
    if min(channel.shape) < 3:
        return channel.new_zeros(0)
    rows = channel[:-2] - 2 * channel[1:-1] + channel[2:]
    both = (rows[:, :-2] - 2 * rows[:, 1:-1] + rows[:, 2:]).flatten()
    return both[torch.isfinite(both)].abs() / 6


def _level(responses: Tensor) -> float | None:
    """Return the standard deviation of the noise that these are responses to; None if they are too few."""
    if responses.numel() < _FEWEST:
        return None
    # torch.quantile refuses more than 16 million values.
    smallest = torch.kthvalue(responses, max(1, round(_QUANTILE * responses.numel()))).values
    return float(smallest) / _OF_NORMAL


def noise_confidence(
    noise: Tensor, unit: float | Tensor, factor: tuple[float, float] | tuple[Tensor, Tensor]
) -> Tensor:
    """Return the confidence of source pixels with this noise.

    Args:
        noise: Standard deviations (B, K, ...), in those of the source.
        unit: The noise at which the confidence is a half, in standard deviations of the source: `Model.noise_unit`.
        factor: How many target pixels a source pixel measures (down, right).
    """
    unit = unit * ((factor[0] * factor[1]) ** 0.5 / _UNIT_FACTOR) ** _GROWTH
    return 1 / (1 + (noise / unit).square())


def stated_confidence(
    noise: Tensor, unit: float | Tensor, factor: tuple[float, float] | tuple[Tensor, Tensor]
) -> Tensor:
    """Return `noise_confidence` of a stated noise, with which no source pixel counts as missing."""
    return noise_confidence(noise, unit, factor).clamp_min(LEAST_CONFIDENCE)
