"""The noise of a source: how far each of its pixels may be from the truth, predicted at the source's resolution."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import avg_pool2d, pad

from graphsr.models.source_statistics import OF_ALL, source_statistics
from graphsr.sampling import Sampling

# The standard deviations of a source pixel's error that can be predicted, in those of the source.
LEAST, MOST = 1e-5, 10.0
# Where the noise of a network that was not trained begins: at 1e-4, as a clean source.
_FIRST_LEVEL = -1.6
# The logarithm of the part of steps, and of white noise, that a network which was not trained takes for errors.
_FIRST_PART = -9.0
_CHANNELS = 24
# Between neighbours: an outlier shows among the pixels around it; an edge goes on further.
_DILATIONS = 1, 2, 4
# Of the differences from the median over the whole source: noise raises all of them, outliers the last.
QUANTILES = 0.5, 0.8, 0.95
# What is seen of each source pixel: it, how far it is from the median around it, the size of that and the mean size
# around it, quantiles, whether it is known, the factor, mean and deviation of the guide.
PLANES = 10 + len(QUANTILES)
DIFFERENCE = 1
_GUIDE = slice(PLANES - 4, PLANES - 1)
# Quantiles are taken of about so many source pixels.
SAMPLED = 2**16


class PredictedNoise(NamedTuple):
    """Hold the predicted noise of source pixels, as standard deviations (B, 1, h, w) in those of the source.

    Attributes:
        total: Of all errors.
        at_steps: Of those of a source that was not made by averaging, at its steps: a part of the total.
    """

    total: Tensor
    at_steps: Tensor


class NoiseNetwork(nn.Module):
    """Predicts the standard deviation of each source pixel's error.

    Outliers and noise show in how a source pixel differs from those around it, and real edges show in the guide too,
    so it reads source and guide at the source's resolution. Whether a source is clean as a whole shows in the mean over
    all its pixels, which the last layers see.

    Args:
        statistics: Whether it also sees `graphsr.models.source_statistics`.
    """

    def __init__(self, statistics: bool = False) -> None:
        super().__init__()
        self.first = _convolution(PLANES, 1)
        self.blocks = nn.ModuleList(_convolution(_CHANNELS, dilation) for dilation in _DILATIONS)
        self.overall = nn.Conv2d(_CHANNELS, _CHANNELS, 1)
        self.after = nn.ModuleList(_convolution(_CHANNELS, 1) for _ in range(2))
        self.last = nn.Conv2d(_CHANNELS, 1, 1)
        nn.init.constant_(self.last.bias, _FIRST_LEVEL)  # type: ignore[arg-type]
        self.statistics = ErrorParts() if statistics else None

    def forward(self, planes: Tensor, source: Tensor, stated: bool) -> PredictedNoise:
        """Return the noise (B, 1, h, w) that channels share.

        Args:
            planes: What `seen_planes` returns.
            source: (B, K, h, w), standardised; NaN is missing.
            stated: Whether source pixels are known to be other than means over their area, and the guide's the same.
        """
        channels = self.of_planes(planes, source.flatten(0, 1).unsqueeze(1), stated, _sampled)
        total, at_steps = (each.reshape(source.shape) for each in channels)
        return PredictedNoise(total.log().mean(1, keepdim=True).exp(), at_steps.mean(1, keepdim=True))

    def of_planes(
        self, planes: Tensor, source: Tensor, stated: bool, sampled: Callable[[Tensor], Tensor]
    ) -> PredictedNoise:
        """Return the noise (B, 1, h, w) of sources of one channel.

        Args:
            planes: (B, PLANES, h, w).
            source: (B, 1, h, w), standardised; NaN is missing.
            stated: As above.
            sampled: As `source_statistics` takes it.
        """
        x = torch.relu(self.first(planes))
        for block in self.blocks:
            x = x + torch.relu(block(x))
        x = torch.relu(x + self.overall(x.mean((-2, -1), keepdim=True)))
        for block in self.after:
            x = x + torch.relu(block(x))
        found = torch.exp(math.log(LEAST) + math.log(MOST / LEAST) * torch.sigmoid(self.last(x)))
        if self.statistics is None:
            return PredictedNoise(found, torch.zeros_like(found))
        at_steps, white = self.statistics(source, planes[:, _GUIDE], stated, sampled)
        return PredictedNoise(found + at_steps + white, at_steps)


class ErrorParts(nn.Module):
    """The errors that a source as a whole shows: parts of its steps, and of its estimated white noise.

    Where a source was not made by averaging, errors at steps are in proportion to them. Which part, and which part of
    the estimated noise is noise indeed, are two numbers of the whole source, predicted from its statistics. Before
    training they are next to nothing.
    """

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Conv2d(OF_ALL + 1, _CHANNELS, 1)
        self.last = nn.Conv2d(_CHANNELS, 2, 1)
        nn.init.zeros_(self.last.weight)
        nn.init.constant_(self.last.bias, _FIRST_PART)  # type: ignore[arg-type]

    def forward(
        self, source: Tensor, mean: Tensor, stated: bool, sampled: Callable[[Tensor], Tensor]
    ) -> tuple[Tensor, Tensor]:
        """Return standard deviations (B, 1, h, w) at steps and of white noise, called as `NoiseNetwork.of_planes`."""
        numbers, sizes = source_statistics(source, mean, sampled)
        numbers = torch.cat([numbers, torch.full_like(numbers[:, :1], float(stated))], 1)
        parts = self.last(torch.relu(self.first(numbers))).clamp_max(0).exp()
        at_steps, white = torch.split(parts * sizes, 1, 1)
        # Who says how a source was sampled has explained its steps.
        return torch.zeros_like(at_steps) if stated else at_steps, white


def _convolution(inputs: int, dilation: int) -> nn.Conv2d:
    return nn.Conv2d(inputs, _CHANNELS, 3, padding=dilation, dilation=dilation, padding_mode="replicate")


def seen_planes(colours: Tensor, source: Tensor, sampling: Sampling, factor: float) -> Tensor:
    """Return what is seen of each source pixel (B K, PLANES, h, w), channel by channel.

    Args:
        colours: (B, 3, H, W), the standardised guide.
        source: (B, K, h, w), standardised; NaN is missing.
        sampling: Where the source pixels lie.
        factor: 0 at x8, 1 at x32.
    """
    difference = from_median(source)
    size = difference.abs()
    around = avg_pool2d(pad(size, (1, 1, 1, 1), mode="replicate"), 3, 1)
    planes = torch.stack(
        (
            torch.nan_to_num(source),
            difference,
            *(0.2 * torch.log10(each + LEAST) + 0.5 for each in (size, around, *_quantiles(size))),
            torch.isfinite(source).to(source.dtype) - 1,
            torch.full_like(size, factor),
        ),
        2,
    ).flatten(0, 1)
    guide = (each.repeat_interleave(source.shape[1], 0) for each in _guide_in_source_pixels(colours, sampling))
    return torch.cat([planes, *guide], 1)


def _guide_in_source_pixels(colours: Tensor, sampling: Sampling) -> tuple[Tensor, Tensor]:
    """Return mean (B, 3, h, w) and standard deviation (B, 1, h, w) of a guide's colours in each source pixel."""
    mean = sampling(colours)
    variance = (sampling(colours.square()) - mean.square()).mean(1, keepdim=True)
    return mean, variance.clamp_min(1e-6).sqrt()


def _quantiles(size: Tensor) -> list[Tensor]:
    """Return quantiles over each channel of (B, K, h, w), as planes (B, K, h, w)."""
    ordered = _sampled(size).flatten(2).sort(2).values
    places = (round(quantile * (ordered.shape[2] - 1)) for quantile in QUANTILES)
    return [ordered[..., place, None, None].expand_as(size) for place in places]


def _sampled(values: Tensor) -> Tensor:
    """Return about SAMPLED pixels of (B, K, h, w), evenly spaced, or all if there are fewer."""
    stride = math.ceil(math.sqrt(values.shape[-2] * values.shape[-1] / SAMPLED))
    return values[..., ::stride, ::stride]


def from_median(source: Tensor) -> Tensor:
    """Return how far each pixel (B, K, h, w) is from the median of the 3 x 3 around it; 0 where it is missing."""
    around = pad(source, (1, 1, 1, 1), mode="replicate")
    windows = around.unfold(2, 3, 1).unfold(3, 3, 1).flatten(-2)
    return torch.nan_to_num(source - windows.nanmedian(-1).values, nan=0.0)
