"""The solves that are measured: pairs, and the graphs and sources made of them."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from graphsr.errors import InputError
from graphsr.graph import Edges, affinity
from graphsr.sampling import Sampling, interpolate_source
from graphsr.scaling import Scale, known_pixels

MU = {"sharp": 0.1, "soft": 1.0}
LAMBDAS = (1e-4, 1e-2, 1.0, 10.0)


@dataclass(frozen=True, eq=False)
class Pair:
    """A guide and a high-resolution map of one view, from which sources are made."""

    name: str
    guide: torch.Tensor  # (1, C, H, W) float32
    truth: torch.Tensor  # (1, 1, H, W) float32

    @property
    def size(self) -> tuple[int, int]:
        return self.truth.shape[-2], self.truth.shape[-1]

    def tiled(self, times: int) -> Pair:
        """The pair repeated and mirrored, so that no seam shows: (times H, times W)."""
        return Pair(f"{self.name} x{times}", _mirrored(self.guide, times), _mirrored(self.truth, times))

    def cropped(self, size: tuple[int, int]) -> Pair:
        """The middle."""
        if self.size[0] < size[0] or self.size[1] < size[1]:
            raise InputError(
                f"{self.name}: {self.size[0]} x {self.size[1]} pixels; at least {size[0]} x {size[1]} needed"
            )
        top, left = (self.size[0] - size[0]) // 2, (self.size[1] - size[1]) // 2
        rows, columns = slice(top, top + size[0]), slice(left, left + size[1])
        return Pair(self.name, self.guide[..., rows, columns], self.truth[..., rows, columns])


@dataclass(frozen=True, eq=False)
class SolverProblem:
    edges: Edges  # (1, H-1, W), (1, H, W-1) float32
    source: torch.Tensor  # (1, 1, h, w) float32, of mean 0 and standard deviation 1
    sampling: Sampling


def synthetic_pair(seed: int, size: tuple[int, int]) -> Pair:
    from graphsr.scenes import scene

    drawn = scene(seed, size)
    return Pair(f"synthetic {seed}", _as_images(drawn.guide), _as_images(drawn.depth))


def pair_from_files(guide: str | os.PathLike[str], truth: str | os.PathLike[str], size: tuple[int, int]) -> Pair:
    """The middle of a guide file and of a file with the true map at the same resolution."""
    from graphsr.files import read_image

    images = [read_image(path) for path in (guide, truth)]
    if images[0].size != images[1].size:
        raise InputError(f"{truth}: {images[1].size} pixels, but the guide {guide} has {images[0].size}")
    if images[1].channels != 1:
        raise InputError(f"{truth}: has {images[1].channels} channels; a map of one channel is needed")
    name = f"{images[1].path.parent.name}/{images[1].path.name}"
    pair = Pair(name, _as_images(images[0].array), _as_images(images[1].array)).cropped(size)
    if not bool(torch.isfinite(pair.truth).all()):
        raise InputError(f"{truth}: the middle {size[0]} x {size[1]} pixels hold NaN or infinity; each needs a value")
    return pair


def make_problem(
    pair: Pair, factor: float, mu: float, weight: float, *, graph_factor: float | None = None
) -> SolverProblem:
    """A source `factor` times smaller than the pair, on the colour graph of lambda = `weight`.

    The interpolated source is one of the graph's features. `graph_factor` takes it at another factor than the
    source's, so that sources of several factors can share one graph.
    """
    source, sampling = _source(pair, factor)
    seen = source if graph_factor is None else _source(pair, graph_factor)[0]
    scale = Scale.of(pair.guide, seen, known_pixels(seen, None))
    interpolated = interpolate_source(seen, pair.size)
    features = torch.cat([scale.standardise_guide(pair.guide), scale.standardise_source(interpolated)], 1)
    return SolverProblem(affinity(features, mu, weight=weight), source, sampling)


def _source(pair: Pair, factor: float) -> tuple[torch.Tensor, Sampling]:
    cells = tuple(round(n / factor) for n in pair.size)
    if any(abs(c * factor - n) > 1e-9 * n for c, n in zip(cells, pair.size, strict=True)):
        raise InputError(f"{pair.name}: {pair.size[0]} x {pair.size[1]} pixels cannot be divided by {factor:g}")
    sampling = Sampling(pair.size, (cells[0], cells[1]))
    averages = sampling(pair.truth.double())
    return ((averages - averages.mean()) / averages.std(correction=0)).float(), sampling


def _as_images(array: NDArray[np.generic]) -> torch.Tensor:
    """(H, W) or (H, W, C) -> (1, 1 or C, H, W) float32"""
    stacked = array[..., None] if array.ndim == 2 else array
    return torch.from_numpy(np.ascontiguousarray(np.moveaxis(stacked, 2, 0)[None], dtype=np.float32))


def _mirrored(image: torch.Tensor, times: int) -> torch.Tensor:
    for dim in (-2, -1):
        turned: Sequence[torch.Tensor] = (image, image.flip(dim))
        image = torch.cat([turned[i % 2] for i in range(times)], dim)
    return image
