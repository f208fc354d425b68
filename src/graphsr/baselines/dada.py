"""DADA (Metzger et al. 2023): anisotropic diffusion with an adjustment to the source after every step.

A network predicts the conductances between neighbours; thousands of steps then alternate between diffusing the target
and multiplying it, source pixel by source pixel, so that it averages to the source again. Names are those of the
published network.
"""

from __future__ import annotations

import math
from typing import ClassVar

import torch
from torch import Tensor, nn

from graphsr.baselines.base import Method, NetworkBaseline
from graphsr.baselines.diffusion import advance, track
from graphsr.features.channels import imagenet_normalised, three_channels
from graphsr.features.resnet import resnet50
from graphsr.features.unet import UNet
from graphsr.graph import Edges

FIRST_K = 0.03
STEPS, TRACKED_STEPS = 8000, 1024
LEAST = 0.1  # the adjustment divides by means, which must stay away from 0


def conductance(features: Tensor, k: Tensor | float) -> Edges:
    """Return 1 / (1 + (m / k)^2), with m the mean absolute difference of two neighbours' features.

    Args:
        features: (B, M, H, W).
        k: The difference at which the conductance is 1/2.

    Returns:
        Conductances down (B, H-1, W) and right (B, H, W-1).
    """
    down = (features[..., 1:, :] - features[..., :-1, :]).abs().mean(1)
    right = (features[..., 1:] - features[..., :-1]).abs().mean(1)
    return Edges(1 / (1 + (down / k).square()), 1 / (1 + (right / k).square()))


class DADA(nn.Module):
    """Predict conductances from a guide (B, 3, H, W), ImageNet-normalised, and an interpolated source (B, 1, H, W)."""

    def __init__(self) -> None:
        super().__init__()
        self.feature_extractor = nn.Sequential(
            nn.Upsample(scale_factor=2, mode="bicubic"), UNet(resnet50(4), out_channels=64), nn.AvgPool2d(2)
        )
        self.logk = nn.Parameter(torch.tensor(math.log(FIRST_K)))

    def forward(self, guide: Tensor, interpolated: Tensor) -> Edges:
        centred = interpolated - interpolated.mean((1, 2, 3), keepdim=True)
        return conductance(self.feature_extractor(torch.cat([guide, centred], dim=1)), self.logk.exp())


class RawChannels(nn.Module):
    """Compute conductances without a network: the features are the guide's channels and the interpolated source."""

    def forward(self, guide: Tensor, interpolated: Tensor) -> Edges:
        return conductance(torch.cat([guide, interpolated], dim=1), FIRST_K)


class DADABaseline(NetworkBaseline):
    """Compute conductances by `network`, then diffuse `steps` steps without and `tracked_steps` with gradients.

    The authors divide the source by the standard deviation of the data set (in mm: Middlebury 1122.7, NYUv2 1386.05,
    DIML 1154.29), to be given as `depth_std` with their weights; without, it is that of the source at hand. As they
    do, a source that comes near 0 is lifted by 0.1; one with negative values, on top, by as much as makes it positive.
    """

    layout: ClassVar[torch.memory_format] = torch.contiguous_format  # 2.6 s a sample instead of 3.0
    shift_equivariant: bool = False  # its network sees distances

    def __init__(
        self,
        network: nn.Module,
        steps: int = STEPS,
        tracked_steps: int = TRACKED_STEPS,
        depth_std: float | None = None,
    ) -> None:
        super().__init__(network)
        self.method = "dada-colour" if isinstance(network, RawChannels) else "dada"
        self.steps, self.tracked_steps, self.depth_std = steps, tracked_steps, depth_std

    def scale(self, source: Tensor) -> tuple[Tensor, Tensor]:
        std = source.std((-2, -1), correction=0, keepdim=True)
        flat = std <= 1e-6 * source.abs().amax((-2, -1), keepdim=True)
        unit = torch.where(flat, torch.ones_like(std), std)
        return torch.zeros_like(unit), unit if self.depth_std is None else torch.full_like(unit, self.depth_std)

    def estimate(self, guide: Tensor, source: Tensor, interpolated: Tensor, confidence: Tensor) -> Tensor:
        known = confidence > 0
        least = source.amin((1, 2, 3), keepdim=True)
        lift = torch.where(least <= LEAST, LEAST - least.clamp_max(0), torch.zeros_like(least))
        start, source = interpolated + lift, source + lift
        edges = self.network(imagenet_normalised(three_channels(guide)), start)
        before, tracked = self.steps, self.tracked_steps
        if self.training and before > 0:
            before = int(torch.randint(before, ()))
        if torch.is_grad_enabled() and edges.down.requires_grad:
            return track(advance(start, edges, source, known, before), edges, source, known, tracked) - lift
        return advance(start, edges, source, known, before + tracked) - lift

    def predict(self, guide: Tensor, source: Tensor, interpolated: Tensor) -> Tensor:
        return self.estimate(guide, source, interpolated, torch.ones_like(source))


METHOD = Method(
    name="dada",
    title="DADA",
    year=2023,
    reference="Metzger, Daudt, Schindler, Guided Depth Super-Resolution by Deep Anisotropic Diffusion, CVPR 2023",
    build=lambda factor: DADABaseline(DADA()),
    learned=True,
)
METHOD_COLOUR = Method(
    name="dada-colour",
    title="DADA, colours",
    year=2023,
    reference=METHOD.reference,
    build=lambda factor: DADABaseline(RawChannels(), tracked_steps=0),
)
