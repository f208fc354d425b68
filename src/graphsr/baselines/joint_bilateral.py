"""Joint bilateral upsampling: a mean of nearby source pixels, weighted by distance and by likeness of colour."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor
from torch.nn.functional import interpolate

from graphsr.baselines.base import Baseline, Method
from graphsr.errors import InputError

_REACH = 2  # source pixels to either side: the published 5 x 5 window


class JointBilateral(Baseline):
    """Average source pixels with weights exp(-d^2 / 2 sigma_d^2) exp(-c^2 / 2 sigma_r^2).

    d is the distance between a target pixel and a source pixel's centre, c the Euclidean distance between the guide at
    both. Where a centre lies between guide pixels, as with even factors, they are interpolated. Weights are multiplied
    by the confidence; a pixel with none but missing source pixels around it gets the interpolated source.

    Args:
        sigma_d: Standard deviation of d, in source pixels.
        sigma_r: Standard deviation of c, of a guide in 0..1.
    """

    method = "joint-bilateral"

    def __init__(self, sigma_d: float = 0.4, sigma_r: float = 0.2) -> None:
        super().__init__()
        if sigma_d <= 0 or sigma_r <= 0:
            raise InputError(f"JointBilateral: sigma_d and sigma_r must be positive, not {sigma_d} and {sigma_r}")
        self.sigma_d, self.sigma_r = sigma_d, sigma_r

    def estimate(self, guide: Tensor, source: Tensor, interpolated: Tensor, confidence: Tensor) -> Tensor:
        height, width = source.shape[-2:]
        # Without antialiasing this is the guide at the centres of the source pixels.
        centres = interpolate(guide, size=(height, width), mode="bilinear", align_corners=False)
        rows, columns = (_positions(guide.shape[dim], source.shape[dim], guide) for dim in (-2, -1))

        log_confidence = confidence.log()
        # Exponents are relative to the largest so far: colours unlike all around would make every weight 0.
        largest = torch.full_like(interpolated, torch.finfo(guide.dtype).min)
        total, weights = torch.zeros_like(interpolated), torch.zeros_like(interpolated)
        for down, right in itertools.product(range(-_REACH, _REACH + 1), repeat=2):
            i, j = rows.floor().long() + down, columns.floor().long() + right
            inside = ((i >= 0) & (i < height))[:, None] & ((j >= 0) & (j < width))
            distance = (rows - 0.5 - i).square()[:, None] + (columns - 0.5 - j).square()
            i, j = i.clamp(0, height - 1)[:, None], j.clamp(0, width - 1)
            contrast = (guide - centres[..., i, j]).square().sum(1, keepdim=True)
            exponent = -distance / (2 * self.sigma_d**2) - contrast / (2 * self.sigma_r**2)
            exponent = (exponent + log_confidence[..., i, j]).masked_fill(~inside, -torch.inf)
            before, largest = largest, torch.maximum(largest, exponent)
            fade, weight = (before - largest).exp(), (exponent - largest).exp()
            total = fade * total + weight * source[..., i, j]
            weights = fade * weights + weight
        return torch.where(weights > 0, total / weights.clamp_min(1e-30), interpolated)


def _positions(large: int, small: int, like: Tensor) -> Tensor:
    """Return where the centre of each target pixel lies, in source pixels from the first one's border: (large,)."""
    return (torch.arange(large, dtype=like.dtype, device=like.device) + 0.5) * (small / large)


METHOD = Method(
    name="joint-bilateral",
    title="Joint bilateral upsampling",
    year=2007,
    reference="Kopf, Cohen, Lischinski, Uyttendaele, Joint Bilateral Upsampling, SIGGRAPH 2007",
    build=lambda factor: JointBilateral(),
)
