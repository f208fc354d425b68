"""What training makes small."""

from __future__ import annotations

import torch
from torch import Tensor

LOSSES = ("l1", "mse", "both")


def loss_of(found: Tensor, target: Tensor, source: Tensor, kind: str) -> Tensor:
    """Over the known pixels, in standard deviations of each source, so that every sample counts alike.

    found and target (B, 1, H, W), source (B, 1, h, w); NaN = unknown in the last two.
    """
    difference = ((found - target) / _spread(source))[torch.isfinite(target)]
    if kind == "l1":
        return difference.abs().mean()
    if kind == "mse":
        return difference.square().mean()
    return difference.abs().mean() + difference.square().mean()


def _spread(source: Tensor) -> Tensor:
    """(B, 1, 1, 1) standard deviation of the known pixels; patches that are nearly flat are not blown up."""
    known = torch.isfinite(source)
    values = torch.nan_to_num(source)
    count = known.sum((-2, -1), keepdim=True)
    mean = values.sum((-2, -1), keepdim=True) / count
    variance = torch.where(known, values - mean, torch.zeros_like(values)).square().sum((-2, -1), keepdim=True) / count
    return variance.sqrt().clamp_min(1e-3).clamp_min(0.02 * mean.abs())
