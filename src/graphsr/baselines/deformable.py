"""Deformable kernels, whose taps move: the filter at the end of DKN and FDKN.

Tap t = 3 r + c of a pixel reads its 15x15 patch at column 7 + r + offset[2t], row 7 + c + offset[2t + 1], in a
coordinate that the published code passes to `grid_sample` as coordinate / 15 * 2 - 1. Which position of the patch that
is depends on the version of torch, and with no offset no version reads the middle (7): hence the conventions.
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

# From the published coordinate to the position in the patch. With no offset the taps are at
CONVENTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "legacy": lambda coordinate: coordinate * ((PATCH - 1) / PATCH),  # 6.53, 7.47, 8.4: torch 1.0, published weights
    "torch13": lambda coordinate: coordinate - 0.5,  # 6.5, 7.5, 8.5: the same code since torch 1.3
    "centred": lambda coordinate: coordinate - 1.0,  # 6, 7, 8: what the paper describes
}


def known_convention(name: str) -> str:
    """Return the name; raise InputError if no convention has it."""
    if name not in CONVENTIONS:
        raise InputError(f"convention {name!r}: use one of {', '.join(CONVENTIONS)}")
    return name


class DeformableFilter(nn.Module):
    """Filter an interpolated source (B, 1, H, W) with a guide (B, C, H, W), both in 0..1, to a target (B, 1, H, W).

    Of either image a network predicts the taps: weights (B, 9, H, W) in 0..1 and offsets (B, 18, H, W).
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
    """Return the depth plus a filter of it whose weights sum to 0.

    Args:
        depth: (B, 1, H, W).
        weights: (B, 9, H, W) of the taps.
        offsets: (B, 18, H, W) of the taps.
        convention: One of `CONVENTIONS`.

    Returns:
        (B, 1, H, W).
    """
    balanced = weights - weights.mean(1, keepdim=True)
    return depth + (balanced * sample_taps(depth, offsets, convention)).sum(1, keepdim=True)


def sample_taps(depth: Tensor, offsets: Tensor, convention: str) -> Tensor:
    """Return the depth at the taps, bilinear.

    Outside the image the depth counts as 0, outside the patch too. Instead of cutting out 225 values a pixel, a
    position outside the patch is moved to its border and its value faded out over one pixel, which is what a patch with
    zeros around it gives.

    Args:
        depth: (B, 1, H, W).
        offsets: (B, 18, H, W), how far the taps are moved.
        convention: One of `CONVENTIONS`.

    Returns:
        (B, 9, H, W).
    """
    batch, _, height, width = offsets.shape
    position = CONVENTIONS[known_convention(convention)]
    taps = torch.arange(TAPS, device=offsets.device).view(1, TAPS, 1, 1)
    moves = offsets.view(batch, TAPS, 2, height, width)
    column, fade_column = _clamp_to_patch(position(RADIUS + taps // SIDE + moves[:, :, 0]))
    row, fade_row = _clamp_to_patch(position(RADIUS + taps % SIDE + moves[:, :, 1]))
    x = column + (torch.arange(width, device=offsets.device) - RADIUS)
    y = row + (torch.arange(height, device=offsets.device) - RADIUS).view(-1, 1)
    grid = torch.stack([(2 * x + 1) / width - 1, (2 * y + 1) / height - 1], dim=-1)
    values = F.grid_sample(depth, grid.flatten(1, 2), mode="bilinear", padding_mode="zeros", align_corners=False)
    return values.view(batch, TAPS, height, width) * fade_column * fade_row


def _clamp_to_patch(position: Tensor) -> tuple[Tensor, Tensor]:
    """Return positions moved into 0..14, and the factor of the values there: 1 inside, 0 from one pixel outside on."""
    inside = position.clamp(0, PATCH - 1)
    return inside, (1 - (position - inside).abs()).clamp_min(0)
