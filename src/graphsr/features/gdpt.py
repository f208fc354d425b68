"""GDPT: a dense prediction transformer that also reads the source at each feature level.

The paper gives only that sentence and "127M" parameters. This is DPT-Hybrid (Ranftl et al. 2021) on the
guide; at each of the four fusion levels the source, averaged to that level, passes a convolution and a
residual unit of its own and is added. With 64 features that makes 127,149,888 parameters.
"""

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graphsr.features.extractor import Extractor
from graphsr.features.vit_hybrid import WIDTH, HybridViT

FUSED = 256
# Pixels of the image along a side of a position of each level, fine to coarse.
LEVEL_STRIDES = (4, 8, 16, 32)


def _enlarge(x: Tensor) -> Tensor:
    return F.interpolate(x, scale_factor=2.0, mode="bilinear", align_corners=True)


class ResidualUnit(nn.Module):
    """Add two convolutions of the input to it: (B, 256, H, W) -> (B, 256, H, W)."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(FUSED, FUSED, 3, padding=1)
        self.conv2 = nn.Conv2d(FUSED, FUSED, 3, padding=1)

    def forward(self, x: Tensor) -> Tensor:
        x = x + self.conv2(F.relu(self.conv1(F.relu(x))))
        return x


class ReadOut(nn.Module):
    """Make a map of tokens, each joined with the class token: (B, 1 + HW, 768) -> (B, 768, H, W)."""

    def __init__(self) -> None:
        super().__init__()
        self.project = nn.Linear(2 * WIDTH, WIDTH)
        self.reassemble = nn.Conv2d(WIDTH, WIDTH, 1)

    def forward(self, tokens: Tensor, height: int, width: int) -> Tensor:
        patches = tokens[:, 1:]
        joined = torch.cat([patches, tokens[:, :1].expand_as(patches)], dim=2)
        grid = F.gelu(self.project(joined)).transpose(1, 2)
        tokens = self.reassemble(grid.reshape(-1, WIDTH, height, width))
        return tokens


class Fusion(nn.Module):
    """Join one level to the coarser ones: maps (B, 256, H, W), source (B, 1, H, W) -> (B, 256, 2H, 2W)."""

    def __init__(self) -> None:
        super().__init__()
        # In the coarsest level this one is never run, as in DPT; it is part of the count.
        self.level_unit = ResidualUnit()
        self.source_stem = nn.Conv2d(1, FUSED, 3, padding=1)
        self.source_unit = ResidualUnit()
        self.fused_unit = ResidualUnit()
        self.out = nn.Conv2d(FUSED, FUSED, 1)

    def forward(self, level: Tensor, source: Tensor, coarser: Tensor | None) -> Tensor:
        fused = level if coarser is None else coarser + self.level_unit(level)
        fused = fused + self.source_unit(self.source_stem(source))
        level = self.out(_enlarge(self.fused_unit(fused)))
        return level


class GDPT(Extractor):
    """Extract (B, C+1, H, W) -> (B, M, H, W)."""

    multiple = 32

    def __init__(self, in_channels: int, out_channels: int) -> None:
        super().__init__(in_channels, out_channels)
        self.encoder = HybridViT(in_channels - 1)
        self.read_outs = nn.ModuleList(ReadOut() for _ in range(2))
        self.coarsen = nn.Conv2d(WIDTH, WIDTH, 3, stride=2, padding=1)
        self.levels = nn.ModuleList(
            nn.Conv2d(channels, FUSED, 3, padding=1, bias=False) for channels in self.encoder.channels
        )
        self.fusions = nn.ModuleList(Fusion() for _ in LEVEL_STRIDES)
        self.head1 = nn.Conv2d(FUSED, 128, 3, padding=1)
        self.head2 = nn.Conv2d(128, 64, 3, padding=1)
        self.head3 = nn.Conv2d(64, out_channels, 1)

    def extract(self, x: Tensor) -> Tensor:
        guide, source = x[:, :-1], x[:, -1:]
        fused = None
        steps = zip(self._maps(guide), self.levels, self.fusions, LEVEL_STRIDES, strict=True)
        for features, convolution, fusion, stride in reversed(list(steps)):
            fused = fusion(convolution(features), F.avg_pool2d(source, stride), fused)
        x = self.head3(F.relu(self.head2(_enlarge(self.head1(fused)))))
        return x

    def _maps(self, guide: Tensor) -> list[Tensor]:
        """Return the guide's maps, fine to coarse: (B, C, H, W) -> (B, ., H/4, W/4) to (B, 768, H/32, W/32)."""
        height, width = guide.shape[-2] // 16, guide.shape[-1] // 16
        quarter, eighth, *tokens = self.encoder(guide)
        third, fourth = (read(t, height, width) for read, t in zip(self.read_outs, tokens, strict=True))
        return [quarter, eighth, third, self.coarsen(fourth)]
