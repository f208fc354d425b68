"""Random problems that are hard to solve, or hard to know whether they are solved."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch

from graphsr import Edges, Problem, Sampling, affinity

Draw = Callable[[np.random.Generator, torch.dtype], Problem]


def _size(random: np.random.Generator) -> tuple[tuple[int, int], tuple[int, int]]:
    """A target of some hundred pixels, and a source smaller by any factor of at least 2."""
    height, width = (int(n) for n in random.integers(12, 25, 2))
    return (height, width), (int(random.integers(2, height // 2 + 1)), int(random.integers(2, width // 2 + 1)))


def _source(random: np.random.Generator, shape: tuple[int, int], dtype: torch.dtype, most_missing: float = 0.0):
    source = 40 + 3 * random.standard_normal(shape)
    missing = random.random(shape) < most_missing * random.random()
    missing[tuple(random.integers(0, shape))] = False
    return torch.from_numpy(np.where(missing, np.nan, source)).to(dtype)[None, None]


def _log_uniform(random: np.random.Generator, shape: tuple[int, ...], low: float, high: float) -> torch.Tensor:
    return torch.from_numpy(np.exp(random.uniform(np.log(low), np.log(high), shape)))


def _edges(down: torch.Tensor, right: torch.Tensor, dtype: torch.dtype) -> Edges:
    return Edges(down.to(dtype)[None], right.to(dtype)[None])


def _random_edges(random: np.random.Generator, size: tuple[int, int], low: float, high: float, dtype: torch.dtype):
    height, width = size
    return _edges(
        _log_uniform(random, (height - 1, width), low, high),
        _log_uniform(random, (height, width - 1), low, high),
        dtype,
    )


def wide_span(random: np.random.Generator, dtype: torch.dtype) -> Problem:
    """Edge weights that span 1e5, holes of up to 90 %, factors that are not whole."""
    size, source_size = _size(random)
    edges = _random_edges(random, size, 1e-5, 1.0, dtype)
    exact = bool(random.random() < 0.3)
    return Problem(edges, Sampling(size, source_size), _source(random, source_size, dtype, 0.9), exact=exact)


def stripes(random: np.random.Generator, dtype: torch.dtype) -> Problem:
    """Stripes of one pixel, tied along themselves 1e4 times more strongly than to each other."""
    factor = int(random.choice([2, 4, 8]))
    source_size = (int(random.integers(2, 1 + 24 // factor)), int(random.integers(2, 1 + 24 // factor)))
    size = (source_size[0] * factor, source_size[1] * factor)
    values = np.arange(size[1]) % 2 if random.random() < 0.5 else random.standard_normal(size[1])
    features = torch.from_numpy(np.broadcast_to(values, size).astype(np.float64))
    edges = affinity(features.to(dtype)[None, None], 0.05, weight=float(10 ** random.uniform(-5, 0)))
    exact = bool(random.random() < 0.3)
    return Problem(edges, Sampling(size, source_size), _source(random, source_size, dtype), exact=exact)


def strong_smoothing(random: np.random.Generator, dtype: torch.dtype) -> Problem:
    """Edge weights of 1e6 and more, where the data hardly counts."""
    size, source_size = _size(random)
    weight = 10 ** random.uniform(6, 8)
    edges = _random_edges(random, size, 0.3 * weight, weight, dtype)
    return Problem(edges, Sampling(size, source_size), _source(random, source_size, dtype, 0.5))


def island(random: np.random.Generator, dtype: torch.dtype) -> Problem:
    """A region without data that edges of 1e-12 tie to the rest."""
    factor = 4
    source_size = (int(random.integers(3, 7)), int(random.integers(3, 7)))
    height, width = size = (source_size[0] * factor, source_size[1] * factor)
    source = _source(random, source_size, dtype)
    top, left = (int(random.integers(0, cells - 1)) for cells in source_size)
    source[..., top : top + 2, left : left + 2] = torch.nan
    inside = np.zeros(size, bool)
    inside[top * factor : (top + 2) * factor, left * factor : (left + 2) * factor] = True
    down = _log_uniform(random, (height - 1, width), 1e-3, 1e-2)
    right = _log_uniform(random, (height, width - 1), 1e-3, 1e-2)
    down[torch.from_numpy(inside[1:] != inside[:-1])] = 1e-12
    right[torch.from_numpy(inside[:, 1:] != inside[:, :-1])] = 1e-12
    exact = bool(random.random() < 0.3)
    return Problem(_edges(down, right, dtype), Sampling(size, source_size), source, exact=exact)


def low_confidence(random: np.random.Generator, dtype: torch.dtype) -> Problem:
    """A confidence of 1e-12 everywhere."""
    size, source_size = _size(random)
    edges = _random_edges(random, size, 1e-3, 1e-2, dtype)
    confidence = torch.full((1, 1, *source_size), 1e-12, dtype=dtype)
    return Problem(edges, Sampling(size, source_size), _source(random, source_size, dtype), confidence)


def large_offset(random: np.random.Generator, dtype: torch.dtype) -> Problem:
    """Values of 1000 with a standard deviation of 1e-4."""
    size, source_size = _size(random)
    edges = _random_edges(random, size, 1e-3, 1e-2, dtype)
    source = 1000 + 1e-4 * (_source(random, source_size, torch.float64) - 40) / 3
    return Problem(edges, Sampling(size, source_size), source.to(dtype))


FAMILIES: tuple[Draw, ...] = (wide_span, stripes, strong_smoothing, island, low_confidence, large_offset)


def draw(seed: int, dtype: torch.dtype) -> tuple[str, Problem]:
    """Return the family's name and a problem of it."""
    family = FAMILIES[seed % len(FAMILIES)]
    return family.__name__, family(np.random.default_rng(seed), dtype)
