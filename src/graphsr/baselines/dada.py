"""DADA (Metzger et al. 2023): anisotropic diffusion that is brought back to the source after every step.

A network says how well neighbouring pixels conduct; thousands of steps then alternate between diffusing the target and
multiplying it, cell by cell, so that it averages to the source again. Names are those of the published network.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from numba import njit
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from graphsr.baselines.method import Method, NetworkBaseline, three_channels
from graphsr.features.imagenet import MEAN, STD
from graphsr.features.resnet import resnet50
from graphsr.features.unet import UNet
from graphsr.graph import Edges
from graphsr.sampling import Axis, Sampling, axis

RATE = 0.24  # of a step; with four neighbours, 0.25 would be the most
FIRST_K = 0.03
STEPS, TRACKED_STEPS = 8000, 1024
LEAST = 0.1  # the adjustment divides by means, which must stay away from 0
TINY = 1e-8
# Steps between the images that training keeps; those in between are computed again for the gradient.
STRETCH = 32


def conductance(features: Tensor, k: Tensor | float) -> Edges:
    """1 / (1 + (m / k)^2), m the mean absolute difference of the features (B, M, H, W) of two neighbours."""
    down = (features[..., 1:, :] - features[..., :-1, :]).abs().mean(1)
    right = (features[..., 1:] - features[..., :-1]).abs().mean(1)
    return Edges(1 / (1 + (down / k).square()), 1 / (1 + (right / k).square()))


class DADA(nn.Module):
    """guide (B, 3, H, W), ImageNet-scaled, and interpolated source (B, 1, H, W) -> conductances."""

    def __init__(self) -> None:
        super().__init__()
        self.feature_extractor = nn.Sequential(
            nn.Upsample(scale_factor=2, mode="bicubic"), UNet(resnet50(4), out_channels=64), nn.AvgPool2d(2)
        )
        self.logk = nn.Parameter(torch.tensor(math.log(FIRST_K)))

    def forward(self, guide: Tensor, interpolated: Tensor) -> Edges:
        centred = interpolated - interpolated.mean((1, 2, 3), keepdim=True)
        return conductance(self.feature_extractor(torch.cat([guide, centred], dim=1)), self.logk.exp())


class RawChannels(nn.Module):
    """The variant without a network: the features are the guide's channels and the interpolated source."""

    def forward(self, guide: Tensor, interpolated: Tensor) -> Edges:
        return conductance(torch.cat([guide, interpolated], dim=1), FIRST_K)


class DADABaseline(NetworkBaseline):
    """Conductances of `network`, then `steps` steps without and `tracked_steps` with gradients.

    The authors divide the source by the standard deviation of the data set (in mm: Middlebury 1122.7, NYUv2 1386.05,
    DIML 1154.29), to be given as `depth_std` with their weights; without, it is that of the source at hand. As they
    do, a source that comes near 0 is lifted by 0.1; one with negative values, on top, by as much as makes it positive.
    """

    def __init__(
        self,
        network: nn.Module,
        steps: int = STEPS,
        tracked_steps: int = TRACKED_STEPS,
        depth_std: float | None = None,
    ) -> None:
        super().__init__(network)
        self.steps, self.tracked_steps, self.depth_std = steps, tracked_steps, depth_std

    def scale(self, source: Tensor) -> tuple[Tensor, Tensor]:
        spread = source.std((-2, -1), correction=0, keepdim=True)
        flat = spread <= 1e-6 * source.abs().amax((-2, -1), keepdim=True)
        unit = torch.where(flat, torch.ones_like(spread), spread)
        return torch.zeros_like(unit), unit if self.depth_std is None else torch.full_like(unit, self.depth_std)

    def estimate(self, guide: Tensor, source: Tensor, interpolated: Tensor, known: Tensor) -> Tensor:
        mean, std = (guide.new_tensor(values).view(1, 3, 1, 1) for values in (MEAN, STD))
        least = source.amin((1, 2, 3), keepdim=True)
        lift = torch.where(least <= LEAST, LEAST - least.clamp_max(0), torch.zeros_like(least))
        start, source = interpolated + lift, source + lift
        edges = self.network((three_channels(guide) - mean) / std, start)
        before, tracked = self.steps, self.tracked_steps
        if self.training and before > 0:
            before = int(torch.randint(before, ()))
        if torch.is_grad_enabled() and edges.down.requires_grad:
            return diffuse(advance(start, edges, source, known, before), edges, source, known, tracked) - lift
        return advance(start, edges, source, known, before + tracked) - lift

    def predict(self, guide: Tensor, source: Tensor, interpolated: Tensor) -> Tensor:
        return self.estimate(guide, source, interpolated, torch.ones_like(source, dtype=torch.bool))


def diffuse(image: Tensor, edges: Edges, source: Tensor, known: Tensor, steps: int) -> Tensor:
    """Differentiable steps from image (B, 1, H, W); source and known (B, 1, h, w) -> (B, 1, H, W)."""
    sampling = Sampling(image.shape[-2:], source.shape[-2:])  # type: ignore[arg-type]
    down, right = RATE * edges.down.unsqueeze(1), RATE * edges.right.unsqueeze(1)
    # A pixel in several cells is multiplied by the mean of their ratios, weighted by its parts in them.
    cover = sampling.adjoint(torch.ones_like(source))

    def stretch(image: Tensor, down: Tensor, right: Tensor, source: Tensor, count: int) -> Tensor:
        for _ in range(count):
            flow_down, flow_right = down * image.diff(dim=-2), right * image.diff(dim=-1)
            image = image + F.pad(flow_down, (0, 0, 0, 1)) - F.pad(flow_down, (0, 0, 1, 0))
            image = image + F.pad(flow_right, (0, 1)) - F.pad(flow_right, (1, 0))
            ratio = torch.where(known, source / (sampling(image) + TINY), torch.ones_like(source))
            image = image * (sampling.adjoint(ratio) / cover)
        return image

    for first in range(0, steps, STRETCH):
        count = min(STRETCH, steps - first)
        image = checkpoint(stretch, image, down, right, source, count, use_reentrant=False)
    return image


@torch.no_grad()
def advance(image: Tensor, edges: Edges, source: Tensor, known: Tensor, steps: int) -> Tensor:
    """`diffuse` without gradients, on the CPU many times faster."""
    if image.device.type != "cpu":
        return diffuse(image, edges, source, known, steps)
    rows, columns = (_along(axis(image.shape[d], source.shape[d])) for d in (-2, -1))
    planes = (image[:, 0], edges.down, edges.right, source[:, 0])
    arrays = (x.detach().float().contiguous().numpy() for x in planes)
    seen = known[:, 0].contiguous().numpy()
    result = [_advance(i, d, r, s, k, rows, columns, steps) for i, d, r, s, k in zip(*arrays, seen, strict=True)]
    return torch.from_numpy(np.stack(result)).unsqueeze(1).to(image.dtype)


class _Along(NamedTuple):
    """sampling.Axis as the kernel reads it; `parts` are the shares of a pixel in its cells, and sum to 1."""

    first: np.ndarray
    pixels: np.ndarray
    taps: np.ndarray
    owners: np.ndarray
    parts: np.ndarray


def _along(of: Axis) -> _Along:
    parts = of.shares / of.shares.sum(1, keepdims=True)
    return _Along(of.first, of.count, of.taps.astype(np.float32), of.owners, parts.astype(np.float32))


@njit(cache=True, nogil=True, error_model="numpy")
def _advance(image, down, right, source, known, rows, columns, steps):  # type: ignore[no-untyped-def]
    """All steps for one image: image (H, W), conductances down (H-1, W) and right (H, W-1), source, known (h, w).

    A step is one pass, a row of cells at a time: its pixel rows are diffused while it still has the rows above in
    cache, and multiplied as soon as all cells they lie in are done. A frame that conducts nothing saves the borders
    from being special.
    """
    height, width = image.shape
    rate = np.float32(RATE)
    old, new = np.zeros((height + 2, width + 2), np.float32), np.zeros((height + 2, width + 2), np.float32)
    old[1:-1, 1:-1] = image
    above, left = np.zeros((height + 1, width), np.float32), np.zeros((height, width + 1), np.float32)
    above[1:-1] = rate * down
    left[:, 1:-1] = rate * right
    sums, ratios = np.empty(width, np.float32), np.empty(source.shape[1], np.float32)
    wide = np.empty((source.shape[0], width), np.float32)
    for _ in range(steps):
        diffused, done = 0, 0
        for c in range(source.shape[0]):
            while diffused < rows.first[c] + rows.pixels[c]:
                _diffuse_row(diffused, above, left, old, new)
                diffused += 1
            _ratios_of_row(c, source, known, rows, columns, new, sums, ratios, wide)
            while done < height and rows.owners[done, 1] <= c:
                a, b = rows.owners[done]
                _multiply_row(done, wide, a, b, rows.parts[done, 0], rows.parts[done, 1], new)
                done += 1
        old, new = new, old
    return old[1:-1, 1:-1].copy()


@njit(cache=True, nogil=True, error_model="numpy")
def _diffuse_row(i, above, left, old, new):  # type: ignore[no-untyped-def]
    for x in range(above.shape[1]):
        here = old[i + 1, x + 1]
        new[i + 1, x + 1] = (
            here
            + above[i, x] * (old[i, x + 1] - here)
            + above[i + 1, x] * (old[i + 2, x + 1] - here)
            + left[i, x] * (old[i + 1, x] - here)
            + left[i, x + 1] * (old[i + 1, x + 2] - here)
        )


@njit(cache=True, nogil=True, error_model="numpy")
def _ratios_of_row(c, source, known, rows, columns, new, sums, ratios, wide):  # type: ignore[no-untyped-def]
    """wide[c] (W,) = what the row c of cells wants its pixels multiplied by."""
    sums[:] = 0
    for tap in range(rows.pixels[c]):
        i, weight = rows.first[c] + tap, rows.taps[c, tap]
        for x in range(sums.size):
            sums[x] += weight * new[i + 1, x + 1]
    for d in range(ratios.size):
        mean = np.float32(TINY)
        for tap in range(columns.pixels[d]):
            mean += columns.taps[d, tap] * sums[columns.first[d] + tap]
        ratios[d] = source[c, d] / mean if known[c, d] else np.float32(1)
    for x in range(sums.size):
        a, b = columns.owners[x, 0], columns.owners[x, 1]
        wide[c, x] = columns.parts[x, 0] * ratios[a] + columns.parts[x, 1] * ratios[b]


@njit(cache=True, nogil=True, error_model="numpy")
def _multiply_row(i, wide, a, b, part_a, part_b, new):  # type: ignore[no-untyped-def]
    for x in range(wide.shape[1]):
        new[i + 1, x + 1] *= part_a * wide[a, x] + part_b * wide[b, x]


METHOD = Method(
    name="dada",
    title="DADA",
    year=2023,
    reference="Metzger, Daudt, Schindler, Guided Depth Super-Resolution by Deep Anisotropic Diffusion, CVPR 2023",
    build=lambda factor: DADABaseline(DADA()),
    learned=True,
)
METHOD_COLOUR = Method(
    name="dada-colour",
    title="DADA, colours",
    year=2023,
    reference=METHOD.reference,
    build=lambda factor: DADABaseline(RawChannels(), tracked_steps=0),
)
