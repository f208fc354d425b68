"""Keep the digits of a source that stands on a large offset: its mean is subtracted before single precision.

A height of 1,000,000 mm that varies by 1 mm has lost all but 4 bits of its variation once it is in single precision.
The target moves with the source, so what is solved is the source about its mean, and the mean is added in double
precision.
"""

from __future__ import annotations

import torch

from graphsr.scaling import mean_and_std

# Types whose values single precision cannot hold.
WIDE = (torch.float64, torch.int32, torch.int64)
# The rounding of a result, in standard deviations of the source, from which on it needs double precision: a
# hundredth of what the solves of calls are allowed to be off by.
_ROUNDING = 1e-5
# Values that differ by so many roundings of double precision are one.
_CONSTANT = 8 * torch.finfo(torch.float64).eps


def needs_double(source: torch.Tensor, known: torch.Tensor) -> bool:
    """Return whether single precision cannot hold a source, or a target like it.

    Args:
        source: (B, K, h, w) float64.
        known: (B, K, h, w) which of its pixels have a value.
    """
    _, std = mean_and_std(source, known)
    largest = _largest(source, known)
    rounding = 0.5 * torch.finfo(torch.float32).eps * largest
    lost = _largest(source - source.float().double(), known)
    return bool(torch.where(std > _CONSTANT * largest, rounding > _ROUNDING * std, lost > 0).any())


def centred(source: torch.Tensor, known: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return a source (B, K, h, w) float64 about its mean, and the mean (B, K, 1, 1); a constant one is exactly 0."""
    mean, std = mean_and_std(source, known)
    constant = known & (std <= _CONSTANT * _largest(source, known))
    return torch.where(constant, 0.0, source - mean), mean


def _largest(values: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
    """Return the largest magnitude of the known values (B, K, h, w), (B, K, 1, 1)."""
    return torch.where(known, values.detach().abs(), 0.0).amax((-2, -1), keepdim=True)
