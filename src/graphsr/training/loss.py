"""What training makes small."""

from __future__ import annotations

import torch
from torch import Tensor

from graphsr.sampling import interpolate_source
from graphsr.scaling import mean_and_std

LOSSES = ("l1", "mse", "both", "relative")


def loss_of(found: Tensor, target: Tensor, source: Tensor, kind: str) -> Tensor:
    """Over the known pixels, in standard deviations of each source or relative to bicubic interpolation.

    found and target (B, 1, H, W), source (B, 1, h, w); NaN = unknown in the last two.
    """
    if kind == "relative":
        return _relative(found, interpolate_source(source, (target.shape[-2], target.shape[-1])), target)
    difference = ((found - target) / _spread(source))[torch.isfinite(target)]
    if kind == "l1":
        return difference.abs().mean()
    if kind == "mse":
        return difference.square().mean()
    return difference.abs().mean() + difference.square().mean()


def _relative(found: Tensor, interpolated: Tensor, target: Tensor) -> Tensor:
    """Absolute and squared error of each sample as parts of the interpolation's: x4 then counts like x16, whose errors
    are twenty times larger."""
    known = torch.isfinite(target)
    count = known.sum((1, 2, 3)).clamp_min(1)

    def errors(values: Tensor) -> tuple[Tensor, Tensor]:
        difference = torch.where(known, values - target, torch.zeros_like(values))
        return difference.abs().sum((1, 2, 3)) / count, difference.square().sum((1, 2, 3)) / count

    absolute, squared = errors(found)
    easy_absolute, easy_squared = errors(interpolated)
    # A patch that interpolation gets right has nothing to teach.
    highest = torch.where(known, target, torch.full_like(target, -torch.inf)).amax((1, 2, 3))
    lowest = torch.where(known, target, torch.full_like(target, torch.inf)).amin((1, 2, 3))
    least = 1e-3 * (highest - lowest).clamp_min(0) + 1e-12
    return (absolute / (easy_absolute + least) + squared / (easy_squared + least.square())).mean()


def _spread(source: Tensor) -> Tensor:
    """(B, 1, 1, 1) standard deviation of the known pixels; patches that are nearly flat are not blown up."""
    mean, spread = mean_and_std(source, torch.isfinite(source))
    return spread.clamp_min(1e-3).clamp_min(0.02 * mean.abs())
