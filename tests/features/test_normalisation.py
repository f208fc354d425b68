"""Convolution and normalisation in one give what they give one after the other."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from graphsr.features.normalisation import NormalisedConvolution, normalised
from graphsr.features.padding import SameConv2d


def settled(channels: int) -> nn.BatchNorm2d:
    """One after training."""
    norm = nn.BatchNorm2d(channels, eps=1e-3)
    for tensor in (norm.weight, norm.bias, norm.running_mean, norm.running_var):
        assert tensor is not None
        tensor.data.uniform_(0.2, 2.0)
    return norm.eval()


CONVOLUTIONS = {
    "plain": lambda: nn.Conv2d(4, 6, 3, padding=1, bias=False),
    "bias and stride": lambda: nn.Conv2d(4, 6, 3, 2),
    "same": lambda: SameConv2d(4, 6, 3, 2),
    "each channel": lambda: SameConv2d(4, 4, 5, groups=4),
    "a product": lambda: SameConv2d(4, 6, 1),
}


@pytest.fixture(params=CONVOLUTIONS)
def pair(request):
    torch.manual_seed(0)
    convolution = CONVOLUTIONS[request.param]()
    return convolution, settled(convolution.out_channels)


def test_without_gradients_it_is_one_operation(pair):
    convolution, norm = pair
    x = torch.randn(2, 4, 11, 9)
    with torch.no_grad():
        expected = norm(convolution(x))
        assert torch.allclose(normalised(convolution, norm, x), expected, atol=1e-5)
        assert not torch.equal(normalised(convolution, norm, x), expected)  # or it would be two


@pytest.mark.parametrize("size", [(12, 8), (11, 9), (12, 9)])  # 'same' pads one row more below only for even sizes
@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
@pytest.mark.parametrize("activation", ["relu", "relu6", "silu"])
def test_the_activation_is_part_of_it(pair, activation, layout, size):
    convolution, norm = pair
    x = (4 * torch.randn(2, 4, *size)).contiguous(memory_format=layout)
    expected = normalised(convolution, norm, x, activation).detach()
    with torch.no_grad():
        assert torch.allclose(normalised(convolution, norm, x, activation), expected, atol=1e-5)


def test_with_gradients_it_is_two(pair):
    convolution, norm = pair
    x = torch.randn(2, 4, 11, 9)
    assert torch.equal(normalised(convolution, norm, x), norm(convolution(x)))


def test_in_training_it_keeps_the_statistics(pair):
    convolution, norm = pair
    norm.train()
    before = norm.running_mean.clone()
    with torch.no_grad():
        normalised(convolution, norm, torch.randn(2, 4, 11, 9))
    assert not torch.equal(norm.running_mean, before)


def test_weights_that_change_count_at_once():
    block = NormalisedConvolution(nn.Conv2d(2, 3, 1), settled(3), nn.ReLU()).eval()
    x = torch.rand(1, 2, 4, 4)
    with torch.no_grad():
        before = block(x)
        block.get_parameter("0.weight").mul_(2)
        assert not torch.allclose(block(x), before)
