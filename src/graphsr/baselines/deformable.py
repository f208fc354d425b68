"""Kernels whose taps move: the filter that DKN and FDKN end in.

Tap t = 3 r + c of a pixel reads its 15x15 patch at column 7 + r + offset[2t], row 7 + c + offset[2t + 1], in a
coordinate that the published code hands to `grid_sample` as coordinate / 15 * 2 - 1. Which place of the patch that is
depends on the version of torch, and the taps at rest are at the middle (7) in none: hence the conventions.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graphsr.errors import InputError

SIDE = 3
TAPS = SIDE * SIDE
PATCH = 15
RADIUS = PATCH // 2

# From the published coordinate to the place in the patch. At rest the taps are at
CONVENTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "legacy": lambda coordinate: coordinate * ((PATCH - 1) / PATCH),  # 6.53, 7.47, 8.4: torch 1.0, published weights
    "torch13": lambda coordinate: coordinate - 0.5,  # 6.5, 7.5, 8.5: the same code since torch 1.3
    "centred": lambda coordinate: coordinate - 1.0,  # 6, 7, 8: what the paper describes
}


def known_convention(name: str) -> str:
    """The name, or a complaint if no convention has it."""
    if name not in CONVENTIONS:
        raise InputError(f"convention {name!r}: use one of {', '.join(CONVENTIONS)}")
    return name


class DeformableFilter(nn.Module):
    """guide (B, C, H, W), interpolated source (B, 1, H, W), both in 0..1 -> target (B, 1, H, W).

    Either kernel says what its image knows about the taps: weights (B, 9, H, W) in 0..1 and offsets (B, 18, H, W).
    """

    def __init__(self, guide: nn.Module, source: nn.Module, convention: str) -> None:
        super().__init__()
        self.convention = known_convention(convention)
        self.ImageKernel, self.DepthKernel = guide, source

    def forward(self, guide: Tensor, interpolated: Tensor) -> Tensor:
        guide_weights, guide_offsets = self.ImageKernel(guide)
        weights, offsets = self.DepthKernel(interpolated)
        return filter_residual(interpolated, weights * guide_weights, offsets * guide_offsets, self.convention)


def filter_residual(depth: Tensor, weights: Tensor, offsets: Tensor, convention: str) -> Tensor:
    """depth plus a filter of it that sums to 0.

    depth (B, 1, H, W), weights (B, 9, H, W) and offsets (B, 18, H, W) of the taps -> (B, 1, H, W).
    """
    balanced = weights - weights.mean(1, keepdim=True)
    return depth + (balanced * sample_taps(depth, offsets, convention)).sum(1, keepdim=True)


def sample_taps(depth: Tensor, offsets: Tensor, convention: str) -> Tensor:
    """The depth (B, 1, H, W) at the taps that `offsets` (B, 18, H, W) move, bilinear -> (B, 9, H, W).

    Outside the image the depth counts as 0, outside the patch too. Instead of cutting out 225 values a pixel, a place
    outside the patch is moved to its border and its value faded out over one pixel: what a patch in a frame of zeros
    gives.
    """
    batch, _, height, width = offsets.shape
    place = CONVENTIONS[known_convention(convention)]
    taps = torch.arange(TAPS, device=offsets.device).view(1, TAPS, 1, 1)
    moves = offsets.view(batch, TAPS, 2, height, width)
    column, fade_column = _keep_in_patch(place(RADIUS + taps // SIDE + moves[:, :, 0]))
    row, fade_row = _keep_in_patch(place(RADIUS + taps % SIDE + moves[:, :, 1]))
    x = column + (torch.arange(width, device=offsets.device) - RADIUS)
    y = row + (torch.arange(height, device=offsets.device) - RADIUS).view(-1, 1)
    grid = torch.stack([(2 * x + 1) / width - 1, (2 * y + 1) / height - 1], dim=-1)
    values = F.grid_sample(depth, grid.flatten(1, 2), mode="bilinear", padding_mode="zeros", align_corners=False)
    return values.view(batch, TAPS, height, width) * fade_column * fade_row


def _keep_in_patch(place: Tensor) -> tuple[Tensor, Tensor]:
    """A place moved into 0..14, and what is left of a value there: 1 inside, 0 from one pixel outside on."""
    inside = place.clamp(0, PATCH - 1)
    return inside, (1 - (place - inside).abs()).clamp_min(0)
