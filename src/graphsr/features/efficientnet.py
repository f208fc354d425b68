"""EfficientNet encoders with the names of the package efficientnet_pytorch; B2 is the published one."""

from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from graphsr.features.encoder import Encoder
from graphsr.features.normalisation import Activation, activated, layer
from graphsr.features.padding import SameConv2d
from graphsr.features.strips import in_strips

DROP_RATE = 0.2
# Stages that end a level: the maps at H/4 to H/32 leave after these, the one at H/2 after the stem.
LEVEL_ENDS = (1, 2, 4, 6)


@dataclass(frozen=True)
class Stage:
    """A run of blocks of one width; only the first has the stride."""

    repeats: int
    kernel: int
    stride: int
    expand: int
    outputs: int


def seven_stages(repeats: tuple[int, ...], outputs: tuple[int, ...]) -> tuple[Stage, ...]:
    """Return the stages that all EfficientNets have in common, with the repeats and widths of one of them."""
    kernels = (3, 3, 5, 3, 5, 5, 3)
    strides = (1, 2, 2, 2, 1, 2, 1)
    expansions = (1, 6, 6, 6, 6, 6, 6)
    return tuple(Stage(*row) for row in zip(repeats, kernels, strides, expansions, outputs, strict=True))


def _norm(channels: int) -> nn.BatchNorm2d:
    return nn.BatchNorm2d(channels, eps=1e-3, momentum=0.01)


class MBConv(nn.Module):
    """Expand, filter each channel, weigh channels (optional), project: (B, C, H, W) -> (B, M, H/s, W/s)."""

    def __init__(
        self, inputs: int, stage: Stage, stride: int, activation: Activation, excite: bool, drop_rate: float
    ) -> None:
        super().__init__()
        self.activation = activation
        self.drop_rate = drop_rate
        self.residual = stride == 1 and inputs == stage.outputs
        width = inputs * stage.expand
        self._expand_conv = SameConv2d(inputs, width, 1) if stage.expand != 1 else None
        self._bn0 = _norm(width) if stage.expand != 1 else None
        self._depthwise_conv = SameConv2d(width, width, stage.kernel, stride, groups=width)
        self._bn1 = _norm(width)
        squeezed = max(1, inputs // 4)
        self._se_reduce = nn.Conv2d(width, squeezed, 1) if excite else None
        self._se_expand = nn.Conv2d(squeezed, width, 1) if excite else None
        self._project_conv = SameConv2d(width, stage.outputs, 1)
        self._bn2 = _norm(stage.outputs)

    def forward(self, x: Tensor) -> Tensor:
        expand = None
        if self._expand_conv is not None and self._bn0 is not None:
            expand = layer(self._expand_conv, self._bn0, self.activation)
        depthwise = layer(self._depthwise_conv, self._bn1, self.activation)
        project = layer(self._project_conv, self._bn2)

        def branch(x: Tensor) -> Tensor:
            return project(self._excited(depthwise(x if expand is None else expand(x))))

        (kernel, _), (stride, _) = self._depthwise_conv.kernel_size, self._depthwise_conv.stride
        if self._se_reduce is not None:  # which reads the whole map
            y = branch(x)
        else:
            row = x.element_size() * self._depthwise_conv.in_channels * stride * x.shape[-1]
            y = in_strips(branch, (x,), x.shape[-2] // stride, halo=kernel // 2, bytes_per_unit=row)
        return x + self._drop(y) if self.residual else y

    def _excited(self, y: Tensor) -> Tensor:
        """Weigh each channel by what the mean of all says."""
        if self._se_reduce is None or self._se_expand is None:
            return y
        squeezed = activated(self._se_reduce(y.mean((2, 3), keepdim=True)), self.activation)
        return torch.sigmoid(self._se_expand(squeezed)) * y

    def _drop(self, y: Tensor) -> Tensor:
        """Leave out the whole branch for some samples while training ("drop connect")."""
        if not self.training or self.drop_rate == 0.0:
            return y
        kept = 1.0 - self.drop_rate
        mask = torch.rand(y.shape[0], 1, 1, 1, dtype=y.dtype, device=y.device) < kept
        return y / kept * mask


class EfficientNet(Encoder):
    """Encode (B, C, H, W) to maps at H/2 (stem), H/4, H/8, H/16 and H/32.

    `head_channels` adds the layers between the last stage and the classifier: never run here, but part of
    published state dicts.
    """

    first_convolution = "_conv_stem.weight"
    ignored_keys: ClassVar[tuple[str, ...]] = ("_fc.",)

    def __init__(
        self,
        in_channels: int,
        stages: tuple[Stage, ...],
        weights: str,
        *,
        activation: Activation = "silu",
        excite: bool = True,
        head_channels: int | None = None,
    ) -> None:
        stem_channels = 32
        super().__init__(in_channels, (stem_channels, *(stages[i].outputs for i in LEVEL_ENDS)), weights)
        self.activation = activation
        self._conv_stem = SameConv2d(in_channels, stem_channels, 3, 2)
        self._bn0 = _norm(stem_channels)
        self._blocks = nn.ModuleList()
        self.level_ends: set[int] = set()
        total = sum(stage.repeats for stage in stages)
        inputs = stem_channels
        for number, stage in enumerate(stages):
            for repeat in range(stage.repeats):
                stride = stage.stride if repeat == 0 else 1
                rate = DROP_RATE * len(self._blocks) / total
                self._blocks.append(MBConv(inputs, stage, stride, activation, excite, rate))
                inputs = stage.outputs
            if number in LEVEL_ENDS:
                self.level_ends.add(len(self._blocks) - 1)
        if head_channels is not None:
            self._conv_head = SameConv2d(inputs, head_channels, 1)
            self._bn1 = _norm(head_channels)

    def forward(self, x: Tensor) -> list[Tensor]:
        stem = layer(self._conv_stem, self._bn0, self.activation)
        row = x.element_size() * self._conv_stem.out_channels * x.shape[-1]
        x = in_strips(stem, (x,), x.shape[-2] // 2, halo=1, bytes_per_unit=row)
        maps = [x]
        for number, block in enumerate(self._blocks):
            x = block(x)
            if number in self.level_ends:
                maps.append(x)
        return maps


def efficientnet_b2(in_channels: int) -> EfficientNet:
    """Build EfficientNet-B2 for `in_channels` input channels."""
    stages = seven_stages((2, 3, 3, 4, 4, 5, 2), (16, 24, 48, 88, 120, 208, 352))
    weights = "efficientnet_pytorch's EfficientNet-B2 (efficientnet-b2-8bb594d6.pth)"
    return EfficientNet(in_channels, stages, weights, head_channels=1408)
