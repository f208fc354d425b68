"""Points in, a whole map out: `graphsr.complete`."""

from __future__ import annotations

import math
import os
from dataclasses import replace
from typing import Any, Literal

import numpy as np
import torch

from graphsr.arrays import as_array
from graphsr.graph import Edges, edge_weights, power_law_distance
from graphsr.measurements.planes import Planes, fit_planes
from graphsr.measurements.point_errors import confidence_of_points, find_outliers, refuse_auto
from graphsr.measurements.points import point_map
from graphsr.models.base import Model
from graphsr.models.colour import Colour
from graphsr.models.window import Window
from graphsr.models.wrapper import Wrapper
from graphsr.options import UpsamplingOptions
from graphsr.sampling import Sampling, fill_holes
from graphsr.scaling import Scale, known_pixels
from graphsr.solver import Problem
from graphsr.upsampling import Upsampled, upsample_with

# The source that a model sees has pixels of this part of the distance between points, in bounds: beyond x16 too little
# is left of what the planes say, and models are not made for factors below 2.
_FINER = 2 / 3
_FACTORS = (2.0, 16.0)
# With points closer than this (in pixels) there is no slope between them that matters, and much to fit.
_CLOSE = 4.0
# The radius of the disc around a point that is drawn to its plane, of the distance between points.
_DISC = 0.35


def complete(
    guide: np.ndarray,
    points: Any,
    *,
    model: str | os.PathLike[str] | Model = "default",
    confidence: Any = None,
    exact: bool = False,
    noise: float | Literal["auto"] | None = None,
    robust: bool | float = False,
    rtol: float | None = None,
) -> Upsampled:
    """Make a whole map from points, along the surfaces that a guide image shows.

    Args:
        guide: (H, W) or (H, W, C), any real dtype.
        points: (N, 3), rows of x, y and value, or (N, 4) with a confidence. x and y are in pixels of the guide from its
            upper left corner, so that the centre of the first pixel is 0.5, 0.5; a point counts for the pixel it lies
            in, and several in a pixel are averaged by confidence. Or a map (H, W) with NaN where there is no point.
        model: As in `graphsr.upsample`.
        confidence: One number, or one for each point (N,) or each pixel of a map (H, W), from 0, which leaves a point
            out, to 1.
        exact: Whether the target meets the points exactly instead of up to their confidence.
        noise: Standard deviation of the noise of the points, in their units. "auto" estimates it from a map with few
            holes; points that are 4 pixels apart or more do not tell it, and are refused.
        robust: Whether points that those around them do not explain are left out. A number is the error, in units of
            the points, from which on a point is wrong.
        rtol: As in `graphsr.upsample`.

    Returns:
        The target (H, W) with its graph and a report; its `fidelity` is the RMS difference at the points.

    Example:
        >>> import numpy as np, graphsr
        >>> points = [(3.5, 4.5, 1.2), (20.5, 9.5, 3.1), (27.0, 14.0, 3.0)]
        >>> graphsr.complete(np.random.rand(16, 32, 3), points, model="colour").target.shape
        (16, 32)
    """
    return complete_with(UpsamplingOptions(model, confidence, exact, noise, robust, rtol=rtol), guide, points)


def complete_with(options: UpsamplingOptions, guide: np.ndarray, points: Any, model: Model | None = None) -> Upsampled:
    """Complete points as options say, see `complete`; with `model` instead of what they name, if one is given."""
    size = as_array("guide", guide).shape[:2]
    if len(size) < 2 or 0 in size:  # what `upsample` says of it is right
        return upsample_with(options, guide, np.ones((1, 1)), model)
    values, weights = point_map(points, (size[0], size[1]), options.confidence)
    chosen = Completion(options.load_model() if model is None else model)
    options.check_model(chosen.model)
    # Points as close as source pixels are judged like them.
    if not options.errors.said or _spacing(np.isfinite(values)) < _CLOSE:
        return upsample_with(replace(options, confidence=weights), guide, values, chosen)
    stated = refuse_auto(options.noise)
    wrong = np.zeros_like(weights, dtype=bool)
    if options.robust is not False:
        wrong = _outliers(chosen, guide, values, stated or 0.0, options.robust)
    if stated is not None:
        weights = weights * confidence_of_points(stated, np.where(wrong, np.nan, values))
    weighed = replace(options, confidence=np.where(wrong, 0.0, weights), noise=None, robust=False)
    result = upsample_with(weighed, guide, values, chosen)
    return replace(result, report=replace(result.report, noise=stated, switched_off=int(wrong.sum())))


class Completion(Wrapper):
    """Completes maps of the guide's size with holes, by the graph of another model.

    That model sees a source as it knows them: coarse and whole, the means of a first estimate. The target is then the
    solve on its graph with the points themselves as data and with slopes found from them as offsets. Models without a
    graph upsample the coarse source.
    """

    def __init__(self, model: Model) -> None:
        super().__init__(model, bytes_per_channel=64)

    def prepare(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
        window: Window | None = None,
    ) -> Problem | torch.Tensor:
        assert window is None  # it has no locality, so it never gets one
        known = known_pixels(source, confidence)
        source = torch.where(known, source, torch.nan)
        size = source.shape[-2], source.shape[-1]
        spacing = _spacing(known)
        if spacing < _CLOSE:
            first = fill_holes(source.nan_to_num(), known)
        else:
            edges = _colour_edges(self.select_channels(guide), source, known)
            first = _maps(_planes(source, edges), "surface", source)
        coarse = Sampling(size, _coarse_size(size, spacing))(first)
        seen = self.model.without_reweighting().prepare(guide, coarse)
        if isinstance(seen, torch.Tensor):
            return seen
        problem = Problem(
            seen.edges,
            Sampling(size, size),
            source,
            confidence,
            prior=first,
            prior_weight=seen.prior_weight,
            offsets=seen.offsets,
            exact=exact,
            start=first,
        )
        return problem if spacing < _CLOSE else _with_planes(problem, _planes(source, seen.edges), _DISC * spacing)


def _spacing(known: torch.Tensor | np.ndarray) -> float:
    """Return the usual distance between points, in pixels, from where there are some."""
    return math.sqrt(math.prod(known.shape) / int(known.sum()))


def _outliers(model: Model, guide: Any, values: np.ndarray, noise: float, robust: bool | float) -> np.ndarray:
    """Return which points (H, W) those around them on the colour graph do not explain."""
    image = np.moveaxis(np.atleast_3d(as_array("guide", guide)), 2, 0)[None].astype(np.float32)
    source = torch.from_numpy(values)[None, None].float()
    edges = _colour_edges(model.select_channels(torch.from_numpy(image)), source, torch.isfinite(source))
    down, right = (weights[0].numpy() for weights in (edges.down, edges.right))
    return find_outliers(values, down, right, noise=noise, cutoff=None if robust is True else robust)


def _coarse_size(size: tuple[int, int], spacing: float) -> tuple[int, int]:
    least, most = _FACTORS
    factor = min(max(_FINER * spacing, least), most)
    return max(1, round(size[0] / factor)), max(1, round(size[1] / factor))


def _colour_edges(guide: torch.Tensor, source: torch.Tensor, known: torch.Tensor) -> Edges:
    """Return the colour graph of the guide (B, C, H, W) alone, as nothing is known between the points yet."""
    colour = Colour()
    colours = Scale.of(guide, source, known).standardise_guide(guide)
    return edge_weights(power_law_distance(colours, colour.mu, colour.power), weight=1.0, floor=colour.floor)


def _planes(source: torch.Tensor, edges: Edges) -> list[list[Planes]]:
    """Fit planes to the points of every image and channel of (B, K, H, W)."""
    down, right = edges.down.detach().cpu().numpy(), edges.right.detach().cpu().numpy()
    values = source.detach().cpu().numpy()
    return [[fit_planes(one, down[n], right[n]) for one in image] for n, image in enumerate(values)]


def _with_planes(problem: Problem, planes: list[list[Planes]], radius: float) -> Problem:
    """Return a problem of points that prefers planes: slopes as offsets, and discs of planes through the points.

    Without the discs, whose `radius` is in pixels, a point would be a spike that the graph gives way to.
    """
    surface, distance = (_maps(planes, name, problem.source) for name in ("surface", "distance"))
    nearest = _maps(planes, "nearest").to(problem.source.device).flatten(2)
    missed = (problem.source - surface).flatten(2).gather(2, nearest).reshape(surface.shape)
    confidence = problem.confidence.expand_as(surface).flatten(2).gather(2, nearest).reshape(surface.shape)
    disc = (confidence * torch.exp(-(distance / radius).square())).mean(1)  # channels share their prior weight
    strongest = torch.maximum(problem.edges.down.amax((-2, -1)), problem.edges.right.amax((-2, -1)))[:, None, None]
    return replace(
        problem,
        offsets=_offsets(planes, surface),
        prior=surface + missed,
        prior_weight=problem.prior_weight + strongest * disc,
        start=surface,
    )


def _maps(planes: list[list[Planes]], name: str, like: torch.Tensor | None = None) -> torch.Tensor:
    """Return one of the maps of planes, (B, K, H, W)."""
    maps = torch.as_tensor(np.array([[getattr(one, name) for one in image] for image in planes]))
    return maps if like is None else maps.to(like)


def _offsets(planes: list[list[Planes]], like: torch.Tensor) -> Edges:
    """Return y_p - y_q along every edge: (B, K, H-1, W) and (B, K, H, W-1)."""
    down, right = (_maps(planes, name, like) for name in ("down", "right"))
    return Edges(-0.5 * (down[..., :-1, :] + down[..., 1:, :]), -0.5 * (right[..., :-1] + right[..., 1:]))
