"""U-Net: an encoder's maps brought back to full resolution, with the names of segmentation_models_pytorch."""

from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graphsr.errors import InputError
from graphsr.features.encoder import Encoder
from graphsr.features.extractor import Extractor
from graphsr.features.normalisation import NormalisedConvolution

DECODER_CHANNELS = (256, 128, 64, 32, 16)


def _convolution(inputs: int, outputs: int) -> nn.Sequential:
    convolution = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
    nn.init.kaiming_uniform_(convolution.weight, mode="fan_in", nonlinearity="relu")
    return NormalisedConvolution(convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class DecoderBlock(nn.Module):
    """Double the sides and mix in the encoder's map: (B, C, H, W), (B, S, 2H, 2W) -> (B, M, 2H, 2W)."""

    def __init__(self, inputs: int, skip: int, outputs: int) -> None:
        super().__init__()
        self.conv1 = _convolution(inputs + skip, outputs)
        self.conv2 = _convolution(outputs, outputs)

    def forward(self, x: Tensor, skip: Tensor | None) -> Tensor:
        x = F.interpolate(x, scale_factor=2.0, mode="nearest")
        if skip is not None:
            x = torch.cat([x, skip], dim=1)
        x = self.conv2(self.conv1(x))
        return x


class Decoder(nn.Module):
    """Decode by five blocks from H/32 to H; the last has no map of the encoder, but may get the network's input."""

    def __init__(self, encoder_channels: tuple[int, ...], channels: tuple[int, ...], last_skip: int = 0) -> None:
        super().__init__()
        deepest, *skips = reversed(encoder_channels)
        inputs = (deepest, *channels[:-1])
        self.blocks = nn.ModuleList(
            DecoderBlock(*widths) for widths in zip(inputs, (*skips, last_skip), channels, strict=True)
        )

    def forward(self, maps: list[Tensor], last_skip: Tensor | None = None) -> Tensor:
        x, *skips = reversed(maps)
        for block, skip in zip(self.blocks, (*skips, last_skip), strict=True):
            x = block(x, skip)
        return x


class UNet(Extractor):
    """Extract by an encoder, a decoder and a 3x3 head: (B, C+1, H, W) -> (B, M, H, W).

    The published decoder reads nothing finer than the encoder's first map, at half resolution. With `sharp` its last
    block reads the input too, which has every edge at its exact place.
    """

    multiple = 32

    def __init__(
        self,
        encoder: Encoder,
        out_channels: int,
        decoder_channels: Sequence[int] = DECODER_CHANNELS,
        sharp: bool = False,
    ) -> None:
        super().__init__(encoder.in_channels, out_channels)
        channels = tuple(decoder_channels)
        if len(channels) != len(encoder.channels) or min(channels) < 1:
            raise InputError(
                f"UNet: decoder_channels needs {len(encoder.channels)} positive numbers from coarse to fine, "
                f"such as {DECODER_CHANNELS}; got {channels}"
            )
        self.encoder = encoder
        self.sharp = sharp
        self.decoder = Decoder(encoder.channels, channels, encoder.in_channels if sharp else 0)
        head = nn.Conv2d(channels[-1], out_channels, 3, padding=1)
        nn.init.xavier_uniform_(head.weight)
        nn.init.zeros_(head.bias)  # type: ignore[arg-type]
        self.segmentation_head = nn.Sequential(head)

    @property
    def reach(self) -> int | None:
        return self.encoder.reach

    def extract(self, x: Tensor) -> Tensor:
        x = self.segmentation_head(self.decoder(self.encoder(x), x if self.sharp else None))
        return x
