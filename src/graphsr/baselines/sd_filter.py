"""The static/dynamic filter: a graph whose edge weights depend on the guide and, step by step, on the target itself."""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from graphsr.baselines.base import Method
from graphsr.errors import InputError
from graphsr.features.channels import unit_range
from graphsr.graph import Edges, both_ways, differences
from graphsr.models.base import Model, Result
from graphsr.models.window import Window
from graphsr.sampling import Sampling
from graphsr.scaling import mean_and_std, nonzero
from graphsr.solver import Problem, solve_problem

_LEAST_WEIGHT = 1e-5  # published; no pixel is cut off altogether
_XYZ_TO_RGB = (  # linear RGB of XYZ
    (3.240479, -1.53715, -0.498535),
    (-0.969256, 1.875992, 0.041556),
    (0.055648, -0.204043, 1.057311),
)
_WHITE = (0.950456, 1.0, 1.088754)


class SDFilter(Model):
    """Minimise by re-weighted least squares: solve, compute new edge weights from the target, solve again.

    Each step minimises  sum (D y - s)^2 + weight * sum w_g w_y (y_p - y_q)^2  with w = exp(-sigma q) + 1e-5, where q
    is the squared difference between two pixels of the guide (w_g) or of the last target (w_y), scaled over the image
    to 0..1. The first target is constant.

    The publication on filters has one datum a pixel; which data term the comparison of the graph paper has is not
    known. Here it is the mean over each source pixel, as in our own models, so that `confidence` and `exact` mean the
    same as there. Channels of a source share one graph: their squared differences are summed, each in standard
    deviations of its channel. A guide of three channels is compared in CIE Lab, any other as it is.

    Args:
        weight: The published lambda.
        sigma_g: How fast edge weights fall with differences of the guide.
        sigma_u: How fast they fall with differences of the target.
        steps: How many solves; `run` returns the last one.
    """

    method = "sd-filter"
    rtol = 1e-4  # the next graph is made of the target, so that errors add up

    def __init__(self, weight: float = 1e-3, sigma_g: float = 10.0, sigma_u: float = 30.0, steps: int = 2) -> None:
        super().__init__()
        if weight <= 0 or min(sigma_g, sigma_u) < 0 or steps < 1:
            raise InputError("SDFilter: needs weight > 0, sigma_g and sigma_u >= 0, and at least one step")
        self.weight, self.sigma_g, self.sigma_u, self.steps = weight, sigma_g, sigma_u, steps

    def prepare(
        self,
        guide: Tensor,
        source: Tensor,
        *,
        confidence: Tensor | None = None,
        exact: bool = False,
        window: Window | None = None,
    ) -> Problem:
        if window is not None:
            raise InputError(
                "SDFilter needs a source of boxes edge to edge on the guide: no footprint, no alignment, no tiles"
            )
        sampling = Sampling((guide.shape[-2], guide.shape[-1]), (source.shape[-2], source.shape[-1]))
        # In double precision: two weights of 1e-5 multiply to a contrast that single precision cannot solve.
        static, source = edge_weights(colours(guide.double()), self.sigma_g), source.double()
        unit = nonzero(mean_and_std(source, torch.isfinite(source))[1])
        problem = Problem(self._edges(static, None), sampling, source, confidence, exact=exact)
        for _ in range(self.steps - 1):
            target = solve_problem(problem, rtol=self.rtol).target
            problem = replace(problem, edges=self._edges(static, target / unit), start=target)
        return problem

    def finish(self, prepared: Problem | Tensor, offset: Tensor | None = None) -> Result:
        result = super().finish(prepared, offset)
        # Only a source that was centred came in double precision, and its target stays so.
        return result if offset is not None else replace(result, target=result.target.float())

    def _edges(self, static: Edges, target: Tensor | None) -> Edges:
        """Return the edge weights after a target (B, K, H, W), in standard deviations of the source; None: constant."""
        if target is None:
            constant = self.weight * (1 + _LEAST_WEIGHT)
            return both_ways(lambda each: constant * each, static)
        dynamic = edge_weights(target, self.sigma_u)
        return both_ways(lambda one, other: self.weight * one * other, static, dynamic)


def edge_weights(image: Tensor, sigma: float) -> Edges:
    """Return exp(-sigma q) + 1e-5 of the squared differences q of neighbours, which are scaled to 0..1 by image.

    Args:
        image: (B, C, H, W).
        sigma: How fast weights fall.

    Returns:
        Edge weights down (B, H-1, W) and right (B, H, W-1).
    """
    step = differences(image)
    squares = [each.square().sum(1) for each in (step.down, step.right)]
    every = torch.cat([each.flatten(1) for each in squares], 1)
    if every.shape[1] == 0:
        return Edges(*squares)
    low, high = (end.view(-1, 1, 1) for end in (every.amin(1), every.amax(1)))
    # Where all are equal they stay what they are.
    low, unit = torch.where(high > low, low, 0.0), torch.where(high > low, high - low, 1.0)
    return Edges(*((-sigma * (each - low) / unit).exp() + _LEAST_WEIGHT for each in squares))


def colours(guide: Tensor) -> Tensor:
    """Return a guide (B, C, H, W) in 0..1, and CIE Lab of three channels."""
    scaled = unit_range(guide)
    return lab(scaled) if guide.shape[1] == 3 else scaled


def lab(rgb: Tensor) -> Tensor:
    """Convert RGB in 0..1 with the BT.709 gamma, (B, 3, H, W), to CIE Lab."""
    linear = ((rgb + 0.099) / 1.099) ** (1 / 0.45)
    linear = torch.where(linear < 0.018, rgb / 4.5138, linear)
    to_xyz = torch.linalg.inv(torch.tensor(_XYZ_TO_RGB, dtype=torch.float64)).to(rgb)
    x, y, z = (
        _cube_root(plane / white)
        for plane, white in zip(torch.einsum("ij,bjhw->ibhw", to_xyz, linear), _WHITE, strict=True)
    )
    return torch.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], 1)


def _cube_root(values: Tensor) -> Tensor:
    """Return the cube root, and its tangent near 0, as CIE has it."""
    return torch.where(values < 0.008856, values * (841 / 108) + 4 / 29, values.clamp_min(0.008856) ** (1 / 3))


METHOD = Method(
    name="sd-filter",
    title="Static/dynamic filter",
    year=2018,
    reference="Ham, Cho, Ponce, Robust Guided Image Filtering Using Nonconvex Potentials, TPAMI 2018",
    build=lambda factor: SDFilter(),
)
