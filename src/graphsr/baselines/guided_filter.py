"""The guided filter: in every window the target is a linear function of the guide's channels."""

from __future__ import annotations

import torch
from torch import Tensor

from graphsr.baselines.base import Baseline, Method
from graphsr.errors import InputError


class GuidedFilter(Baseline):
    """Filter the interpolated source with the guide. docs/baselines.md says how the defaults were found.

    Args:
        radius: How far a window reaches to either side, in source pixels.
        eps: Added to the variance of a guide in 0..1: structure weaker than its root is smoothed.
    """

    method = "guided-filter"

    def __init__(self, radius: float = 0.375, eps: float = 1e-4) -> None:
        super().__init__()
        if radius <= 0 or eps <= 0:
            raise InputError(f"GuidedFilter: radius and eps must be positive, not {radius} and {eps}")
        self.radius, self.eps = radius, eps

    def estimate(self, guide: Tensor, source: Tensor, interpolated: Tensor, confidence: Tensor) -> Tensor:
        vertical, horizontal = (
            max(1, round(self.radius * large / small))
            for large, small in zip(guide.shape[-2:], source.shape[-2:], strict=True)
        )
        return guided_filter(guide, interpolated, (vertical, horizontal), self.eps)


def guided_filter(guide: Tensor, values: Tensor, radii: tuple[int, int], eps: float) -> Tensor:
    """Filter values with a guide.

    In window k the result is a . I + b with  a = (S + eps)^-1 cov(I, p)  and  b = mean(p) - a . mean(I);  a pixel gets
    the mean of the a and b of all windows it lies in. In double precision: variances are differences of large sums.

    Args:
        guide: (B, C, H, W).
        values: (B, 1, H, W).
        radii: r down and right; windows are (2 r + 1) wide and cut off at the border.
        eps: Added to the variances of the guide.

    Returns:
        (B, 1, H, W).
    """
    image, filtered = guide.double(), values.double()
    mu, level = box_mean(image, radii), box_mean(filtered, radii)
    covariance = [
        [
            box_mean(image[:, i] * image[:, j], radii) - mu[:, i] * mu[:, j] + (eps if i == j else 0.0)
            for j in range(i + 1)
        ]
        for i in range(image.shape[1])
    ]
    joint = box_mean(image * filtered, radii) - mu * level
    slope = torch.stack(_solve_symmetric(covariance, list(joint.unbind(1))), 1)
    offset = level - (slope * mu).sum(1, keepdim=True)
    result = (box_mean(slope, radii) * image).sum(1, keepdim=True) + box_mean(offset, radii)
    return result.to(values.dtype)


def box_mean(values: Tensor, radii: tuple[int, int]) -> Tensor:
    """Average (..., H, W) over the part of each window that lies inside; the cost does not depend on the radii."""
    for dim, radius in zip((-2, -1), radii, strict=True):
        values = _window_mean(values, radius, dim)
    return values


def _window_mean(values: Tensor, radius: int, dim: int) -> Tensor:
    length = values.shape[dim]
    # Element i holds the sum of the first i values.
    sums = torch.cat([torch.zeros_like(values.narrow(dim, 0, 1)), values.cumsum(dim)], dim)
    position = torch.arange(length, device=values.device)
    first, end = (position - radius).clamp_min(0), (position + radius + 1).clamp_max(length)
    count = (end - first).reshape([length if axis == dim % values.ndim else 1 for axis in range(values.ndim)])
    return (sums.index_select(dim, end) - sums.index_select(dim, first)) / count


def _solve_symmetric(matrix: list[list[Tensor]], right: list[Tensor]) -> list[Tensor]:
    """Solve  matrix x = right  at every pixel by elimination over whole planes, given the lower triangle.

    A batch of tiny matrices would need several times the memory and time of these planes.
    """
    size = len(right)
    for k in range(size):
        for i in range(k + 1, size):
            ratio = matrix[i][k] / matrix[k][k]
            for j in range(k + 1, i + 1):
                matrix[i][j] = matrix[i][j] - ratio * matrix[j][k]
            right[i] = right[i] - ratio * right[k]
    for k in reversed(range(size)):
        for i in range(k + 1, size):
            right[k] = right[k] - matrix[i][k] * right[i]
        right[k] = right[k] / matrix[k][k]
    return right


METHOD = Method(
    name="guided-filter",
    title="Guided filter",
    year=2013,
    reference="He, Sun, Tang, Guided Image Filtering, TPAMI 2013",
    build=lambda factor: GuidedFilter(),
)
