"""Standardisation: which source pixels are known, and the mean and standard deviation of guide and source.

A pair is standardised by its own statistics. A window of a larger pair is standardised by those of the whole, or two
windows would see the same pixel with two values; there the scale is given.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch

# A constant source gets a standard deviation that is this part of its mean: one in which offsets are nothing.
_SMALLEST_STD = 1e-6


@dataclass(frozen=True)
class Scale:
    """Mean and standard deviation of guide and source, of every image of a batch."""

    guide_mean: torch.Tensor  # (B, C, 1, 1)
    guide_std: torch.Tensor  # (B, 1, 1, 1) one for all channels: an almost constant one must not become noise
    source_mean: torch.Tensor  # (B, K, 1, 1)
    source_std: torch.Tensor  # (B, K, 1, 1) one each: the channels of a source may have different units
    source_axis: torch.Tensor  # (B, K, 1, 1) first principal axis of the standardised channels, see `first_component`

    @classmethod
    def of(cls, guide: torch.Tensor, source: torch.Tensor, known: torch.Tensor) -> Scale:
        """Measure a pair: guide (B, C, H, W), source (B, K, h, w), known (B, 1 or K, h, w)."""
        guide_mean = guide.mean((-2, -1), keepdim=True)
        guide_std = (guide - guide_mean).square_().mean((1, 2, 3), keepdim=True).sqrt()
        mean, std = mean_and_std(source, known.expand_as(source))
        std = torch.maximum(std, smallest_std(mean))
        axis = _axis_of(source, known.expand_as(source), mean, std)
        return cls(guide_mean, nonzero(guide_std), mean, std, axis)

    def standardise_guide(self, guide: torch.Tensor) -> torch.Tensor:
        """Return the guide (B, C, H, W) with mean 0 and standard deviation 1, or about so in a window."""
        return (guide - self.guide_mean).div_(self.guide_std)  # in place: one map less

    def standardise_source(self, source: torch.Tensor) -> torch.Tensor:
        """Return the source, or a target, (B, K, ...) in standard deviations of the source about its mean."""
        return (source - self.source_mean) / self.source_std

    def first_component(self, source: torch.Tensor) -> torch.Tensor:
        """Return the one plane that stands for all channels of a source, or of a target, (B, K, ...): (B, 1, ...).

        It is the first principal component of the standardised channels, with mean 0 and standard deviation 1; of one
        channel, that channel standardised.
        """
        if source.shape[1] == 1:
            return self.standardise_source(source)
        weights = (self.source_axis / self.source_std).flatten(1).unsqueeze(1)
        with torch.autocast(source.device.type, enabled=False):  # which is for networks, not for measured values
            combined = weights @ source.flatten(2) - weights @ self.source_mean.flatten(2)
        return combined.reshape(source.shape[0], 1, *source.shape[2:])


def principal_axis(covariance: torch.Tensor) -> torch.Tensor:
    """Return the weights (B, K, 1, 1) that combine K standardised channels to a plane of standard deviation 1.

    Args:
        covariance: (B, K, K) of the channels; their first principal component is the plane.
    """
    values, vectors = torch.linalg.eigh(covariance.double())
    axis = vectors[..., -1]
    # An axis has no direction. Its sum shall be positive, or, where that is all rounding, its first large component.
    total, most = axis.sum(1, keepdim=True), axis.abs().amax(1, keepdim=True)
    first = axis.gather(1, (axis.abs() > 0.9 * most).to(torch.uint8).argmax(1, keepdim=True))
    direction = torch.where(total.abs() > 0.01 * most, total, first).sign()
    std = nonzero(values[:, -1:].clamp_min(0).sqrt())
    weights: torch.Tensor = axis * direction / std
    return weights[..., None, None]


def _axis_of(source: torch.Tensor, known: torch.Tensor, mean: torch.Tensor, std: torch.Tensor) -> torch.Tensor:
    """Return the principal axis of a source (B, K, h, w); missing pixels (known: same shape) count as the mean."""
    if source.shape[1] == 1:
        return torch.ones_like(mean)
    source = source.detach()
    deviations = torch.where(known, (source - mean) / std, torch.zeros_like(source)).flatten(2).double()
    count = known.sum((2, 3)).amax(1).clamp_min(1)[:, None, None]
    return principal_axis(deviations @ deviations.mT / count).to(source.dtype)


def known_pixels(source: torch.Tensor, confidence: torch.Tensor | None) -> torch.Tensor:
    """Return which source pixels are known: (B, K, h, w), with confidence (B, 1 or K, h, w)."""
    known = torch.isfinite(source)
    return known if confidence is None else known & (confidence > 0)


def all_finite(values: torch.Tensor) -> bool:
    """Return whether no value is NaN or infinite: by the least and the largest, in a fifteenth of `isfinite`'s time."""
    if not values.numel():
        return True
    return all(math.isfinite(end) for end in torch.aminmax(values.detach()))


def nonzero(std: torch.Tensor) -> torch.Tensor:
    """Return 1 in place of 0, to divide by."""
    return torch.where(std > 0, std, torch.ones_like(std))


def smallest_std(mean: torch.Tensor) -> torch.Tensor:
    """Return the standard deviation that a source with this mean is given at least."""
    return _SMALLEST_STD * mean.abs() + torch.finfo(mean.dtype).tiny


def mean_and_std(source: torch.Tensor, known: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return mean and standard deviation of the known pixels of (B, K, h, w), (B, K, 1, 1), without a gradient."""
    source = source.detach()
    nothing = torch.zeros_like(source)
    count = known.sum((-2, -1), keepdim=True).clamp_min(1)
    mean = torch.where(known, source, nothing).sum((-2, -1), keepdim=True) / count
    std = (torch.where(known, source - mean, nothing).square().sum((-2, -1), keepdim=True) / count).sqrt()
    return mean, std
