"""What a source as a whole shows of its own errors: how it was sampled, whether it lies aside, how noisy it is.

A source pixel p at a step between its neighbours l and r has the share t = (p - l) / (r - l). Over all steps shares are
spread between 0 and 1 where source pixels are means over their area, and lie at the two ends where they are point
samples. The guide has a share too; over all steps the two differ by how far the source lies aside, in source pixels.

Operations are those that can be traced for any size, so that ONNX files compute the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import pad

# A step counts as far as its square is large against so many times that of what changes beyond it, and against the
# least step, in standard deviations: slopes and noise are no steps. Guides are never that flat.
_FLATNESS, _LEAST_STEP = 32.0, 0.05
_GUIDE_FLATNESS, _GUIDE_LEAST_STEP = 8.0, 0.5
# Where shares are counted, from the nearer end of a step; what is beyond it is below 0.
_SHARES = -0.15, -0.05, 0.0, 0.05, 0.15, 0.3, 0.45
# Of the responses to second differences of pixels, and of every other pixel.
_QUANTILES = 0.25, 0.5, 0.8
_LEAST_RESPONSE = 1e-5
# The first of these quantiles of the absolute value of a standard normal variable.
_LOWEST_OF_NORMAL = 0.31864
# Beside counts and quantiles: how many steps, how many that the guide shows too, how far the source lies aside down
# and right, and how far shares differ.
OF_ALL = len(_SHARES) + 2 * len(_QUANTILES) + 5


class _Steps(NamedTuple):
    """Steps along one axis, each (B, 1, h, w)."""

    weight: Tensor  # how far a pixel is at one, 0 to 1
    share: Tensor
    both: Tensor  # how far it is at one that the guide shows too
    apart: Tensor  # share less that of the guide, -1 to 1


def source_statistics(source: Tensor, guide: Tensor, sampled: Callable[[Tensor], Tensor]) -> tuple[Tensor, Tensor]:
    """Return numbers of the whole source (B, OF_ALL, 1, 1), and sizes (B, 2, h, w) that errors may have.

    The sizes are the larger of the second differences of each pixel, which is the height of a step next to it and 0 on
    slopes, and the standard deviation of white noise, estimated as `graphsr.measurements.noise` does.

    Args:
        source: (B, 1, h, w), standardised; NaN is missing.
        guide: (B, 3, h, w), the mean of the standardised guide in each source pixel.
        sampled: Returns some pixels of (B, 1, h, w), evenly spaced: of large sources not all are ordered by size.
    """
    known = ~torch.isnan(source)
    filled = torch.where(known, source, torch.zeros_like(source))
    axes = [_steps(filled, known, guide, dim) for dim in (2, 3)]
    weight = torch.cat([axis.weight for axis in axes], 1)
    share = torch.cat([axis.share for axis in axes], 1)
    both = torch.cat([axis.both for axis in axes], 1)
    apart = both * torch.cat([axis.apart for axis in axes], 1)
    # One step more, of no share, so that few steps say little.
    steps, steps_of_both = (_sum(each) + 1 for each in (weight, both))
    responses = [_response_quantiles(source, spacing, sampled) for spacing in (1, 2)]
    aside = apart.sum((2, 3), keepdim=True).abs()
    numbers = torch.cat(
        [
            _counts(torch.minimum(share, 1 - share), weight) / steps,
            0.3 * torch.log10(steps),
            0.3 * torch.log10(steps_of_both),
            aside / steps_of_both,
            _sum(apart.abs()) / steps_of_both,
            *(_log(each) for each in responses),
        ],
        1,
    )
    white = _white_noise(*(each[:, :1] for each in responses))
    return numbers, torch.cat([_bends(source), white.expand_as(source)], 1)


def _steps(source: Tensor, known: Tensor, guide: Tensor, dim: int) -> _Steps:
    """Find steps along an axis of source (B, 1, h, w) and guide (B, 3, h, w)."""
    weight, share = _step_shares(source, dim, _FLATNESS, _LEAST_STEP)
    before, _, after = _shifted(known.to(source.dtype), dim, 1, outside="constant")
    weight = weight * before * known * after
    guide_weight, guide_share = _step_shares(guide, dim, _GUIDE_FLATNESS, _GUIDE_LEAST_STEP)
    return _Steps(weight, share, weight * guide_weight, (share - guide_share).clamp(-1, 1))


def _step_shares(values: Tensor, dim: int, flatness: float, least: float) -> tuple[Tensor, Tensor]:
    """Return weights and shares (B, 1, h, w) of the steps of (B, C, h, w) along an axis."""
    before, here, after = _shifted(values, dim, 1)
    first, _, last = _shifted(values, dim, 2)
    step = after - before
    size = _sum_of_channels(step * step)
    beyond = _sum_of_channels((before - first).square() + (after - last).square())
    weight = (size / (size + flatness * beyond + least**2)).square()
    share = _sum_of_channels((here - before) * step) / (size + 1e-12)
    return weight, share.clamp(-1, 2)


def _shifted(values: Tensor, dim: int, by: int, outside: str = "replicate") -> tuple[Tensor, Tensor, Tensor]:
    """Return what lies `by` pixels before each pixel along an axis, the pixel, and what lies after."""
    if dim == 2:
        around = pad(values, (0, 0, by, by), mode=outside)
        return around[:, :, : -2 * by], values, around[:, :, 2 * by :]
    around = pad(values, (by, by, 0, 0), mode=outside)
    return around[:, :, :, : -2 * by], values, around[:, :, :, 2 * by :]


def _counts(share: Tensor, weight: Tensor) -> Tensor:
    """Return how much weight lies at each of `_SHARES`, (B, n, 1, 1); a share between two counts for both."""
    places = share.new_tensor(_SHARES).reshape(1, -1, 1)
    low, high = places[:, :-1], places[:, 1:]
    above = ((share.flatten(1).unsqueeze(1) - low) / (high - low)).clamp(0, 1) @ weight.flatten(1).unsqueeze(2)
    return torch.cat([_sum(weight)[..., 0], above], 1).unsqueeze(-1) - pad(above, (0, 0, 0, 1)).unsqueeze(-1)


def _response_quantiles(source: Tensor, spacing: int, sampled: Callable[[Tensor], Tensor]) -> Tensor:
    """Return quantiles (B, n, 1, 1) of the responses to the mask (1, -2, 1) x (1, -2, 1)."""
    response = source
    for dim in (2, 3):
        before, here, after = _shifted(response, dim, spacing)
        response = before - 2 * here + after
    # Unknown ones come last in the order.
    size = torch.where(torch.isnan(response), torch.full_like(response, torch.inf), response.abs() / 6)
    ordered = sampled(size).flatten(2).sort(2).values
    last = (ordered < torch.inf).sum(2, keepdim=True) - 1
    places = [torch.round(quantile * last.to(torch.float64)).to(torch.int64).clamp_min(0) for quantile in _QUANTILES]
    found = torch.cat([ordered.gather(2, place) for place in places], 1).unsqueeze(-1)
    return torch.where(found < torch.inf, found, torch.zeros_like(found))


def _white_noise(near: Tensor, far: Tensor) -> Tensor:
    """Return the standard deviation of white noise with these lowest quantiles of responses."""
    return ((16 * near.square() - far.square()).clamp_min(0) / 15).sqrt() / _LOWEST_OF_NORMAL


def _bends(source: Tensor) -> Tensor:
    """Return the larger of the absolute second differences down and right, (B, 1, h, w); unknown ones are 0."""
    found = []
    for dim in (2, 3):
        before, here, after = _shifted(source, dim, 1)
        found.append(torch.nan_to_num(before - 2 * here + after).abs())
    return torch.maximum(*found)


def _log(values: Tensor) -> Tensor:
    return 0.2 * torch.log10(values + _LEAST_RESPONSE) + 0.5


def _sum(values: Tensor) -> Tensor:
    return values.sum((1, 2, 3), keepdim=True)


def _sum_of_channels(values: Tensor) -> Tensor:
    return values.sum(1, keepdim=True)
