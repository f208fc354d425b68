"""Convolution and batch normalisation in one."""

import torch
from torch import Tensor, nn


def normalised(convolution: nn.Conv2d, norm: nn.BatchNorm2d, x: Tensor) -> Tensor:
    """norm(convolution(x)). Where nothing is trained the norm goes into the weights, which saves passes over the map.

    Into a copy of them, made in every call: next to the convolution that costs nothing, and there is no second set of
    weights that could be out of date.
    """
    if norm.training or torch.is_grad_enabled() or norm.running_mean is None or norm.running_var is None:
        return norm(convolution(x))
    scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
    bias = norm.bias - scale * norm.running_mean
    if convolution.bias is not None:
        bias = bias + scale * convolution.bias
    return convolution._conv_forward(x, convolution.weight * scale.view(-1, 1, 1, 1), bias)


class NormalisedConvolution(nn.Sequential):
    """A convolution, its batch normalisation and an activation; named by their numbers."""

    def forward(self, x: Tensor) -> Tensor:
        convolution, norm, *others = self
        assert isinstance(convolution, nn.Conv2d)
        assert isinstance(norm, nn.BatchNorm2d)
        x = normalised(convolution, norm, x)
        for module in others:
            x = module(x)
        return x
