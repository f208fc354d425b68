"""Convolution and batch normalisation in one pass."""

import torch
from torch import Tensor, nn


def normalised(convolution: nn.Conv2d, norm: nn.BatchNorm2d, x: Tensor) -> Tensor:
    """Return norm(convolution(x)); where nothing is trained, the norm is folded into the weights.

    That saves passes over the map. The weights are folded in every call, which costs nothing next to the convolution,
    so that there is no second set of weights that could be out of date.

    Args:
        convolution: From C to M channels.
        norm: Of M channels.
        x: (B, C, H, W).

    Returns:
        (B, M, H', W').
    """
    if norm.training or torch.is_grad_enabled() or norm.running_mean is None or norm.running_var is None:
        x = norm(convolution(x))
        return x
    scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
    bias = norm.bias - scale * norm.running_mean
    if convolution.bias is not None:
        bias = bias + scale * convolution.bias
    x = convolution._conv_forward(x, convolution.weight * scale.view(-1, 1, 1, 1), bias)
    return x


class NormalisedConvolution(nn.Sequential):
    """Apply a convolution, its batch normalisation and other layers, which are named by their numbers."""

    def forward(self, x: Tensor) -> Tensor:
        convolution, norm, *others = self
        assert isinstance(convolution, nn.Conv2d)
        assert isinstance(norm, nn.BatchNorm2d)
        x = normalised(convolution, norm, x)
        for module in others:
            x = module(x)
        return x
