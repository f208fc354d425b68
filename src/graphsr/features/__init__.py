"""Feature extractors: networks that turn guide and source into one feature vector a pixel, one a file."""

from collections.abc import Callable, Sequence
from os import PathLike, fspath

from graphsr.errors import InputError
from graphsr.features.colour import Colour
from graphsr.features.efficientnet import efficientnet_b2
from graphsr.features.efficientnet_lite import lite0, lite1, lite2
from graphsr.features.encoder import Encoder
from graphsr.features.extractor import Extractor
from graphsr.features.fdsr import FDSR
from graphsr.features.gdpt import GDPT
from graphsr.features.resnet import resnet18, resnet50
from graphsr.features.unet import DECODER_CHANNELS, UNet
from graphsr.suggestion import suggestion

__all__ = ["Extractor", "build", "names"]

# Built from (in_channels, out_channels).
_PLAIN: dict[str, Callable[[int, int], Extractor]] = {
    "colour": lambda in_channels, _: Colour(in_channels),
    "fdsr": FDSR,
    "gdpt": GDPT,
}
# U-Nets: the encoder is built from in_channels.
_ENCODERS: dict[str, Callable[[int], Encoder]] = {
    "unet-resnet18": resnet18,
    "unet-resnet50": resnet50,
    "unet-efficientnet-b2": efficientnet_b2,
    "unet-lite0": lite0,
    "unet-lite1": lite1,
    "unet-lite2": lite2,
}


def names() -> list[str]:
    """Return the names that `build` takes.

    Returns:
        The names of all extractors, sorted.

    Example:
        >>> from graphsr import features
        >>> "unet-lite0" in features.names()
        True
    """
    return sorted([*_PLAIN, *_ENCODERS])


def build(
    name: str,
    *,
    guide_channels: int = 3,
    out_channels: int = 64,
    pretrained: bool | str | PathLike[str] = False,
    decoder_channels: Sequence[int] | None = None,
    sharp: bool = False,
) -> Extractor:
    """Build an extractor by name: (B, guide_channels + 1, H, W) -> (B, out_channels, H, W), any H and W.

    Args:
        name: One of `names()`.
        guide_channels: Channels of the guide; the interpolated source is one more.
        out_channels: Features a pixel. `colour` has no weights and returns its inputs whatever is said here.
        pretrained: True takes ImageNet weights from an installed package (Lite encoders), a path takes them from a
            file with the original names.
        decoder_channels: Widths of a U-Net's decoder from coarse to fine.
        sharp: Whether the last block of a U-Net's decoder also reads the input.

    Returns:
        The extractor, in training mode.

    Raises:
        InputError: If there is no such extractor, or it does not have what an argument is about.

    Example:
        >>> import torch
        >>> from graphsr import features
        >>> features.build("fdsr", out_channels=8)(torch.rand(1, 4, 30, 20)).shape
        torch.Size([1, 8, 30, 20])
    """
    if guide_channels < 1 or out_channels < 1:
        raise InputError(
            f"{name}: needs at least one guide channel and one output channel; "
            f"got guide_channels={guide_channels}, out_channels={out_channels}"
        )
    extractor = _assemble(name, guide_channels + 1, out_channels, decoder_channels, sharp)
    if pretrained is not False:
        encoder = getattr(extractor, "encoder", None)
        if not isinstance(encoder, Encoder):
            raise InputError(f"{name} has no encoder to load ImageNet weights into: leave `pretrained` out")
        encoder.load_imagenet(None if pretrained is True else fspath(pretrained))
    return extractor


def _assemble(
    name: str, in_channels: int, out_channels: int, decoder_channels: Sequence[int] | None, sharp: bool
) -> Extractor:
    if name in _ENCODERS:
        channels = DECODER_CHANNELS if decoder_channels is None else decoder_channels
        return UNet(_ENCODERS[name](in_channels), out_channels, channels, sharp)
    if name not in _PLAIN:
        raise InputError(f"no feature extractor is called {name!r}: {suggestion(name, names())}")
    if decoder_channels is not None or sharp:
        raise InputError(f"{name} has no U-Net decoder: leave `decoder_channels` and `sharp` out")
    return _PLAIN[name](in_channels, out_channels)
