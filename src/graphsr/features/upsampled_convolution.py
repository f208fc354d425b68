"""A 3x3 convolution of a map after nearest-neighbour upsampling by 2, without the upsampled map.

Of the nine pixels under the kernel only four differ before the upsampling, so that the weights of equal ones can be
added: for each of the four pixels that a coarse one becomes, a kernel of 2x2 on the coarse map. That is less than half
of the work, and the upsampled map is never made.
"""

import torch
import torch.nn.functional as F
from torch import Tensor

# How the three taps along an axis fall on two coarse pixels: for the first of the two fine pixels, and for the second.
_TAPS = (((0,), (1, 2)), ((0, 1), (2,)))


def coarse_weights(weight: Tensor) -> Tensor:
    """Return the weights of four kernels of 2x2, one after the other, for the upsampled pixels.

    Args:
        weight: (M, C, 3, 3).

    Returns:
        (4 M, C, 2, 2): those above left, above right, below left and below right.
    """
    by_rows = [_summed(weight, 2, taps) for taps in _TAPS]
    return torch.cat([_summed(rows, 3, taps) for rows in by_rows for taps in _TAPS])


def _summed(weight: Tensor, dim: int, taps: tuple[tuple[int, ...], ...]) -> Tensor:
    """Add up the weights along an axis that fall on the same coarse pixel."""
    slices = weight.unbind(dim)
    return torch.stack([sum((slices[tap] for tap in group[1:]), slices[group[0]]) for group in taps], dim)


def add_upsampled_convolution(y: Tensor, x: Tensor, weights: Tensor) -> Tensor:
    """Add the convolution of an upsampled map to y, in place.

    Args:
        y: (B, M, 2 H, 2 W).
        x: (B, C, H, W), before upsampling.
        weights: Of `coarse_weights`.

    Returns:
        y.
    """
    height, width, outputs = x.shape[-2], x.shape[-1], y.shape[1]
    found = F.conv2d(x, weights, padding=1)  # at r: of the pixels r - 1 and r
    for number, part in enumerate(torch.split(found, outputs, 1)):
        row, column = divmod(number, 2)
        y[..., row::2, column::2] += part[..., row : row + height, column : column + width]
    return y
