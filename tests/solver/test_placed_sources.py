"""Sources that do not cover the target edge to edge: the same solve, against a dense one."""

from __future__ import annotations

import math

import pytest
import torch

import graphsr
from graphsr.graph import Edges

PLACES = {
    "whole step, cut by the border": ((-3.0, -1.0), (4.0, 4.0)),
    "off by parts of a pixel": ((-1.3, 0.4), (4.0, 4.0)),
    "factor 3.5": ((-2.25, -0.5), (3.5, 3.5)),
    "factor 1.5": ((-0.5, -0.25), (1.5, 1.5)),
    "factor 1, half a pixel off": ((-0.5, -0.5), (1.0, 1.0)),
}


def dense(edges: Edges, source: torch.Tensor, sampling: graphsr.Sampling, prior_weight: float, z: torch.Tensor):
    """argmin by the normal equations, all in double precision."""
    height, width = sampling.size
    count = height * width
    basis = torch.eye(count, dtype=torch.float64).reshape(count, height, width)
    averages = sampling(basis).reshape(count, -1).T
    rows = []
    for i in range(height):
        for j in range(width):
            for weight, there, other in (
                (edges.down[0, i, j] if i + 1 < height else 0, i + 1 < height, (i + 1) * width + j),
                (edges.right[0, i, j] if j + 1 < width else 0, j + 1 < width, i * width + j + 1),
            ):
                if there:
                    row = torch.zeros(count, dtype=torch.float64)
                    row[i * width + j], row[other] = weight**0.5, -(weight**0.5)
                    rows.append(row)
    ties = torch.stack(rows)
    matrix = averages.T @ averages + ties.T @ ties + prior_weight * torch.eye(count, dtype=torch.float64)
    right = averages.T @ source.flatten() + prior_weight * z.flatten()
    return torch.linalg.solve(matrix, right).reshape(1, 1, height, width)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize(("origin", "step"), PLACES.values(), ids=PLACES.keys())
def test_agrees_with_a_dense_solve(origin, step, backend):
    generator = torch.Generator().manual_seed(3)
    size = (17, 18)
    cells = tuple(math.ceil((n - o) / s) for n, o, s in zip(size, origin, step, strict=True))
    sampling = graphsr.Sampling(size, cells, origin=origin, step=step)
    weights = [torch.rand(1, *shape, generator=generator, dtype=torch.float64) for shape in ((16, 18), (17, 17))]
    edges = Edges(*(1e-3 * (0.01 + w) for w in weights))
    source = torch.randn(1, 1, *cells, generator=generator, dtype=torch.float64)
    prior = torch.zeros(1, 1, *size, dtype=torch.float64)
    found = graphsr.solve(edges, source, sampling, prior=prior, prior_weight=1e-6, rtol=1e-7, backend=backend)
    expected = dense(edges, source, sampling, 1e-6, prior)
    # rtol bounds the RMS error in standard deviations of the source.
    assert float((found - expected).square().mean().sqrt()) <= 1e-7 * float(source.std())


def test_a_sampling_for_another_source_is_refused():
    sampling = graphsr.Sampling((8, 8), (2, 2))
    edges = Edges(torch.ones(1, 7, 8), torch.ones(1, 8, 7))
    with pytest.raises(graphsr.InputError, match=r"Sampling\(size=\(8, 8\).*is not for a source"):
        graphsr.solve(edges, torch.zeros(1, 1, 4, 4), sampling)
