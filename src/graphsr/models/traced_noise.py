"""The network that predicts noise in operations that can be traced for any size; see `graphsr.models.noise`."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, pad
from torch.onnx.operators import shape_as_tensor

from graphsr.models.noise import LEAST, QUANTILES, SAMPLED, NoiseNetwork, PredictedNoise


def seen_planes(colours: Tensor, source: Tensor, averages: list[Tensor], factor: Tensor) -> Tensor:
    """Return what the networks of the source see of each of its pixels: (B, PLANES, h, w).

    Args:
        colours: (B, 3, H, W), the standardised guide.
        source: (B, 1, h, w), standardised; NaN is missing.
        averages: The matrices (h, H) and (w, W) that average over source pixels.
        factor: 0 at x8, 1 at x32.
    """
    down, right = averages[0], averages[1].transpose(0, 1)
    mean = down @ colours @ right
    variance = (down @ colours.square() @ right - mean.square()).mean(1, keepdim=True)
    difference = from_median(source)
    size = difference.abs()
    around = avg_pool2d(pad(size, (1, 1, 1, 1), mode="replicate"), 3, 1)
    known = ~torch.isnan(source)
    planes = [
        torch.where(known, source, torch.zeros_like(source)),
        difference,
        *(0.2 * torch.log10(each + LEAST) + 0.5 for each in (size, around, *_quantiles(size))),
        known.to(source.dtype) - 1,
        torch.zeros_like(size) + factor,
        mean,
        variance.clamp_min(1e-6).sqrt(),
    ]
    return torch.cat(planes, 1)


def predict_noise(network: NoiseNetwork, planes: Tensor, source: Tensor) -> PredictedNoise:
    """Return what the network returns: (B, 1, h, w).

    Args:
        network: Its layers.
        planes: What it sees.
        source: (B, 1, h, w), standardised; NaN is missing.
    """
    return network.of_planes(planes, source, False, _sampled)


def from_median(source: Tensor) -> Tensor:
    """Return how far each pixel (B, 1, h, w) is from the median of the 3 x 3 around it; 0 where it is missing."""
    known = ~torch.isnan(source)
    # Unknown pixels come last in the order, and the median is the middle one of those before.
    around = pad(torch.where(known, source, torch.full_like(source, torch.inf)), (1, 1, 1, 1), mode="replicate")
    size = shape_as_tensor(source)
    shifted = [around[:, :, i : size[2] + i, j : size[3] + j] for i in range(3) for j in range(3)]
    ordered = torch.stack(shifted, -1).sort(-1).values
    count = (ordered < torch.inf).sum(-1, keepdim=True)
    middle = ordered.gather(-1, (count - 1).clamp_min(0) // 2)[..., 0]
    return torch.where(known, source - middle, torch.zeros_like(source))


def arange(*ends: Any) -> Tensor:
    """Return `torch.arange` of tensors, which are numbers to its types."""
    return torch.arange(*ends)


def average_matrix(size: Tensor, cells: Tensor) -> Tensor:
    """Return the matrix (cells, size) that averages `size` pixels over `cells` equal parts, by area."""
    begin, cell = arange(size) * cells, (arange(cells) * size).unsqueeze(1)
    # In units of 1 / cells of a pixel everything is a whole number.
    overlap = torch.minimum(begin + cells, cell + size) - torch.maximum(begin, cell)
    return overlap.clamp_min(0).to(torch.float32) / size


def _quantiles(size: Tensor) -> list[Tensor]:
    """Return quantiles over each (B, 1, h, w), as planes of that shape."""
    ordered = _sampled(size).flatten(2).sort(2).values
    last = (shape_as_tensor(ordered)[2] - 1).to(torch.float64)
    places = (torch.round(quantile * last).to(torch.int64).reshape(1) for quantile in QUANTILES)
    return [ordered.index_select(2, place).unsqueeze(-1).expand_as(size) for place in places]


def _sampled(values: Tensor) -> Tensor:
    height, width = shape_as_tensor(values)[2], shape_as_tensor(values)[3]
    stride = torch.ceil(torch.sqrt(height * width / SAMPLED)).to(torch.int64)
    return values.index_select(2, arange(0, height, stride)).index_select(3, arange(0, width, stride))
