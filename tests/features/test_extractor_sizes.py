"""Any image size and any number of guide channels; nothing changes where the size already fits."""

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F

from graphsr import features
from graphsr.errors import InputError

Build = Callable[[str], features.Extractor]
NAMES = features.names()
NETWORKS = [name for name in NAMES if name != "colour"]


@pytest.mark.slow
@pytest.mark.parametrize("size", [(1, 1), (37, 51)])
@pytest.mark.parametrize("name", NAMES)
def test_any_size(name: str, size: tuple[int, int], built: Build) -> None:
    net = built(name)
    with torch.inference_mode():
        result = net(torch.randn(2, 4, *size))
    assert result.shape == (2, net.out_channels, *size)
    assert result.isfinite().all()


@pytest.mark.slow
@pytest.mark.parametrize(("guide_channels", "out_channels"), [(1, 64), (5, 7)])
@pytest.mark.parametrize("name", NAMES)
def test_any_number_of_channels(name: str, guide_channels: int, out_channels: int) -> None:
    with torch.device("meta"):  # shapes alone: no arithmetic is done
        net = features.build(name, guide_channels=guide_channels, out_channels=out_channels).eval()
    assert net.in_channels == guide_channels + 1
    assert net.out_channels == (net.in_channels if name == "colour" else out_channels)
    with torch.inference_mode():
        result = net(torch.empty(1, guide_channels + 1, 9, 40, device="meta"))
    assert result.shape == (1, net.out_channels, 9, 40)


@pytest.mark.parametrize("name", NETWORKS)
def test_fitting_size_is_not_padded(name: str, built: Build) -> None:
    x = torch.randn(1, 4, 64, 32)
    with torch.inference_mode():
        assert torch.equal(built(name)(x), built(name).extract(x))


@pytest.mark.parametrize("name", ["unet-resnet18", "unet-lite0", "fdsr"])
def test_other_size_repeats_the_border(name: str, built: Build) -> None:
    x = torch.randn(1, 4, 45, 30)
    by_hand = F.pad(x, (0, 2, 0, 19), mode="replicate")
    if name == "fdsr":
        by_hand = by_hand[..., :48, :]
    with torch.inference_mode():
        assert torch.equal(built(name)(x), built(name)(by_hand)[..., :45, :30])


@pytest.mark.parametrize("name", ["unet-resnet18", "fdsr", "colour"])
def test_samples_of_a_batch_do_not_meet(name: str, built: Build) -> None:
    x = torch.randn(3, 4, 40, 48)
    with torch.inference_mode():
        together = built(name)(x)
        alone = torch.cat([built(name)(sample[None]) for sample in x])
    # Measured 2e-5 on values up to 3: another batch size may take another convolution kernel.
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-4)


def test_colour_is_the_input() -> None:
    x = torch.randn(2, 4, 9, 5)
    assert torch.equal(features.build("colour")(x), x)


@pytest.mark.parametrize("shape", [(1, 3, 32, 32), (4, 32, 32)])
@pytest.mark.parametrize("name", ["colour", "unet-resnet18", "fdsr"])
def test_wrong_input_is_named(name: str, shape: tuple[int, ...], built: Build) -> None:
    with pytest.raises(InputError, match=r"takes \(B, 4, H, W\), 3 guide channels .* got \("):
        built(name)(torch.zeros(shape))


@pytest.mark.parametrize("name", ["unet-lite0", "unet-resnet18"])
def test_lighter_decoder(name: str) -> None:
    net = features.build(name, decoder_channels=(128, 64, 48, 32, 24)).eval()
    assert net(torch.randn(1, 4, 33, 40)).shape == (1, 64, 33, 40)
    assert net.get_parameter("segmentation_head.0.weight").shape == (64, 24, 3, 3)
