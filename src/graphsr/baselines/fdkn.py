"""FDKN, the fast deformable kernel network (Kim, Ponce, Ham 2021), with the residual output.

As DKN, but at a quarter of the resolution: every 4x4 block of pixels becomes 16 channels, and the taps of its 16
pixels are predicted together. Names are those of the published network.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graphsr.baselines.base import Method, NetworkBaseline
from graphsr.baselines.deformable import TAPS, DeformableFilter
from graphsr.features.channels import three_channels
from graphsr.features.fdsr import LUMA

BLOCK = 4


def _convolution(inputs: int, outputs: int) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, 3, padding=1)


class FastKernel(nn.Module):
    """Predict the taps from one image: (B, 1, H, W) -> weights (B, 9, H, W) in 0..1, offsets (B, 18, H, W)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = _convolution(BLOCK**2, 32)
        self.conv1_bn = nn.BatchNorm2d(32)
        self.conv2 = _convolution(32, 32)
        self.conv3 = _convolution(32, 64)
        self.conv3_bn = nn.BatchNorm2d(64)
        self.conv4 = _convolution(64, 64)
        self.conv5 = _convolution(64, 128)
        self.conv5_bn = nn.BatchNorm2d(128)
        self.conv6 = _convolution(128, 128)
        self.conv_weight = nn.Conv2d(128, BLOCK**2 * TAPS, 1)
        self.conv_offset = nn.Conv2d(128, BLOCK**2 * 2 * TAPS, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x = F.pixel_unshuffle(x, BLOCK)
        x = F.relu(self.conv2(F.relu(self.conv1_bn(self.conv1(x)))))
        x = F.relu(self.conv4(F.relu(self.conv3_bn(self.conv3(x)))))
        x = F.relu(self.conv6(F.relu(self.conv5_bn(self.conv5(x)))))
        weights = F.pixel_shuffle(self.conv_weight(x), BLOCK)
        return torch.sigmoid(weights), F.pixel_shuffle(self.conv_offset(x), BLOCK)


class FDKN(DeformableFilter):
    """Filter an interpolated source with a grey guide, both (B, 1, H, W) in 0..1, H and W divisible by 4."""

    def __init__(self, convention: str = "legacy") -> None:
        super().__init__(FastKernel(), FastKernel(), convention)


class FDKNBaseline(NetworkBaseline):
    """Run FDKN on source and grey guide in 0..1. The factor only enters through the interpolation."""

    method = "fdkn"
    multiple = BLOCK
    interpolation = "pil"

    def predict(self, guide: Tensor, source: Tensor, interpolated: Tensor) -> Tensor:
        # Ordinary luma of red, green and blue; the published code has the same for blue, green and red.
        luma = guide.new_tensor(LUMA).view(1, 3, 1, 1)
        target: Tensor = self.network((three_channels(guide) * luma).sum(1, keepdim=True), interpolated)
        return target


METHOD = Method(
    name="fdkn",
    title="FDKN",
    year=2021,
    reference="Kim, Ponce, Ham, Deformable Kernel Networks for Joint Image Filtering, IJCV 2021",
    build=lambda factor: FDKNBaseline(FDKN()),
    learned=True,
)
