"""PMBANet (Ye et al. 2020): three stages, each of many back-projections between the two resolutions.

The authors' names of parameters are not known, so names here are ours: a file of their weights needs renaming. Counts
and shapes are the published ones, layers that are built but never run included.
"""

from __future__ import annotations

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graphsr.baselines.base import Method, NetworkBaseline, for_one_factor
from graphsr.errors import InputError
from graphsr.features.channels import three_channels

FACTORS = (2, 4, 8, 16)
WIDTH = 64
STEM = 256
# Average pooling in the blocks: the source's sides must be divisible by this.
POOL = 4


class Unit(nn.Module):
    """Apply a convolution, or a transposed one, and a PReLU of one slope."""

    def __init__(self, layer: nn.Conv2d | nn.ConvTranspose2d) -> None:
        super().__init__()
        self.layer = layer
        self.slope = nn.PReLU()

    def forward(self, x: Tensor) -> Tensor:
        x = self.slope(self.layer(x))
        return x


def _unit(inputs: int, outputs: int, kernel: int, dilation: int = 1) -> Unit:
    return Unit(nn.Conv2d(inputs, outputs, kernel, padding=dilation * (kernel // 2), dilation=dilation))


def _up(factor: int) -> Unit:
    """(B, 64, h, w) -> (B, 64, factor h, factor w)."""
    return Unit(nn.ConvTranspose2d(WIDTH, WIDTH, factor + 4, factor, padding=2))


def _down(factor: int) -> Unit:
    """(B, 64, factor h, factor w) -> (B, 64, h, w)."""
    return Unit(nn.Conv2d(WIDTH, WIDTH, factor + 4, factor, padding=2))


class DenseBranch(nn.Module):
    """Apply dilated convolutions, each to all maps before it, then enlarge: (B, C, h, w) -> (B, 64, H, W)."""

    def __init__(self, inputs: int, factor: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            _unit(inputs + before * WIDTH, WIDTH, 3, dilation) for before, dilation in enumerate((1, 2, 3, 4, 1))
        )
        self.up = _up(factor)

    def forward(self, x: Tensor) -> Tensor:
        maps = [x]
        for layer in self.layers:
            maps.append(layer(torch.cat(maps, dim=1)))
        x = self.up(maps[-1])
        return x


class Reconstruction(nn.Module):
    """Sharpen details, enlarge, reduce again, and add the enlarged error.

    (B, C, h, w) -> (B, 64, H, W); with `from_target` the input is (B, 64, H, W).
    """

    def __init__(self, inputs: int, factor: int, from_target: bool) -> None:
        super().__init__()
        self.reduce = _down(factor) if from_target else None
        self.mix = _unit(inputs, WIDTH, 1)
        self.smooth = _up(POOL)
        self.up = _up(factor)
        self.down = _down(factor)
        self.up_error = _up(factor)

    def forward(self, x: Tensor) -> Tensor:
        mixed = self.mix(x if self.reduce is None else self.reduce(x))
        details = F.relu(mixed - self.smooth(F.avg_pool2d(mixed, POOL)))
        sharp = mixed + 0.1 * details * mixed
        enlarged = self.up(sharp)
        x = enlarged + self.up_error(self.down(enlarged) - sharp)
        return x


class Reconstructions(nn.Module):
    """Apply four blocks one after another and join their outputs: (B, C, h, w) -> (B, 64, H, W)."""

    def __init__(self, inputs: int, factor: int) -> None:
        super().__init__()
        self.first = Reconstruction(inputs, factor, from_target=False)
        self.others = nn.ModuleList(Reconstruction(WIDTH, factor, from_target=True) for _ in range(3))
        # In the published network there is a fifth that nothing reads: it is part of its files.
        self.unused = Reconstruction(WIDTH, factor, from_target=True)
        self.join = _unit(4 * WIDTH, WIDTH, 3)

    def forward(self, x: Tensor) -> Tensor:
        maps = [self.first(x)]
        for block in self.others:
            maps.append(block(maps[-1]))
        x = self.join(torch.cat(maps, dim=1))
        return x


class ChannelAttention(nn.Module):
    """Amplify channels by a function of their means over the image: (B, 64, H, W) -> (B, 64, H, W)."""

    def __init__(self) -> None:
        super().__init__()
        self.squeeze = nn.Linear(WIDTH, 4)
        self.excite = nn.Linear(4, WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        gate = torch.sigmoid(self.excite(F.relu(self.squeeze(x.mean((-2, -1))))))
        return x + x * gate[..., None, None]


class PMBANet(nn.Module):
    """Predict a target (B, 1, H, W) from guide (B, 3, H, W) and source (B, 1, h, w); h and w divisible by 4.

    Parts of a fourth and fifth stage, and at x16 of a third, are built but never run: they are in the published files
    and counts.
    """

    def __init__(self, factor: int) -> None:
        super().__init__()
        if factor not in FACTORS:
            raise InputError(f"PMBANet exists for factors {', '.join(map(str, FACTORS))}, not {factor}")
        self.stages = 2 if factor == 16 else 3
        self.source_stem = nn.Sequential(_unit(1, STEM, 3), _unit(STEM, WIDTH, 1))
        self.guide_stem = nn.Sequential(_unit(3, STEM, 3), _unit(STEM, WIDTH, 3), _unit(WIDTH, WIDTH, 1))
        self.branches = nn.ModuleList(DenseBranch(stage * WIDTH, factor) for stage in (1, 2, 3, 4))
        self.reconstructions = nn.ModuleList(Reconstructions(stage * WIDTH, factor) for stage in (1, 2, 3))
        self.attentions = nn.ModuleList(ChannelAttention() for _ in range(5))
        self.downs = nn.ModuleList(_down(factor) for _ in range(3))
        self.out = nn.Conv2d(WIDTH, 1, 3, padding=1)
        self.unused_guide = _unit(WIDTH, WIDTH, 3)
        self.unused_outs = nn.ModuleList(_unit(4 * WIDTH, WIDTH, 3) for _ in range(2))
        self.apply(_initialise)

    def forward(self, guide: Tensor, source: Tensor) -> Tensor:
        x, colours = self.source_stem(source), self.guide_stem(guide)
        for stage in range(self.stages):
            both = self.branches[stage](x) + self.reconstructions[stage](x)
            features = self.attentions[stage](both + colours if stage == 0 else both)
            if stage < self.stages - 1:
                x = torch.cat([x, self.downs[stage](features)], dim=1)
        source = self.out(features)
        return source


def _initialise(module: nn.Module) -> None:
    if isinstance(module, nn.Conv2d | nn.ConvTranspose2d):
        nn.init.kaiming_normal_(module.weight)
        if module.bias is not None:
            nn.init.zeros_(module.bias)


class PMBANetBaseline(NetworkBaseline):
    """Run PMBANet at its factor, on source and guide in 0..1 (in the release: 8 bits, divided by 255)."""

    method = "pmbanet"
    layout: ClassVar[torch.memory_format] = torch.contiguous_format  # 4.0 s a sample instead of 5.8 at x8

    def __init__(self, factor: int) -> None:
        super().__init__(PMBANet(factor), factor)
        self.multiple = POOL * factor

    def predict(self, guide: Tensor, source: Tensor, interpolated: Tensor) -> Tensor:
        target: Tensor = self.network(three_channels(guide), source)
        return target


METHOD = Method(
    name="pmbanet",
    title="PMBANet",
    year=2020,
    reference="Ye et al., PMBANet: Progressive Multi-Branch Aggregation Network for Scene Depth Super-Resolution, "
    "TIP 2020",
    build=for_one_factor("pmbanet", FACTORS, PMBANetBaseline),
    learned=True,
    factors=FACTORS,
    published_as="",
)
