"""The scale of a source around each pixel, by which a network sees it.

A network learns from patches of a few hundred pixels, each standardised by itself. A whole image, and more so a large
one, has a larger standard deviation than its parts, so the same step would look smaller there; around each pixel it
does not (docs/evidence/bundled-model.md).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import avg_pool2d, conv2d, interpolate

# Values are averaged in square cells of so many pixels. Windows of rasters begin at multiples of it.
CELL = 32
# Cells count by a Gaussian of this standard deviation, in cells, up to this distance: less than a network reads.
_SIGMA, _RADIUS = 3.0, 5
# Pixels around a pixel that its scale depends on: the cells counted, and those between whose middles it lies.
REACH = (_RADIUS + 2) * CELL
# Surroundings that differ less than this, in standard deviations of the whole source, are taken for as flat.
_LEAST = 0.1


class LocalScale(NamedTuple):
    """Hold mean and standard deviation (B, 1, H, W) around each pixel, in standard deviations of the whole source."""

    mean: Tensor
    std: Tensor

    def standardise(self, plane: Tensor) -> Tensor:
        """Return a standardised source or target (B, 1, H, W) on the scale around each pixel."""
        return (plane - self.mean) / self.std


def local_scale(padded: Tensor, size: tuple[int | Tensor, int | Tensor]) -> LocalScale:
    """Measure the scale around each pixel of an image of `size` (H, W).

    Args:
        padded: (B, 1, ...) the standardised, interpolated source, continued to multiples of `CELL`.
        size: Of the image itself.
    """
    cells = avg_pool2d(torch.cat([padded, padded.square(), torch.ones_like(padded)], 1), CELL)
    mean, square, count = torch.split(_blurred(cells), 1, 1)
    mean, square = mean / count, square / count
    std = ((square - mean.square()).clamp_min(0) + _LEAST**2).sqrt()
    fine = interpolate(torch.cat([mean, std], 1), scale_factor=CELL, mode="bilinear", align_corners=False)
    mean, std = torch.split(fine[:, :, : size[0], : size[1]], 1, 1)
    return LocalScale(mean, std)


def _blurred(cells: Tensor) -> Tensor:
    """Return the sums (B, 3, h, w) over the cells around each, by a Gaussian; there is nothing beyond the border."""
    weights = [math.exp(-0.5 * (distance / _SIGMA) ** 2) for distance in range(-_RADIUS, _RADIUS + 1)]
    kernel = torch.tensor([[weights]] * 3, dtype=cells.dtype, device=cells.device)  # (3, 1, 11)
    with torch.autocast(cells.device.type, enabled=False):  # the mean square less the squared mean would be rounding
        cells = conv2d(cells, kernel.unsqueeze(3), padding=(_RADIUS, 0), groups=3)
        return conv2d(cells, kernel.unsqueeze(2), padding=(0, _RADIUS), groups=3)
