"""Standardisation: which source pixels are known, and the mean and standard deviation of guide and source.

A pair is standardised by its own statistics. A window of a larger pair is standardised by those of the whole, or two
windows would see the same pixel with two values; there the scale is given.
"""

from __future__ import annotations

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

    @classmethod
    def of(cls, guide: torch.Tensor, source: torch.Tensor, known: torch.Tensor) -> Scale:
        """Measure a pair: guide (B, C, H, W), source (B, K, h, w), known (B, 1 or K, h, w)."""
        guide_mean = guide.mean((-2, -1), keepdim=True)
        guide_std = (guide - guide_mean).square().mean((1, 2, 3), keepdim=True).sqrt()
        mean, std = mean_and_std(source, known.expand_as(source))
        return cls(guide_mean, nonzero(guide_std), mean, torch.maximum(std, smallest_std(mean)))

    def standardise_guide(self, guide: torch.Tensor) -> torch.Tensor:
        """Return the guide (B, C, H, W) with mean 0 and standard deviation 1, or about so in a window."""
        return (guide - self.guide_mean) / self.guide_std

    def standardise_source(self, source: torch.Tensor) -> torch.Tensor:
        """Return the source, or a target, (B, K, ...) in standard deviations of the source about its mean."""
        return (source - self.source_mean) / self.source_std


def known_pixels(source: torch.Tensor, confidence: torch.Tensor | None) -> torch.Tensor:
    """Return which source pixels are known: (B, K, h, w), with confidence (B, 1 or K, h, w)."""
    known = torch.isfinite(source)
    return known if confidence is None else known & (confidence > 0)


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
