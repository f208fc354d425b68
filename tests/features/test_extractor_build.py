"""`graphsr.features.build`: names and mistakes."""

import pytest

from graphsr import features
from graphsr.errors import InputError


def test_names() -> None:
    assert features.names() == [
        "colour",
        "fdsr",
        "gdpt",
        "unet-efficientnet-b2",
        "unet-lite0",
        "unet-lite1",
        "unet-lite2",
        "unet-resnet18",
        "unet-resnet50",
    ]


def test_unknown_name_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match=r"'unet-resnet5'.*unet-resnet50"):
        features.build("unet-resnet5")
    with pytest.raises(InputError, match="did you mean colour"):
        features.build("color")


def test_name_like_no_other_lists_all() -> None:
    with pytest.raises(InputError, match=r"known are colour, fdsr.*unet-resnet50"):
        features.build("?")


@pytest.mark.parametrize(("guide_channels", "out_channels"), [(0, 64), (3, 0)])
def test_no_channels(guide_channels: int, out_channels: int) -> None:
    with pytest.raises(InputError, match="at least one guide channel and one output channel"):
        features.build("unet-lite0", guide_channels=guide_channels, out_channels=out_channels)


@pytest.mark.parametrize("channels", [(), (64, 32), (256, 128, 64, 32, 0)])
def test_wrong_decoder_channels(channels: tuple[int, ...]) -> None:
    with pytest.raises(InputError, match="decoder_channels needs 5 positive numbers"):
        features.build("unet-lite0", decoder_channels=channels)


@pytest.mark.parametrize("name", ["colour", "fdsr", "gdpt"])
def test_decoder_channels_without_a_decoder(name: str) -> None:
    with pytest.raises(InputError, match=f"{name} has no U-Net decoder"):
        features.build(name, decoder_channels=(256, 128, 64, 32, 16))
