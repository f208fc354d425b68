"""U-Net: an encoder's maps brought back to full resolution, with the names of segmentation_models_pytorch."""

from collections.abc import Callable, Iterator, Sequence

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graphsr.errors import InputError
from graphsr.features.encoder import Encoder
from graphsr.features.extractor import Extractor
from graphsr.features.normalisation import FoldedConvolution, Layer, NormalisedConvolution
from graphsr.features.padding import pad_to_multiple
from graphsr.features.strips import in_strips, strips
from graphsr.features.upsampled_convolution import add_upsampled_convolution, coarse_weights

DECODER_CHANNELS = (256, 128, 64, 32, 16)
# A map of fewer pixels is upsampled first: the weights that spare that take longer to make.
_FEWEST_PIXELS = 1024
# Numbers in the vectors that a convolution works with.
_VECTOR = 8


def _convolution(inputs: int, outputs: int) -> NormalisedConvolution:
    convolution = nn.Conv2d(inputs, outputs, 3, padding=1, bias=False)
    nn.init.kaiming_uniform_(convolution.weight, mode="fan_in", nonlinearity="relu")
    return NormalisedConvolution(convolution, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True))


class DecoderBlock(nn.Module):
    """Double the sides and mix in the encoder's map: (B, C, H, W), (B, S, 2H, 2W) -> (B, M, 2H, 2W)."""

    def __init__(self, inputs: int, skip: int, outputs: int) -> None:
        super().__init__()
        self.inputs, self.skip = inputs + skip, skip
        self.conv1 = _convolution(inputs + skip, outputs)
        self.conv2 = _convolution(outputs, outputs)

    def forward(self, x: Tensor, skip: Tensor | None) -> Tensor:
        inputs = (x,) if skip is None else (x, skip)
        return in_strips(
            self.function(x), inputs, x.shape[-2], halo=1, bytes_per_unit=self.bytes_per_row(x.shape[-1], x)
        )

    def function(self, x: Tensor) -> Callable[..., Tensor]:
        """Return the block as a function of one or two maps, prepared once for all strips of x (B, C, H, W)."""
        first, second = self.conv1.layer(), self.conv2.layer()
        if isinstance(first, FoldedConvolution) and x.shape[-2] * x.shape[-1] >= _FEWEST_PIXELS:
            return self._folded_function(first, second)

        def compute(x: Tensor, skip: Tensor | None = None) -> Tensor:
            x = F.interpolate(x, scale_factor=2.0, mode="nearest")
            return second(first(x if skip is None else torch.cat([x, skip], dim=1)))

        return compute

    def _folded_function(self, first: FoldedConvolution, second: Layer) -> Callable[..., Tensor]:
        """Return the same without the upsampled map, and without joining it with the other one."""
        upsampled, others = torch.split(first.weight, [self.inputs - self.skip, self.skip], 1)
        weights = coarse_weights(upsampled)

        def compute(x: Tensor, skip: Tensor | None = None) -> Tensor:
            if skip is None:
                shape = (x.shape[0], first.bias.numel(), 2 * x.shape[2], 2 * x.shape[3])
                y = torch.empty(shape, dtype=x.dtype, device=x.device, memory_format=torch.channels_last)
                y.copy_(first.bias.view(1, -1, 1, 1).expand(shape))
            else:
                y = F.conv2d(skip, others, first.bias, padding=1)
            return second(F.relu_(add_upsampled_convolution(y, x, weights)))

        return compute

    def bytes_per_row(self, width: int, like: Tensor) -> int:
        """Return what the widest map takes for a row of so many pixels before upsampling."""
        return like.element_size() * self.inputs * 4 * width


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
        x: Tensor = self.blocks[-1](self.before_last(maps), last_skip)
        return x

    def before_last(self, maps: list[Tensor]) -> Tensor:
        """Return what the last block reads, at H/2."""
        x, *skips = reversed(maps)
        for block, skip in zip(self.blocks[:-1], skips, strict=True):
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
        return self._head(self.decoder(self.encoder(x), x if self.sharp else None))

    def _head(self, x: Tensor) -> Tensor:
        """Return the features of the decoder's last map (B, C, H, W).

        Without gradients with a few outputs more, which are left out again: oneDNN takes half as long again for a
        number of them that does not fill its vectors.
        """
        head = self.segmentation_head[0]
        assert isinstance(head, nn.Conv2d)
        weight, bias = head.weight, head.bias
        assert bias is not None
        more = -bias.numel() % _VECTOR
        if torch.is_grad_enabled() or not more:
            y: Tensor = self.segmentation_head(x)
            return y
        return F.conv2d(x, F.pad(weight, (0, 0, 0, 0, 0, 0, 0, more)), F.pad(bias, (0, more)), padding=1)[:, :-more]

    def in_strips(self, x: Tensor) -> Iterator[Tensor]:
        self.check(x)
        height, width = x.shape[-2:]
        block = self.decoder.blocks[-1]
        assert isinstance(block, DecoderBlock)
        units, columns = (-(-side // self.multiple) * self.multiple // 2 for side in (height, width))
        # The two convolutions of the block, that of the head, and one row more that is the next strip's.
        chosen = list(strips(units, 2, block.bytes_per_row(columns, x)))
        if torch.is_grad_enabled() or x.shape[0] > 1 or len(chosen) == 1:
            yield self(x)
            return
        x = pad_to_multiple(x, self.multiple)
        coarse = self.decoder.before_last(self.encoder(x))
        decode = block.function(coarse)
        for strip in chosen:
            if 2 * strip.first >= height:
                return
            skip = (strip.rows_of(x, units),) if self.sharp else ()
            y = self._head(decode(strip.rows_of(coarse, units), *skip))
            yield y[..., 2 * (strip.first - strip.begin) : min(2 * strip.last + 1, height) - 2 * strip.begin, :width]
