"""What counts as known, and how bright is bright: the scale that guide and source are read in.

A pair has a scale of its own, measured on it. A window of a larger pair must be read in the scale of the whole, or two
windows would see the same pixel in two brightnesses; there the scale is given.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

# A source without relief gets a unit that is this part of its mean: one in which a network's guesses are nothing.
_LEAST_RELIEF = 1e-6


@dataclass(frozen=True)
class Scale:
    """Centre and size of guide and source, of every image of a batch."""

    guide_mean: torch.Tensor  # (B, C, 1, 1)
    guide_std: torch.Tensor  # (B, 1, 1, 1) one for all channels: an almost constant one must not become noise
    source_mean: torch.Tensor  # (B, K, 1, 1)
    source_std: torch.Tensor  # (B, K, 1, 1) one each: the channels of a source may have different units

    @classmethod
    def of(cls, guide: torch.Tensor, source: torch.Tensor, known: torch.Tensor) -> Scale:
        """Of a pair: guide (B, C, H, W), source (B, K, h, w), known (B, 1 or K, h, w)."""
        centre = guide.mean((-2, -1), keepdim=True)
        spread = (guide - centre).square().mean((1, 2, 3), keepdim=True).sqrt()
        return cls(centre, nonzero(spread), *_centre_and_unit(source, known.expand_as(source)))

    def standardise_guide(self, guide: torch.Tensor) -> torch.Tensor:
        """The guide (B, C, H, W) in its scale: mean 0 and standard deviation 1, or about so in a window."""
        return (guide - self.guide_mean) / self.guide_std

    def standardise_source(self, source: torch.Tensor) -> torch.Tensor:
        """The source, or a target, (B, K, ...) in units of the source about its mean."""
        return (source - self.source_mean) / self.source_std

    def restore_source(self, scaled: torch.Tensor) -> torch.Tensor:
        """Back from `of_source`."""
        return scaled * self.source_std + self.source_mean


def known_pixels(source: torch.Tensor, confidence: torch.Tensor | None) -> torch.Tensor:
    """Which source pixels have a value that counts: (B, K, h, w), with confidence (B, 1 or K, h, w)."""
    known = torch.isfinite(source)
    return known if confidence is None else known & (confidence > 0)


def nonzero(spread: torch.Tensor) -> torch.Tensor:
    """1 in place of 0, to divide by."""
    return torch.where(spread > 0, spread, torch.ones_like(spread))


def smallest_std(centre: torch.Tensor) -> torch.Tensor:
    """The smallest unit of a source with this mean."""
    return _LEAST_RELIEF * centre.abs() + torch.finfo(centre.dtype).tiny


def mean_and_std(source: torch.Tensor, known: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Mean and standard deviation of the known pixels of (B, K, h, w), (B, K, 1, 1), without a gradient."""
    source = source.detach()
    nothing = torch.zeros_like(source)
    count = known.sum((-2, -1), keepdim=True).clamp_min(1)
    mean = torch.where(known, source, nothing).sum((-2, -1), keepdim=True) / count
    spread = (torch.where(known, source - mean, nothing).square().sum((-2, -1), keepdim=True) / count).sqrt()
    return mean, spread


def _centre_and_unit(source: torch.Tensor, known: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    mean, spread = mean_and_std(source, known)
    return mean, torch.maximum(spread, smallest_std(mean))
