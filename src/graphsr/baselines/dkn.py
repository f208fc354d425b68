"""DKN, deformable kernel network (Kim, Ponce, Ham 2021), with 3x3 taps in 15x15 patches and the residual output.

Names are those of the published network. It was run 16 times on shifted images, with two strides of 2, and the
results interleaved. Here it is run once, without strides and with dilated kernels instead: the same arithmetic,
except that in training the batch statistics are those of the whole image and not of every shift by itself.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graphsr.baselines.base import Method, NetworkBaseline
from graphsr.baselines.deformable import TAPS, DeformableFilter
from graphsr.features.channels import three_channels

# All convolutions together reach 25 pixels to the left and above, 24 to the right and below.
BEFORE, AFTER = 25, 24


class Kernel(nn.Module):
    """Predict the taps from one image: (B, C, H, W) -> weights (B, 9, H, W) in 0..1, offsets (B, 18, H, W)."""

    def __init__(self, inputs: int) -> None:
        super().__init__()
        # The second and the fourth have stride 2 in the published network, and so dilate all that follows.
        self.conv1 = nn.Conv2d(inputs, 32, 7)
        self.conv1_bn = nn.BatchNorm2d(32)
        self.conv2 = nn.Conv2d(32, 32, 2)
        self.conv3 = nn.Conv2d(32, 64, 5, dilation=2)
        self.conv3_bn = nn.BatchNorm2d(64)
        self.conv4 = nn.Conv2d(64, 64, 2, dilation=2)
        self.conv5 = nn.Conv2d(64, 128, 5, dilation=4)
        self.conv5_bn = nn.BatchNorm2d(128)
        self.conv6 = nn.Conv2d(128, 128, 3, dilation=4)
        self.conv7 = nn.Conv2d(128, 128, 3, dilation=4)
        self.conv_weight = nn.Conv2d(128, TAPS, 1)
        self.conv_offset = nn.Conv2d(128, 2 * TAPS, 1)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        x = F.pad(x, (BEFORE, AFTER, BEFORE, AFTER))
        x = F.relu(self.conv2(F.relu(self.conv1_bn(self.conv1(x)))))
        x = F.relu(self.conv4(F.relu(self.conv3_bn(self.conv3(x)))))
        x = F.relu(self.conv6(F.relu(self.conv5_bn(self.conv5(x)))))
        x = F.relu(self.conv7(x))
        return torch.sigmoid(self.conv_weight(x)), self.conv_offset(x)


class DKN(DeformableFilter):
    """Filter an interpolated source (B, 1, H, W) with a guide (B, 3, H, W), both in 0..1."""

    def __init__(self, convention: str = "legacy") -> None:
        super().__init__(Kernel(3), Kernel(1), convention)


class DKNBaseline(NetworkBaseline):
    """Run DKN on source and guide in 0..1. The factor only enters through the interpolation."""

    method = "dkn"
    interpolation = "pil"

    def predict(self, guide: Tensor, source: Tensor, interpolated: Tensor) -> Tensor:
        target: Tensor = self.network(three_channels(guide), interpolated)
        return target


METHOD = Method(
    name="dkn",
    title="DKN",
    year=2021,
    reference="Kim, Ponce, Ham, Deformable Kernel Networks for Joint Image Filtering, IJCV 2021",
    build=lambda factor: DKNBaseline(DKN()),
    learned=True,
)
