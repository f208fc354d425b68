"""Padding that depends on the size of the input at hand."""

import torch.nn.functional as F
from torch import Tensor, nn


def pad_to_multiple(x: Tensor, multiple: int) -> Tensor:
    """Repeat the last row and column of x (B, C, H, W) until both sides are divisible by `multiple`.

    Only the bottom and right grow, so that a pixel keeps its place in the network's strides whatever the
    size of the image around it: tiles cut at multiples see the same grid as the whole.
    """
    bottom, right = -x.shape[-2] % multiple, -x.shape[-1] % multiple
    return F.pad(x, (0, right, 0, bottom), mode="replicate") if bottom or right else x


def same_padding(size: int, kernel: int, stride: int) -> tuple[int, int]:
    """Return the padding (before, after) that makes `size` ceil(size / stride), as TensorFlow's 'same' has it."""
    outputs = -(-size // stride)
    total = max((outputs - 1) * stride + kernel - size, 0)
    return total // 2, total - total // 2


def pad_same(x: Tensor, kernel: int, stride: int, value: float = 0.0) -> Tensor:
    """Pad x (B, C, H, W) for a square kernel as TensorFlow's 'same' does."""
    top, bottom = same_padding(x.shape[-2], kernel, stride)
    left, right = same_padding(x.shape[-1], kernel, stride)
    return F.pad(x, (left, right, top, bottom), value=value) if top or bottom or left or right else x


class SameConv2d(nn.Conv2d):
    """Convolve with TensorFlow's 'same' padding and no bias: (B, C, H, W) -> (B, M, ceil(H/s), ceil(W/s))."""

    def __init__(self, inputs: int, outputs: int, kernel: int, stride: int = 1, groups: int = 1) -> None:
        super().__init__(inputs, outputs, kernel, stride, groups=groups, bias=False)

    def _conv_forward(self, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        kernel, stride = self.kernel_size[0], self.stride[0]
        top, bottom = same_padding(x.shape[-2], kernel, stride)
        left, right = same_padding(x.shape[-1], kernel, stride)
        if (top, left) == (bottom, right):
            # The convolution pads by itself here, which saves a copy of the map.
            return F.conv2d(x, weight, bias, self.stride, (top, left), 1, self.groups)
        return F.conv2d(pad_same(x, kernel, stride), weight, bias, self.stride, 0, 1, self.groups)
