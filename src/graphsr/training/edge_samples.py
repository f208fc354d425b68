"""Edges of sources as the network of alignments learns from them: shown from a place that is wrong in a known way."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch

from graphsr.data import Pair
from graphsr.measurements.edge_patches import COLOURS, axes_of, descriptions, factor_of, patches, standardised
from graphsr.measurements.edge_points import EdgePoints, edge_points
from graphsr.sampling import Sampling

# Factors and footprints of sources.
_FACTORS = (3.0, 20.0)
_FOOTPRINTS, _HOW_OFTEN = ("box", "bicubic", "gaussian", "point"), (0.7, 0.15, 0.1, 0.05)
# So many points of a source are shown, some twice if there are fewer; fewer than the other number teach nothing.
_POINTS, _FEWEST = 256, 30
# A source has at least so many pixels along each axis.
_SMALLEST = 8
# Edges are at most this far from the middle of their patch, in guide pixels.
_FURTHEST = 9.0
# The start is wrong by at most so many guide pixels, in one half of the sources and in the other.
_START_ERRORS = (8.0, 1.0)


@dataclass(frozen=True, eq=False)
class EdgeSample:
    """Edges of one source with what is known of them.

    Attributes:
        patches, contrast, description: What the network is shown.
        offsets: (N,) where the edge is, in guide pixels from the middle of its patch.
        across: (N, 2) the normals in the guide.
    """

    patches: torch.Tensor
    contrast: torch.Tensor
    description: torch.Tensor
    offsets: torch.Tensor
    across: torch.Tensor


@dataclass(frozen=True, eq=False)
class PreparedPair:
    """The principal colours of a guide (COLOURS, H, W), and its target (H, W), NaN = unknown."""

    colours: np.ndarray
    target: np.ndarray

    @classmethod
    def of(cls, pair: Pair) -> PreparedPair:
        """Prepare a pair."""
        return cls(standardised(pair.guide), pair.target.astype(np.float32))


def draw_sample(pair: PreparedPair, rng: np.random.Generator) -> EdgeSample | None:
    """Make a source of a pair, and show some of its edges from a wrong place; None if it has too few."""
    factor = math.exp(rng.uniform(*np.log(_FACTORS)))
    if min(pair.target.shape) < _SMALLEST * factor:
        return None
    source, matrix = _source(pair.target, factor, rng)
    points = edge_points(source[None])
    if len(points.weights) < _FEWEST:
        return None
    chosen = rng.choice(len(points.weights), _POINTS, replace=len(points.weights) < _POINTS)
    points = EdgePoints(*(part[chosen] for part in points.parts))
    start = matrix.copy()
    direction, length = rng.uniform(0, 2 * math.pi), rng.choice(_START_ERRORS) * math.sqrt(rng.random())
    start[:, 2] -= length * np.array([math.cos(direction), math.sin(direction)])
    across, _ = axes_of(points, matrix)
    # Drawn evenly whatever the error of the start is, so that the network tells a likelihood, not what is usual.
    offsets = rng.uniform(-_FURTHEST, _FURTHEST, len(across))
    ahead = across @ (matrix - start)[:, 2] - offsets
    found, contrast = patches(pair.colours, points, start, ahead)
    _alter(found, contrast, rng)
    arrays = found, contrast, descriptions(points, factor_of(matrix)), offsets, across
    return EdgeSample(*(torch.from_numpy(np.asarray(array, np.float32)) for array in arrays))


def _source(target: np.ndarray, factor: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return a source (h, w) of a target (H, W) and its true placement (2, 3)."""
    step = factor * np.exp(rng.normal(0, 0.05, 2) * (rng.random() < 0.2))
    origin = rng.uniform(0, step)
    size = tuple(int(n) for n in (np.array(target.shape) - origin) // step)
    footprint = str(rng.choice(_FOOTPRINTS, p=_HOW_OFTEN))
    if footprint == "gaussian":
        footprint = f"gaussian:{rng.uniform(0.25, 0.6):.3f}"
    values = torch.from_numpy(target)
    if rng.random() < 0.5:  # as disparity
        values = 1 / values.clamp_min(1e-3)
    sampling = Sampling(
        (target.shape[0], target.shape[1]),
        (size[0], size[1]),
        origin=(origin[0], origin[1]),
        step=(step[0], step[1]),
        footprint=footprint,
    )
    known = torch.isfinite(values)
    if known.all():
        source = sampling(values).numpy()
    else:
        mean, share = sampling.masked(values.nan_to_num(), known)
        source = np.where(share.numpy() > 0.5, mean.numpy(), np.nan)
    if rng.random() < 0.3:
        noise = 0.02 * rng.random() ** 2 * (np.nanmax(source) - np.nanmin(source))
        source = source + noise * rng.standard_normal(source.shape)
    return source, np.array([[step[1], 0, origin[1]], [0, step[0], origin[0]]])


def _alter(found: np.ndarray, contrast: np.ndarray, rng: np.random.Generator) -> None:
    """Give patches (N, COLOURS + 1, ...) other colours, one colour alone, or noise; each of them sometimes."""
    inside, colours = found[:, COLOURS:], found[:, :COLOURS]
    if rng.random() < 0.3:
        turn = np.linalg.qr(rng.standard_normal((COLOURS, COLOURS)))[0].astype(np.float32)
        colours[:] = np.einsum("kc,nctm->nktm", turn, colours)
    if rng.random() < 0.15:
        colours[:, 1:] = 0
    if rng.random() < 0.3:
        noise = 0.1 * rng.random() ** 2 * np.exp(-contrast)[:, None, None, None]
        colours += noise * rng.standard_normal(colours.shape, np.float32) * inside
