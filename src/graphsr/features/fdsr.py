"""FDSR (He et al. 2021) as an extractor: its last convolution widened, the addition of the source left out.

The paper says "feature maps extracted from the FDSR network" without more; a widened last layer gives as many
channels as the other extractors. Names are those of the published network.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graphsr.features.extractor import Extractor

WIDTH = 32
HIGH, LOW = 24, 8
# Rec. 601 luma of R, G, B.
LUMA = (0.299, 0.587, 0.114)


def _activate(x: Tensor) -> Tensor:
    return F.leaky_relu(x, 0.2)


def _convolution(inputs: int, outputs: int, dilation: int = 1) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, 3, padding=dilation, dilation=dilation)


class MultiScaleBlock(nn.Module):
    """Mix two receptive fields and add them to the input: (B, C, H, W) -> (B, C, H, W)."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.conv1 = _convolution(channels, channels)
        self.conv2 = _convolution(channels, channels, dilation=2)
        self.conv4 = nn.Conv2d(channels, channels, 1)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.conv4(_activate(self.conv1(x)) + _activate(self.conv2(x)))
        return x


class OctaveConvolution(nn.Module):
    """Convolve a map that is split into a fine part (B, ., H, W) and a coarse one (B, ., H/2, W/2)."""

    def __init__(self, high: int, low: int) -> None:
        super().__init__()
        self.conv_h2h = nn.Conv2d(high, HIGH, 3, padding=1, bias=False)
        self.conv_h2l = nn.Conv2d(high, LOW, 3, padding=1, bias=False)
        self.conv_l2h = nn.Conv2d(low, HIGH, 3, padding=1, bias=False) if low else None
        self.conv_l2l = nn.Conv2d(low, LOW, 3, padding=1, bias=False) if low else None

    def fine(self, high: Tensor, low: Tensor | None) -> Tensor:
        """Return the fine part (B, 24, H, W)."""
        out = self.conv_h2h(high)
        if low is not None and self.conv_l2h is not None:
            out = out + F.interpolate(self.conv_l2h(low), scale_factor=2.0, mode="nearest")
        return _activate(out)

    def coarse(self, high: Tensor, low: Tensor | None) -> Tensor:
        """Return the coarse part (B, 8, H/2, W/2)."""
        out = self.conv_h2l(F.avg_pool2d(high, 2))
        if low is not None and self.conv_l2l is not None:
            out = out + self.conv_l2l(low)
        return _activate(out)


class OctaveLayer(nn.Module):
    """Hold an octave convolution under the name it has in published weights."""

    def __init__(self, high: int, low: int) -> None:
        super().__init__()
        self.conv = OctaveConvolution(high, low)


class FDSR(Extractor):
    """Extract (B, C+1, H, W) -> (B, M, H, W) at a quarter of the resolution."""

    multiple = 8

    luma: Tensor

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(in_channels, out_channels)
        guide_channels = in_channels - 1
        luma = torch.tensor(LUMA) if guide_channels == 3 else torch.full((guide_channels,), 1 / guide_channels)
        self.register_buffer("luma", luma.view(1, -1, 1, 1), persistent=False)
        self.conv_rgb1 = _convolution(16, WIDTH)
        self.rgb_cbl2 = OctaveLayer(WIDTH, 0)
        self.rgb_cbl3 = OctaveLayer(HIGH, LOW)
        self.rgb_cbl4 = OctaveLayer(HIGH, LOW)
        self.conv_dp1 = _convolution(16, WIDTH)
        self.MSB1 = MultiScaleBlock(WIDTH)
        self.MSB2 = MultiScaleBlock(WIDTH + HIGH)
        self.MSB3 = MultiScaleBlock(WIDTH + 2 * HIGH)
        self.MSB4 = MultiScaleBlock(WIDTH + 3 * HIGH)
        self.conv_recon1 = _convolution(WIDTH + 3 * HIGH, 4 * WIDTH)
        self.conv_recon2 = _convolution(WIDTH, 4 * WIDTH)
        self.restore = _convolution(WIDTH, out_channels)

    @property
    def reach(self) -> int:
        return 64  # the receptive field ends at 50 pixels

    def extract(self, x: Tensor) -> Tensor:
        grey = (x[:, :-1] * self.luma).sum(1, keepdim=True)
        edges = self._high_frequencies(F.pixel_unshuffle(grey, 4))
        depth = self.MSB1(_activate(self.conv_dp1(F.pixel_unshuffle(x[:, -1:], 4))))
        for block, edge in zip((self.MSB2, self.MSB3, self.MSB4), edges, strict=True):
            depth = block(torch.cat([depth, edge], dim=1))
        half = F.pixel_shuffle(self.conv_recon1(_activate(depth)), 2)
        x = self.restore(F.pixel_shuffle(self.conv_recon2(half), 2))
        return x

    def _high_frequencies(self, guide: Tensor) -> list[Tensor]:
        """Return the fine part after each octave layer: (B, 16, H, W) -> three maps (B, 24, H, W)."""
        high, low = _activate(self.conv_rgb1(guide)), None
        maps = []
        for layer in (self.rgb_cbl2, self.rgb_cbl3, self.rgb_cbl4):
            fine = layer.conv.fine(high, low)
            maps.append(fine)
            # Nothing reads the last layer's coarse part; its weights exist in published files only.
            if layer is not self.rgb_cbl4:
                high, low = fine, layer.conv.coarse(high, low)
        return maps
