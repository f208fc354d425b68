"""The noise of a source: how far each of its pixels may be from the truth, predicted at the source's resolution."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, pad

# The standard deviations of a source pixel's error that can be predicted, in those of the source.
_LEAST, _MOST = 1e-5, 10.0
# Where the noise of a network that was not trained begins: at 1e-4, as a clean source.
_FIRST_LEVEL = -1.6
_CHANNELS = 24


class NoiseHead(nn.Module):
    """Predicts the standard deviation of each source pixel's error.

    Outliers and noise show in how a source pixel differs from those around it, so it works at the source's resolution:
    two layers of 3 x 3 convolutions. What the network sees in the guide reaches it as one channel of evidence.
    """

    def __init__(self) -> None:
        super().__init__()
        last = nn.Conv2d(_CHANNELS, 1, 1)
        nn.init.constant_(last.bias, _FIRST_LEVEL)  # type: ignore[arg-type]
        self.layers = nn.Sequential(
            nn.Conv2d(7, _CHANNELS, 3, padding=1, padding_mode="replicate"),
            nn.ReLU(inplace=True),
            nn.Conv2d(_CHANNELS, _CHANNELS, 3, padding=1, padding_mode="replicate"),
            nn.ReLU(inplace=True),
            last,
        )

    def forward(self, evidence: Tensor, source: Tensor, known: Tensor, factor: float) -> Tensor:
        """Return the standard deviations (B, 1, h, w), in those of the source; channels share them.

        Args:
            evidence: (B, K, h, w), an output of the network averaged over each source pixel.
            source: (B, K, h, w), standardised; NaN is missing.
            known: (B, K, h, w), which source pixels were measured.
            factor: 0 at x8, 1 at x32.
        """
        difference = from_median(source)
        size = difference.abs()
        around = avg_pool2d(pad(size, (1, 1, 1, 1), mode="replicate"), 3, 1)
        overall = size.mean((-2, -1), keepdim=True).expand_as(size)
        planes = (
            evidence,
            torch.nan_to_num(source),
            difference,
            *(0.2 * torch.log10(each + _LEAST) + 0.5 for each in (size, around, overall)),
            known.to(source.dtype) + (factor - 1),
        )
        level = torch.sigmoid(self.layers(torch.stack(planes, 2).flatten(0, 1)))
        level = level.reshape(source.shape).mean(1, keepdim=True)
        return torch.exp(math.log(_LEAST) + math.log(_MOST / _LEAST) * level)


def from_median(source: Tensor) -> Tensor:
    """Return how far each pixel (B, K, h, w) is from the median of the 3 x 3 around it; 0 where it is missing."""
    around = pad(source, (1, 1, 1, 1), mode="replicate")
    windows = around.unfold(2, 3, 1).unfold(3, 3, 1).flatten(-2)
    return torch.nan_to_num(source - windows.nanmedian(-1).values, nan=0.0)
