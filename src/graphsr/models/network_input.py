"""The planes that a network sees beside colours and source, and how they lie in memory."""

from __future__ import annotations

import math

import torch

from graphsr.sampling import Sampling


def channels_last(planes: list[torch.Tensor]) -> torch.Tensor:
    """Return planes (B, C, H, W) as one tensor with the channels of a pixel side by side, as convolutions read it."""
    if torch.is_grad_enabled():
        return torch.cat(planes, 1).contiguous(memory_format=torch.channels_last)
    shape = planes[0].shape[0], sum(plane.shape[1] for plane in planes), *planes[0].shape[2:]
    like = planes[0]
    out = torch.empty(shape, dtype=like.dtype, device=like.device, memory_format=torch.channels_last)
    return torch.cat(planes, 1, out=out)


def hints(known: torch.Tensor, sampling: Sampling, dtype: torch.dtype) -> list[torch.Tensor]:
    """Return two planes (B, 1, H, W): the factor (0 at x8, 1 at x32), and 0 where the source is known, else -1."""
    shape = (known.shape[0], 1, *sampling.size)
    factor = torch.full((1, 1, 1, 1), log_factor(sampling), dtype=dtype, device=known.device).expand(shape)
    if bool(known.all()):
        return [factor, torch.zeros((1, 1, 1, 1), dtype=dtype, device=known.device).expand(shape)]
    return [factor, of_source_pixels(known.to(dtype) - 1.0, sampling)]


def of_source_pixels(values: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Return for every target pixel the value (B, K, h, w) of the source pixel it begins in: (B, K, H, W)."""
    for dim, along in ((-2, sampling.rows), (-1, sampling.columns)):
        values = values.index_select(dim, torch.as_tensor(along.under, device=values.device))
    return values


def log_factor(sampling: Sampling) -> float:
    """Return the factor as networks read it: 0 at x8, 1 at x32."""
    down, right = sampling.factor
    return 0.25 * math.log2(down * right) - 1.5
