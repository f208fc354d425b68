"""DADA's diffusion: thousands of steps, each followed by an adjustment to the source.

`diffuse` is the torch form, differentiable on any device and in any precision. On the CPU `advance` takes the same
steps without gradients and `track` with them, many times faster, in numba kernels.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.utils.checkpoint import checkpoint

from graphsr.axes import Axis, axis
from graphsr.baselines import diffusion_kernels
from graphsr.baselines.diffusion_kernels import RATE, TINY, Along, steps_backward, steps_forward
from graphsr.checked_cache import check_caches
from graphsr.graph import Edges
from graphsr.sampling import Sampling

check_caches(diffusion_kernels)
# Steps between the images that training stores; those in between are computed again for the gradient.
CHECKPOINT_STEPS = 32


def diffuse(image: Tensor, edges: Edges, source: Tensor, known: Tensor, steps: int) -> Tensor:
    """Take differentiable steps of diffusion and adjustment.

    Args:
        image: (B, 1, H, W) to begin with.
        edges: Conductances down (B, H-1, W) and right (B, H, W-1).
        source: (B, 1, h, w), positive.
        known: (B, 1, h, w), which source pixels the image is adjusted to.
        steps: How many.

    Returns:
        (B, 1, H, W).
    """
    sampling = Sampling(image.shape[-2:], source.shape[-2:])  # type: ignore[arg-type]
    down, right = RATE * edges.down.unsqueeze(1), RATE * edges.right.unsqueeze(1)
    # A pixel in several source pixels is multiplied by the mean of their ratios, weighted by its shares in them.
    cover = sampling.adjoint(torch.ones_like(source))

    def take_steps(image: Tensor, down: Tensor, right: Tensor, source: Tensor, count: int) -> Tensor:
        for _ in range(count):
            flow_down, flow_right = down * image.diff(dim=-2), right * image.diff(dim=-1)
            image = image + F.pad(flow_down, (0, 0, 0, 1)) - F.pad(flow_down, (0, 0, 1, 0))
            image = image + F.pad(flow_right, (0, 1)) - F.pad(flow_right, (1, 0))
            ratio = torch.where(known, source / (sampling(image) + TINY), torch.ones_like(source))
            image = image * (sampling.adjoint(ratio) / cover)
        return image

    for first in range(0, steps, CHECKPOINT_STEPS):
        count = min(CHECKPOINT_STEPS, steps - first)
        image = checkpoint(take_steps, image, down, right, source, count, use_reentrant=False)
    return image


@torch.no_grad()
def advance(image: Tensor, edges: Edges, source: Tensor, known: Tensor, steps: int) -> Tensor:
    """Take the steps of `diffuse` without gradients."""
    if image.device.type != "cpu":
        return diffuse(image, edges, source, known, steps)
    along = _both_axes(image, source)
    planes = zip(*(_arrays(x) for x in (image[:, 0], edges.down, edges.right, source[:, 0], known[:, 0])), strict=True)
    problems = ((*arrays, *along, steps) for arrays in planes)
    result = [steps_forward(*problem) for problem in problems]
    return torch.from_numpy(np.stack(result)).unsqueeze(1).to(image.dtype)


def track(image: Tensor, edges: Edges, source: Tensor, known: Tensor, steps: int) -> Tensor:
    """Take the steps of `diffuse` with gradients of the image and of the edges, but not of the source."""
    on_kernels = image.device.type == "cpu" and image.dtype == edges.down.dtype == torch.float32
    if source.requires_grad or not on_kernels:
        return diffuse(image, edges, source, known, steps)
    result: Tensor = _Tracked.apply(image, edges.down, edges.right, source, known, steps)  # type: ignore[no-untyped-call]
    return result


class _Tracked(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, image: Tensor, down: Tensor, right: Tensor, source: Tensor, known: Tensor, steps: int
    ) -> Tensor:
        edges = Edges(down, right)
        counts = [min(CHECKPOINT_STEPS, steps - first) for first in range(0, steps, CHECKPOINT_STEPS)]
        starts = []
        for count in counts:
            starts.append(image)
            image = advance(image, edges, source, known, count)
        ctx.save_for_backward(down, right, source, known, *starts)
        ctx.counts = counts
        return image.clone() if not counts else image

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor | None, ...]:
        down, right, source, known, *starts = ctx.saved_tensors
        to_image, to_down, to_right = (torch.zeros_like(x) for x in (gradient, down, right))
        for n in range(gradient.shape[0]):
            planes = [_arrays(x) for x in (down[n], right[n], source[n, 0], known[n, 0])]
            back = _arrays(gradient[n, 0])
            for start, count in zip(reversed(starts), reversed(ctx.counts), strict=True):
                along = _both_axes(start, source)
                arguments = (_arrays(start[n, 0]), *planes, *along, count, back)
                back, at_down, at_right = steps_backward(*arguments)
                to_down[n] += torch.from_numpy(at_down)
                to_right[n] += torch.from_numpy(at_right)
            to_image[n, 0] = torch.from_numpy(back)
        return to_image, to_down, to_right, None, None, None


def _arrays(x: Tensor) -> np.ndarray:
    """Return a tensor as the kernels take it: single precision, or booleans."""
    x = x.detach()
    return (x if x.dtype == torch.bool else x.float()).contiguous().numpy()


def _both_axes(image: Tensor, source: Tensor) -> tuple[Along, Along]:
    rows, columns = (_along(axis(image.shape[d], source.shape[d])) for d in (-2, -1))
    return rows, columns


def _along(of: Axis) -> Along:
    parts = of.shares / of.shares.sum(1, keepdims=True)
    single = (table.astype(np.float32) for table in (of.taps, of.shares, parts))
    taps, shares, parts = single
    return Along(of.first, of.count, taps, of.owners, shares, parts)
