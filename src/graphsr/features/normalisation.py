"""Convolution, batch normalisation and activation in one pass, where nothing is trained."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Literal

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from graphsr.features.padding import SameConv2d, pad_same, same_padding

Activation = Literal["relu", "relu6", "silu"]
Layer = Callable[[Tensor], Tensor]

_FUNCTIONS: dict[Activation, Callable[..., Tensor]] = {"relu": F.relu, "relu6": F.relu6, "silu": F.silu}
# What oneDNN calls them, and its constants.
_FUSED: dict[Activation | None, tuple[str, list[float]]] = {
    None: ("none", []),
    "relu": ("relu", []),
    "relu6": ("hardtanh", [0.0, 6.0]),
    "silu": ("swish", []),
}
_FUSED_TYPES = torch.float32, torch.bfloat16


def activated(x: Tensor, activation: Activation) -> Tensor:
    """Apply an activation; in place where no gradient is asked for, since nothing else reads the map."""
    return _FUNCTIONS[activation](x, inplace=not torch.is_grad_enabled())


def layer(convolution: nn.Conv2d, norm: nn.BatchNorm2d, activation: Activation | None = None) -> Layer:
    """Return activation(norm(convolution(x))) as a function; where nothing is trained, in one pass over the map.

    The norm is then folded into the weights. That is done in every call of a network and costs next to nothing, so that
    there is no second set of weights that could be out of date.

    Args:
        convolution: From C to M channels.
        norm: Of M channels.
        activation: Its name; None: none.

    Returns:
        A function of (B, C, H, W) that returns (B, M, H', W').
    """
    if norm.training or torch.is_grad_enabled() or norm.running_mean is None or norm.running_var is None:

        def plain(x: Tensor) -> Tensor:
            x = norm(convolution(x))
            return x if activation is None else activated(x, activation)

        return plain
    scale = norm.weight * torch.rsqrt(norm.running_var + norm.eps)
    bias = norm.bias - scale * norm.running_mean
    if convolution.bias is not None:
        bias = bias + scale * convolution.bias
    return FoldedConvolution(convolution, convolution.weight * scale.view(-1, 1, 1, 1), bias, activation)


@dataclass(frozen=True)
class FoldedConvolution:
    """A convolution with the weights of its normalisation in it, and its activation."""

    convolution: nn.Conv2d
    weight: Tensor  # (M, C / groups, k, k)
    bias: Tensor  # (M,)
    activation: Activation | None

    def __call__(self, x: Tensor) -> Tensor:
        if x.device.type != "cpu" or not torch.is_autocast_enabled("cpu"):
            return self.apply(x)
        # Autocast does not know the operation used here.
        dtype = torch.get_autocast_dtype("cpu")
        folded = self if self.weight.dtype == dtype else self._reduced
        return folded.apply(x.to(dtype))

    def apply(self, x: Tensor) -> Tensor:
        """Return the result for a map of the type of the weights."""
        convolution = self.convolution
        if self._is_product and x.is_contiguous(memory_format=torch.channels_last):
            y = F.linear(x.permute(0, 2, 3, 1), self.weight.flatten(1), self.bias).permute(0, 3, 1, 2)
            return y if self.activation is None else activated(y, self.activation)
        if not isinstance(convolution, SameConv2d):
            return self._convolved(x, self.weight, convolution.padding)
        kernel, stride = convolution.kernel_size[0], convolution.stride[0]
        (top, bottom), (left, right) = (same_padding(side, kernel, stride) for side in x.shape[-2:])
        if (top, left) == (bottom, right):
            return self._convolved(x, self.weight, (top, left))
        if (top + 1, left + 1) == (bottom, right):
            return self._convolved(x, self._widened, (bottom, right))
        return self._convolved(pad_same(x, kernel, stride), self.weight, (0, 0))

    @cached_property
    def _reduced(self) -> FoldedConvolution:
        """The same with weights of the type that autocast asks for."""
        dtype = torch.get_autocast_dtype("cpu")
        return replace(self, weight=self.weight.to(dtype), bias=self.bias.to(dtype))

    @property
    def _is_product(self) -> bool:
        """Whether it is a product of matrices, which takes half the time of a convolution of few channels."""
        how = self.convolution
        return how.kernel_size == how.stride == (1, 1) and how.groups == 1

    @cached_property
    def _widened(self) -> Tensor:
        """The weights with zeros above and left of them: what pads one row more below then pads alike on all sides, and
        the convolution can do so by itself.
        """
        return F.pad(self.weight, (1, 0, 1, 0))

    def _convolved(self, x: Tensor, weight: Tensor, padding: Any) -> Tensor:
        convolution = self.convolution
        rest = convolution.stride, convolution.dilation, convolution.groups
        if x.device.type == "cpu" and x.dtype in _FUSED_TYPES and _has_fused_convolution():
            name, constants = _FUSED[self.activation]
            y: Tensor = torch.ops.mkldnn._convolution_pointwise(
                x, weight, self.bias, padding, *rest, name, constants, ""
            )
            return y
        y = F.conv2d(x, weight, self.bias, rest[0], padding, *rest[1:])
        return y if self.activation is None else activated(y, self.activation)


@lru_cache(maxsize=1)
def _has_fused_convolution() -> bool:
    """Return whether torch has oneDNN, with the operation that its compiler makes of convolution and activation."""
    built_in: bool = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return built_in and hasattr(torch.ops.mkldnn, "_convolution_pointwise")


def normalised(convolution: nn.Conv2d, norm: nn.BatchNorm2d, x: Tensor, activation: Activation | None = None) -> Tensor:
    """Return activation(norm(convolution(x))), see `layer`."""
    return layer(convolution, norm, activation)(x)


class NormalisedConvolution(nn.Sequential):
    """Apply a convolution, its batch normalisation and perhaps a ReLU, which are named by their numbers."""

    def forward(self, x: Tensor) -> Tensor:
        return self.layer()(x)

    def layer(self) -> Layer:
        """Return it as a function, prepared once for many calls."""
        convolution, norm, *others = self
        assert isinstance(convolution, nn.Conv2d)
        assert isinstance(norm, nn.BatchNorm2d)
        return layer(convolution, norm, "relu" if others else None)
