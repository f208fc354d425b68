"""FDSR (He et al. 2021) as a baseline: the extractor of that name with one output, added to the interpolated source."""

from __future__ import annotations

import torch
from torch import Tensor

from graphsr.baselines.base import Method, NetworkBaseline
from graphsr.features.channels import three_channels
from graphsr.features.fdsr import FDSR


class ResidualFDSR(FDSR):
    """Run the published network: RGB guide and interpolated source (B, 4, H, W) -> target (B, 1, H, W)."""

    def __init__(self) -> None:
        super().__init__(in_channels=4, out_channels=1)

    def extract(self, x: Tensor) -> Tensor:
        return x[:, -1:] + super().extract(x)


class FDSRBaseline(NetworkBaseline):
    """Run FDSR on source and guide in 0..1. The factor only enters through the interpolation."""

    method = "fdsr"
    multiple = FDSR.multiple
    interpolation = "pil"

    def predict(self, guide: Tensor, source: Tensor, interpolated: Tensor) -> Tensor:
        target: Tensor = self.network(torch.cat([three_channels(guide), interpolated], dim=1))
        return target


METHOD = Method(
    name="fdsr",
    title="FDSR",
    year=2021,
    reference="He et al., Towards Fast and Accurate Real-World Depth Super-Resolution, CVPR 2021",
    build=lambda factor: FDSRBaseline(ResidualFDSR()),
    learned=True,
)
