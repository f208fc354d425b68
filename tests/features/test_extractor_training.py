"""Extractors learn: gradients arrive everywhere they should, and chance is under the seed's control."""

from collections.abc import Callable

import pytest
import torch

from graphsr import features

Build = Callable[[str], features.Extractor]
FIRST = {
    "unet-resnet18": ["encoder.conv1.weight"],
    "unet-resnet50": ["encoder.conv1.weight"],
    "unet-efficientnet-b2": ["encoder._conv_stem.weight"],
    "unet-lite0": ["encoder._conv_stem.weight"],
    "unet-lite1": ["encoder._conv_stem.weight"],
    "unet-lite2": ["encoder._conv_stem.weight"],
    "fdsr": ["conv_rgb1.weight", "conv_dp1.weight"],
    "gdpt": ["encoder.patch_embed.backbone.stem.conv.weight", "fusions.3.source_stem.weight"],
}
# Tensors that exist for published files only.
NEVER_RUN = {
    "unet-efficientnet-b2": ("encoder._conv_head.", "encoder._bn1."),
    "fdsr": ("rgb_cbl4.conv.conv_h2l.", "rgb_cbl4.conv.conv_l2l."),
    "gdpt": ("encoder.norm.", "fusions.3.level_unit."),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", FIRST)
def test_gradient_reaches_every_parameter_that_is_run(name: str, built: Build) -> None:
    net = built(name)
    net.zero_grad(set_to_none=True)
    net(torch.randn(1, 4, 33, 40)).square().mean().backward()
    for key in FIRST[name]:
        gradient = net.get_parameter(key).grad
        assert gradient is not None
        assert gradient.isfinite().all()
        assert gradient.abs().amax(dim=(0, 2, 3)).gt(0).all(), "every input channel"
    without = [key for key, parameter in net.named_parameters() if parameter.grad is None]
    assert all(key.startswith(NEVER_RUN.get(name, ())) for key in without)
    net.zero_grad(set_to_none=True)


@pytest.mark.parametrize("name", features.names())
def test_gradient_reaches_the_input(name: str, built: Build) -> None:
    x = torch.randn(1, 4, 35, 32, requires_grad=True)
    (gradient,) = torch.autograd.grad(built(name)(x).square().sum(), x)
    assert gradient.abs().amax(dim=(0, 2, 3)).gt(0).all()


@pytest.mark.parametrize("name", [name for name in FIRST if name != "gdpt"])
def test_evaluation_repeats_itself(name: str, built: Build) -> None:
    x = torch.randn(2, 4, 40, 40)
    with torch.inference_mode():
        assert torch.equal(built(name)(x), built(name)(x))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["unet-lite0", "unet-efficientnet-b2"])
def test_dropped_branches_follow_the_seed(name: str) -> None:
    net = features.build(name).train()
    x = torch.randn(4, 4, 64, 64)

    def run(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        with torch.no_grad():
            return net(x)

    assert torch.equal(run(1), run(1))
    assert not torch.equal(run(1), run(2))


def test_same_seed_same_network() -> None:
    torch.manual_seed(3)
    first = features.build("unet-resnet18").state_dict()
    torch.manual_seed(3)
    second = features.build("unet-resnet18").state_dict()
    assert all(torch.equal(first[key], second[key]) for key in first)
