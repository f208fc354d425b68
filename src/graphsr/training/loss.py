"""What training makes small."""

from __future__ import annotations

import torch
from torch import Tensor

from graphsr.models.restoration import Restored
from graphsr.sampling import Sampling, interpolate_source
from graphsr.scaling import mean_and_std, smallest_std

LOSSES = ("l1", "mse", "both", "relative", "pooled", "noise")
# Interpolation is taken to err by at least so much: as a part of the range of a patch, and of the unit of its errors.
_LEAST_OF_RANGE, _LEAST_OF_UNIT = 1e-3, 1e-4
# A source pixel of which less is known has no error to learn from.
_LEAST_KNOWN = 0.5
# Sources count as wrong by at least this, in standard deviations: nothing is gained from predicting less noise.
_LEAST_ERROR = 1e-4
# A clean source must not be called noisy: sources without a larger error than this count so many times.
_CLEAN, _CLEAN_TIMES = 1e-3, 4.0
# How many times the error of a restored source counts beside the likelihood of its errors.
_RESTORED_TIMES = 3.0


def target_loss(
    found: Tensor,
    target: Tensor,
    source: Tensor,
    kind: str,
    squared_times: float = 1.0,
    unit: Tensor | None = None,
) -> Tensor:
    """Return the error of a target over the known pixels.

    Args:
        found: (B, 1, H, W).
        target: (B, 1, H, W), the truth; NaN = unknown.
        source: (B, 1, h, w), NaN = missing.
        kind: one of `LOSSES`: "l1", "mse" and "both" in standard deviations of each source, "relative" as a part of
            the errors of bicubic interpolation, "pooled" as a part of the geometric mean of these errors and of those
            of the batch.
        squared_times: How many times the squared error counts beside the absolute one.
        unit: (B, 1, 1, 1) in which "pooled" compares the samples of a batch, and beside which errors of "relative" and
            "pooled" are nothing if they are tiny; by default the standard deviation of each source.

    Returns:
        One number ().
    """
    if kind in ("relative", "pooled"):
        interpolated = interpolate_source(source, (target.shape[-2], target.shape[-1]))
        unit = mean_and_std(source, torch.isfinite(source))[1] if unit is None else unit
        return _relative_loss(found, interpolated, target, squared_times, unit, pooled=kind == "pooled")
    difference = ((found - target) / _std(source))[torch.isfinite(target)]
    if kind == "l1":
        return difference.abs().mean()
    if kind == "mse":
        return difference.square().mean()
    return difference.abs().mean() + squared_times * difference.square().mean()


def noise_loss(
    restored: Restored, target: Tensor, source: Tensor, sampling: Sampling | None = None, std: Tensor | None = None
) -> Tensor:
    """Return how wrong restored sources are, and the noise that is predicted of them.

    The first is their RMS error as a part of that of the source. The other is the negative log-likelihood of their
    errors. The distribution is Cauchy's: real errors have long tails, and its gradient is bounded. Clean sources count
    more.

    Args:
        restored: Source (B, 1, h, w) and the noise that is left in it, in `std`.
        target: (B, 1, H, W), the truth; NaN = unknown.
        source: (B, 1, h, w), as measured; NaN = missing.
        sampling: what source pixels average over; default their own area.
        std: (B, 1, 1, 1) what the network saw as the standard deviation of the source; by default its own.

    Returns:
        One number (), up to a constant.
    """
    if sampling is None:
        sampling = Sampling((target.shape[-2], target.shape[-1]), (source.shape[-2], source.shape[-1]))
    true_source, share = sampling.masked(torch.nan_to_num(target), torch.isfinite(target))
    known = torch.isfinite(source)
    if std is None:
        mean, std = mean_and_std(source, known)
        std = torch.maximum(std, smallest_std(mean))
    counted = (known & (share > _LEAST_KNOWN)).to(source.dtype)
    measured, error = (counted * torch.nan_to_num(each - true_source) / std for each in (source, restored.source))
    likelihood = restored.noise.log() + torch.log1p((error.square() + _LEAST_ERROR**2) / restored.noise.square())
    clean = measured.abs().amax((1, 2, 3), keepdim=True) < _CLEAN
    weight = counted * torch.where(clean, _CLEAN_TIMES, 1.0)
    found = (likelihood * weight).sum() / weight.sum().clamp_min(1)
    if restored.source is source:
        return found
    pixels = counted.sum((1, 2, 3)).clamp_min(1)
    left, before = (each.square().sum((1, 2, 3)) / pixels + _CLEAN**2 for each in (error, measured))
    return found + _RESTORED_TIMES * (left / before).sqrt().mean()


def _relative_loss(
    found: Tensor, interpolated: Tensor, target: Tensor, squared_times: float, unit: Tensor, *, pooled: bool
) -> Tensor:
    """Return absolute and squared error of each sample as parts of the interpolation's.

    x4 then counts like x16, whose errors are twenty times larger. As parts of its own errors alone, a patch of a plain
    wall counts as much as one full of edges, whose errors are what figures of whole data sets are made of; if
    `pooled`, patches that are harder than others of the batch count more, in the `unit` (B, 1, 1, 1) of each.
    """
    known = torch.isfinite(target)
    count = known.sum((1, 2, 3)).clamp_min(1)

    def errors(values: Tensor) -> tuple[Tensor, Tensor]:
        difference = torch.where(known, values - target, torch.zeros_like(values))
        return difference.abs().sum((1, 2, 3)) / count, difference.square().sum((1, 2, 3)) / count

    absolute, squared = errors(found)
    # A patch that interpolation gets right must not count for ever more, nor the rounding of one without any step.
    highest = torch.where(known, target, torch.full_like(target, -torch.inf)).amax((1, 2, 3))
    lowest = torch.where(known, target, torch.full_like(target, torch.inf)).amin((1, 2, 3))
    least = _LEAST_OF_RANGE * (highest - lowest).clamp_min(0) + _LEAST_OF_UNIT * unit.flatten() + 1e-12
    easy_absolute, easy_squared = errors(interpolated)
    easy_absolute, easy_squared = easy_absolute + least, easy_squared + least.square()
    if pooled:
        compared_in = unit.flatten() + least
        easy_absolute = _pooled(easy_absolute, compared_in)
        easy_squared = _pooled(easy_squared, compared_in.square())
    return (absolute / easy_absolute + squared_times * squared / easy_squared).mean()


def _pooled(errors: Tensor, unit: Tensor) -> Tensor:
    """Return the geometric means of errors (B,) and of their mean over the batch, all in the unit of each sample."""
    return (errors * unit * (errors / unit).mean()).sqrt()


def _std(source: Tensor) -> Tensor:
    """Return (B, 1, 1, 1): the standard deviation of the known pixels, but more than nothing where they are flat."""
    mean, std = mean_and_std(source, torch.isfinite(source))
    return std.clamp_min(1e-3).clamp_min(0.02 * mean.abs())
