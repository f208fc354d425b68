"""The problems that the solver is measured on: pairs, and the graphs and sources made of them."""

from __future__ import annotations

import os

import numpy as np
import torch

from graphsr.data.pair import Pair
from graphsr.errors import InputError
from graphsr.files import read_image
from graphsr.graph import affinity
from graphsr.sampling import Sampling, interpolate_source
from graphsr.scaling import Scale, known_pixels
from graphsr.scenes import scene
from graphsr.solver import Problem

MU = {"sharp": 0.1, "soft": 1.0}
LAMBDAS = (1e-4, 1e-2, 1.0, 10.0)


def synthetic_pair(seed: int, size: tuple[int, int]) -> Pair:
    """Render a pair."""
    rendered = scene(seed, size)
    return Pair(f"synthetic {seed}", rendered.guide, rendered.depth, "m")


def pair_from_files(guide: str | os.PathLike[str], truth: str | os.PathLike[str], size: tuple[int, int]) -> Pair:
    """Read the middle of a guide file and of a file with the true map at the same resolution."""
    images = [read_image(path) for path in (guide, truth)]
    if images[0].size != images[1].size:
        raise InputError(f"{truth}: {images[1].size} pixels, but the guide {guide} has {images[0].size}")
    if images[1].channels != 1:
        raise InputError(f"{truth}: has {images[1].channels} channels; a map of one channel is needed")
    height, width = images[1].size
    if height < size[0] or width < size[1]:
        raise InputError(f"{truth}: {height} x {width} pixels; at least {size[0]} x {size[1]} needed")
    top, left = (height - size[0]) // 2, (width - size[1]) // 2
    middle = slice(top, top + size[0]), slice(left, left + size[1])
    values = images[1].array.reshape(height, width)[middle].astype(np.float32)
    if not np.isfinite(values).all():
        raise InputError(f"{truth}: the middle {size[0]} x {size[1]} pixels hold NaN or infinity; each needs a value")
    return Pair(f"{images[1].path.parent.name}/{images[1].path.name}", images[0].array[middle], values)


def tiled(pair: Pair, times: int) -> Pair:
    """Repeat and mirror a pair, so that no seam shows: (times H, times W)."""
    after = [(0, (times - 1) * n) for n in pair.size]
    guide = np.pad(pair.guide, [*after, (0, 0)], mode="symmetric")
    return Pair(f"{pair.name} x{times}", guide, np.pad(pair.target, after, mode="symmetric"), pair.unit)


def make_problem(pair: Pair, factor: float, mu: float, weight: float, *, graph_factor: float | None = None) -> Problem:
    """Make a problem of a source `factor` times smaller than the pair, on its colour graph.

    Args:
        pair: The guide, and the true map that the source is averaged from.
        factor: Must divide the size of the pair.
        mu: Of the edge weights.
        weight: The strongest edge weight, lambda.
        graph_factor: The interpolated source is one of the features of the graph. This takes it at another factor, so
            that sources of several factors can share one graph.

    Returns:
        The problem, whose source (1, 1, h, w) float32 has mean 0 and standard deviation 1.
    """
    source, sampling = _source(pair, factor)
    guide = _tensor(pair.guide)
    seen = source if graph_factor is None else _source(pair, graph_factor)[0]
    scale = Scale.of(guide, seen, known_pixels(seen, None))
    interpolated = interpolate_source(seen, pair.size)
    features = torch.cat([scale.standardise_guide(guide), scale.standardise_source(interpolated)], 1)
    return Problem(affinity(features, mu, weight=weight), sampling, source)


def _source(pair: Pair, factor: float) -> tuple[torch.Tensor, Sampling]:
    height, width = (round(n / factor) for n in pair.size)
    if any(abs(m * factor - n) > 1e-9 * n for m, n in zip((height, width), pair.size, strict=True)):
        raise InputError(f"{pair.name}: {pair.size[0]} x {pair.size[1]} pixels cannot be divided by {factor:g}")
    sampling = Sampling(pair.size, (height, width))
    averages = sampling(_tensor(pair.target[..., np.newaxis]).double())
    return ((averages - averages.mean()) / averages.std(correction=0)).float(), sampling


def _tensor(image: np.ndarray) -> torch.Tensor:
    """Return (H, W, C) as (1, C, H, W) float32."""
    return torch.from_numpy(np.ascontiguousarray(np.moveaxis(image, 2, 0)[None], dtype=np.float32))
