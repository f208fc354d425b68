"""The source as it was before noise, as far as its neighbours and the guide tell.

A solve smooths a noisy source along its graph, but that graph is predicted from the noisy source. A network at the
source's resolution removes more of the noise, and the graph of what it returns is better
(docs/evidence/predicted-noise.md). A clean source stays as it is: corrections are bounded by the predicted noise.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import pad

from graphsr.models.noise import DIFFERENCE, PLANES, PredictedNoise

# Neighbours up to so many source pixels away are seen as they differ from a pixel.
_RADIUS = 2
_NEIGHBOURS = [(row, column) for row in range(5) for column in range(5) if (row, column) != (_RADIUS, _RADIUS)]
_DILATIONS = 1, 2, 4
# A pixel is corrected by at most so many times its predicted noise; what is left is from e^-4 times that noise to e^4.
_MOST, _MOST_CHANGE = 8.0, 4.0
# Sources whose predicted noise is nowhere above this, in standard deviations of the source, are left alone.
LEAST_RESTORED = 1e-3


class Restored(NamedTuple):
    """Hold a source without the noise that could be removed.

    Attributes:
        source: (B, K, h, w); NaN is missing.
        noise: (B, 1, h, w) predicted standard deviation of the errors that are left, in standard deviations of the
            source.
    """

    source: Tensor
    noise: Tensor


class Restoration(nn.Module):
    """Corrects the pixels of a source of one channel. Before it is trained it leaves them and their noise as they are.

    Differences between pixels are seen in units of the noise, so that weak noise is removed like strong noise.

    Args:
        channels: Width of its layers, which are at the source's resolution.
    """

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = _convolution(PLANES + len(_NEIGHBOURS) + 2, channels, 1)
        self.before = nn.ModuleList(_convolution(channels, channels, dilation) for dilation in _DILATIONS)
        self.overall = nn.Conv2d(channels, channels, 1)
        self.after = nn.ModuleList(_convolution(channels, channels, dilation) for dilation in (*_DILATIONS, 1))
        self.last = nn.Conv2d(channels, 2, 1)
        nn.init.zeros_(self.last.weight)
        nn.init.zeros_(self.last.bias)  # type: ignore[arg-type]

    def forward(self, planes: Tensor, source: Tensor, noise: PredictedNoise) -> Restored:
        """Return the restored source (B, 1, h, w), and the noise that is left in it.

        Args:
            planes: What the network of the noise sees (B, PLANES, h, w).
            source: (B, 1, h, w), standardised; NaN is missing.
            noise: As it is predicted. That at steps stays: a point sample does not say what a mean would be.
        """
        total, at_steps = noise
        differences = torch.cat([_differences(source), planes[:, DIFFERENCE : DIFFERENCE + 1]], 1)
        x = torch.cat([planes, 0.3 * _asinh(differences / total), 0.2 * torch.log10(total) + 0.5], 1)
        x = torch.relu(self.first(x))
        for block in self.before:
            x = x + torch.relu(block(x))
        x = x + self.overall(x.mean((2, 3), keepdim=True))
        for block in self.after:
            x = x + torch.relu(block(x))
        correction, change = torch.split(self.last(x), 1, 1)
        return Restored(
            source + _MOST * total * torch.tanh(correction / _MOST),
            torch.maximum(total * torch.exp(_MOST_CHANGE * torch.tanh(change / _MOST_CHANGE)), at_steps),
        )


def _differences(source: Tensor) -> Tensor:
    """Return how far the neighbours of each pixel (B, 1, h, w) differ from it, 0 where one of the two is missing."""
    known = ~torch.isnan(source)
    filled = torch.where(known, source, torch.zeros_like(source))
    both = torch.cat([filled, known.to(source.dtype)], 1)
    around = pad(both, (_RADIUS, _RADIUS, _RADIUS, _RADIUS), mode="replicate")
    found = []
    for row, column in _NEIGHBOURS:
        rows, columns = (slice(first, first - 2 * _RADIUS or None) for first in (row, column))
        value, is_known = torch.split(around[:, :, rows, columns], 1, 1)
        found.append((value - filled) * is_known)
    return torch.cat(found, 1) * known


def _asinh(values: Tensor) -> Tensor:
    """Return `torch.asinh`, which ONNX exporters do not know."""
    size = values.abs()
    return torch.sign(values) * torch.log(size + (size.square() + 1).sqrt())


def _convolution(inputs: int, outputs: int, dilation: int) -> nn.Conv2d:
    return nn.Conv2d(inputs, outputs, 3, padding=dilation, dilation=dilation, padding_mode="replicate")
