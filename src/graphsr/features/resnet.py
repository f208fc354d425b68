"""ResNet-18 and ResNet-50 encoders with the layout and names of torchvision (stride on the 3x3)."""

import torch.nn.functional as F
from torch import Tensor, nn

from graphsr.features.encoder import Encoder
from graphsr.features.normalisation import NormalisedConvolution, normalised


def _shortcut(inputs: int, outputs: int, stride: int) -> nn.Module | None:
    if stride == 1 and inputs == outputs:
        return None
    return NormalisedConvolution(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))


class BasicBlock(nn.Module):
    """Apply two 3x3 convolutions and a shortcut: (B, C, H, W) -> (B, width, H/stride, W/stride)."""

    expansion = 1

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, width, 3, stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = _shortcut(inputs, width, stride)

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        x = normalised(self.conv1, self.bn1, x, "relu")
        return F.relu(normalised(self.conv2, self.bn2, x) + shortcut, inplace=True)


class Bottleneck(nn.Module):
    """Apply convolutions of 1x1, 3x3 and 1x1 and a shortcut: (B, C, H, W) -> (B, 4 width, H/stride, W/stride)."""

    expansion = 4

    def __init__(self, inputs: int, width: int, stride: int) -> None:
        super().__init__()
        outputs = width * self.expansion
        self.conv1 = nn.Conv2d(inputs, width, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, stride, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.conv3 = nn.Conv2d(width, outputs, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(outputs)
        self.downsample = _shortcut(inputs, outputs, stride)

    def forward(self, x: Tensor) -> Tensor:
        shortcut = x if self.downsample is None else self.downsample(x)
        x = normalised(self.conv1, self.bn1, x, "relu")
        x = normalised(self.conv2, self.bn2, x, "relu")
        return F.relu(normalised(self.conv3, self.bn3, x) + shortcut, inplace=True)


class ResNet(Encoder):
    """Encode (B, C, H, W) to maps at H/2 (stem), H/4, H/8, H/16 and H/32."""

    first_convolution = "conv1.weight"
    ignored_keys = ("fc.",)
    reach = 320  # the receptive field with the decoder's ends at 311 (ResNet-18) and 307 pixels (ResNet-50)

    def __init__(
        self,
        in_channels: int,
        block: type[BasicBlock] | type[Bottleneck],
        repeats: tuple[int, int, int, int],
        weights: str,
    ) -> None:
        widths = (64, 128, 256, 512)
        outputs = [width * block.expansion for width in widths]
        super().__init__(in_channels, (64, *outputs), weights)
        self.conv1 = nn.Conv2d(in_channels, 64, 7, 2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.layer1 = _layer(block, 64, widths[0], repeats[0], stride=1)
        self.layer2 = _layer(block, outputs[0], widths[1], repeats[1], stride=2)
        self.layer3 = _layer(block, outputs[1], widths[2], repeats[2], stride=2)
        self.layer4 = _layer(block, outputs[2], widths[3], repeats[3], stride=2)
        for module in self.modules():
            # The first convolution keeps torch's own initialisation, as in the reference.
            if isinstance(module, nn.Conv2d) and module is not self.conv1:
                nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")

    def forward(self, x: Tensor) -> list[Tensor]:
        x = normalised(self.conv1, self.bn1, x, "relu")
        maps = [x]
        x = F.max_pool2d(x, 3, 2, padding=1)
        for layer in (self.layer1, self.layer2, self.layer3, self.layer4):
            x = layer(x)
            maps.append(x)
        return maps


def _layer(
    block: type[BasicBlock] | type[Bottleneck], inputs: int, width: int, repeats: int, stride: int
) -> nn.Sequential:
    first = block(inputs, width, stride)
    return nn.Sequential(first, *(block(width * block.expansion, width, 1) for _ in range(repeats - 1)))


def resnet18(in_channels: int) -> ResNet:
    """Build ResNet-18 for `in_channels` input channels."""
    return ResNet(in_channels, BasicBlock, (2, 2, 2, 2), "torchvision's ResNet-18 V1 (resnet18-5c106cde.pth)")


def resnet50(in_channels: int) -> ResNet:
    """Build ResNet-50 for `in_channels` input channels."""
    return ResNet(in_channels, Bottleneck, (3, 4, 6, 3), "torchvision's ResNet-50 V1 (resnet50-19c8e357.pth)")
