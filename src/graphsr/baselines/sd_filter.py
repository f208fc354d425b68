"""The static/dynamic filter: a graph whose ties depend on the guide and, step by step, on the target itself."""

from __future__ import annotations

import torch

from graphsr.baselines.method import Method
from graphsr.errors import InputError
from graphsr.features.channels import unit_range
from graphsr.graph import Edges, differences
from graphsr.models.base import Model
from graphsr.scaling import mean_and_std, nonzero
from graphsr.solver import SolveReport, solve_with_report

_LEAST_TIE = 1e-5  # published; no pixel is cut off altogether
_XYZ_TO_RGB = (  # linear RGB of XYZ
    (3.240479, -1.53715, -0.498535),
    (-0.969256, 1.875992, 0.041556),
    (0.055648, -0.204043, 1.057311),
)
_WHITE = (0.950456, 1.0, 1.088754)


class SDFilter(Model):
    """Re-weighted least squares: solve, read new ties off the target, solve again.

    Each step minimises  sum (D y - s)^2 + weight * sum w_g w_y (y_p - y_q)^2  with w = exp(-sigma q) + 1e-5, where q
    is the squared difference between two pixels of the guide (w_g) or of the last target (w_y), scaled over the image
    to 0..1. The first target is constant.

    The publication on filters has one datum a pixel; how the comparison of the graph paper ties the target to its
    source is not known. Here it is by the mean over each source pixel, as in our own models, so that `confidence` and
    `exact` mean the same as there. Channels of a source share one graph: their squared differences are summed, each in
    standard deviations of its channel. A guide of three channels is compared in CIE Lab, any other as it is.
    """

    def __init__(self, weight: float = 1e-3, sigma_g: float = 10.0, sigma_u: float = 30.0, steps: int = 2) -> None:
        super().__init__()
        if weight <= 0 or min(sigma_g, sigma_u) < 0 or steps < 1:
            raise InputError("SDFilter: needs weight > 0, sigma_g and sigma_u >= 0, and at least one step")
        self.weight, self.sigma_g, self.sigma_u, self.steps = weight, sigma_g, sigma_u, steps

    def run(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
    ) -> tuple[torch.Tensor, Edges | None, SolveReport | None]:
        size = (guide.shape[-2], guide.shape[-1])
        # In double precision: two ties of 1e-5 multiply to a contrast that single precision cannot solve.
        static = ties(colours(guide.double()), self.sigma_g)
        values = source.double()
        units = nonzero(mean_and_std(values, torch.isfinite(values))[1])
        target = torch.ones_like(values[:, :1, :1, :1]).expand(-1, -1, *size)
        iterations, seconds = 0, 0.0
        for step in range(self.steps):
            dynamic = ties(target / units, self.sigma_u)
            edges = Edges(self.weight * static.down * dynamic.down, self.weight * static.right * dynamic.right)
            start = target if step > 0 else None
            target, report = solve_with_report(edges, values, size, confidence=confidence, exact=exact, start=start)
            iterations, seconds = iterations + report.iterations, seconds + report.seconds
        edges = Edges(edges.down.to(source.dtype), edges.right.to(source.dtype))
        return target.to(source.dtype), edges, SolveReport(iterations, report.error, seconds)


def ties(image: torch.Tensor, sigma: float) -> Edges:
    """exp(-sigma q) + 1e-5 of the squared differences q of (B, C, H, W), which all edges of an image scale to 0..1."""
    step = differences(image)
    squares = [part.square().sum(1) for part in (step.down, step.right)]
    every = torch.cat([part.flatten(1) for part in squares], 1)
    if every.shape[1] == 0:
        return Edges(*squares)
    low, high = (end.view(-1, 1, 1) for end in (every.amin(1), every.amax(1)))
    # Where all are equal they stay what they are.
    low, unit = torch.where(high > low, low, 0.0), torch.where(high > low, high - low, 1.0)
    return Edges(*((-sigma * (part - low) / unit).exp() + _LEAST_TIE for part in squares))


def colours(guide: torch.Tensor) -> torch.Tensor:
    """(B, C, H, W): CIE Lab of three channels, else the guide itself, in 0..1."""
    scaled = unit_range(guide)
    return lab(scaled) if guide.shape[1] == 3 else scaled


def lab(rgb: torch.Tensor) -> torch.Tensor:
    """CIE Lab of RGB in 0..1 with the BT.709 gamma, (B, 3, H, W)."""
    linear = ((rgb + 0.099) / 1.099) ** (1 / 0.45)
    linear = torch.where(linear < 0.018, rgb / 4.5138, linear)
    to_xyz = torch.linalg.inv(torch.tensor(_XYZ_TO_RGB, dtype=torch.float64)).to(rgb)
    x, y, z = (
        _cube_root(plane / white)
        for plane, white in zip(torch.einsum("ij,bjhw->ibhw", to_xyz, linear), _WHITE, strict=True)
    )
    return torch.stack([116 * y - 16, 500 * (x - y), 200 * (y - z)], 1)


def _cube_root(values: torch.Tensor) -> torch.Tensor:
    """The cube root, and its tangent near 0, as CIE has it."""
    return torch.where(values < 0.008856, values * (841 / 108) + 4 / 29, values.clamp_min(0.008856) ** (1 / 3))


METHOD = Method(
    name="sd-filter",
    title="Static/dynamic filter",
    year=2018,
    reference="Ham, Cho, Ponce, Robust Guided Image Filtering Using Nonconvex Potentials, TPAMI 2018",
    build=lambda factor: SDFilter(),
)
