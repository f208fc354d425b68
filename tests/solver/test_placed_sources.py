"""Sources that do not cover the target edge to edge: the same solve, against a dense one."""

from __future__ import annotations

import math
from dataclasses import replace

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


# Source pixels outside the target, and target pixels outside the source.
SHIFTS = {
    "a whole source pixel up": ((-4.0, -4.0), (4.0, 4.0), (4, 5)),
    "more than one, and a part": ((-6.3, 3.7), (4.0, 4.0), (6, 3)),
    "a small source inside": ((5.0, 6.5), (2.5, 3.0), (3, 2)),
    "factor 1.5": ((-2.0, 4.25), (1.5, 1.5), (9, 6)),
}


def dense(edges: Edges, source: torch.Tensor, sampling: graphsr.Sampling, prior_weight: float, z: torch.Tensor):
    """argmin by the normal equations, all in double precision; missing source pixels are 0 in D too."""
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


def half_a_pixel_off(**more) -> graphsr.Problem:
    """Return a problem with more source pixels than target pixels."""
    generator = torch.Generator().manual_seed(5)
    edges = Edges(
        *(0.1 + torch.rand(1, *shape, generator=generator, dtype=torch.float64) for shape in ((3, 5), (4, 4)))
    )
    source = torch.randn(1, 1, 5, 6, generator=generator, dtype=torch.float64, requires_grad=True)
    sampling = graphsr.Sampling((4, 5), (5, 6), origin=(-0.5, -0.5), step=(1.0, 1.0))
    return graphsr.Problem(edges, sampling, source, **more)


def test_source_pixels_that_measure_the_same_have_gradients():
    problem = half_a_pixel_off()
    assert torch.autograd.gradcheck(
        lambda source: graphsr.solve(replace(problem, source=source), rtol=1e-10), problem.source, atol=1e-6
    )


def test_source_pixels_that_measure_the_same_cannot_be_kept_exactly():
    with pytest.raises(graphsr.InputError, match="exact: some source pixels measure nearly the same"):
        graphsr.solve(half_a_pixel_off(exact=True))


def shifted_problem(origin, step, cells, **more) -> graphsr.Problem:
    generator = torch.Generator().manual_seed(3)
    weights = [torch.rand(1, *shape, generator=generator, dtype=torch.float64) for shape in ((16, 18), (17, 17))]
    return graphsr.Problem(
        Edges(*(1e-3 * (0.01 + w) for w in weights)),
        graphsr.Sampling((17, 18), cells, origin=origin, step=step),
        torch.randn(1, 1, *cells, generator=generator, dtype=torch.float64),
        **more,
    )


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize(("origin", "step", "cells"), SHIFTS.values(), ids=SHIFTS.keys())
def test_a_source_that_does_not_cover_the_target_agrees_with_a_dense_solve(origin, step, cells, backend, dtype):
    problem = shifted_problem(origin, step, cells)
    found = graphsr.solve(problem.to(dtype), rtol=1e-5, backend=backend)
    inside = torch.as_tensor(problem.sampling.visible > 0)
    expected = dense(problem.edges, problem.source * inside, problem.sampling, 0.0, torch.zeros(1, 1, 17, 18))
    assert not inside.all() or origin[0] > 0
    # rtol is in standard deviations of the source that is seen.
    assert float((found - expected).square().mean().sqrt()) <= 1e-5 * float(problem.source[..., inside].std())


@pytest.mark.parametrize("backend", ["auto", "torch"])
@pytest.mark.parametrize(("origin", "step", "cells"), list(SHIFTS.values())[:3], ids=list(SHIFTS)[:3])
def test_exact_fidelity_holds_for_the_source_pixels_inside(origin, step, cells, backend):
    problem = shifted_problem(origin, step, cells, exact=True)
    target = graphsr.solve(problem, backend=backend)
    inside = torch.as_tensor(problem.sampling.visible > 0)
    torch.testing.assert_close(
        problem.sampling(target)[..., inside], problem.source[..., inside], rtol=1e-12, atol=1e-12
    )


def test_a_value_outside_the_target_does_not_matter_to_the_solve():
    problem = shifted_problem((-8.0, 0.0), (4.0, 4.0), (6, 5))
    assert problem.confidence[0, 0, :2].max() == 0
    assert problem.confidence[0, 0, 2:].min() == 1
    other = problem.source.clone()
    other[..., :2, :] += 100
    start = torch.zeros(1, 1, 17, 18, dtype=torch.float64)
    same = [graphsr.Problem(problem.edges, problem.sampling, s, start=start) for s in (problem.source, other)]
    assert torch.equal(graphsr.solve(same[0]), graphsr.solve(same[1]))


def test_a_source_whose_known_pixels_all_lie_outside_is_refused():
    sampling = graphsr.Sampling((8, 8), (3, 2), origin=(-4.0, 0.0), step=(4.0, 4.0))
    edges = Edges(torch.ones(1, 7, 8), torch.ones(1, 8, 7))
    source = torch.ones(1, 1, 3, 2)
    source[..., 1:, :] = torch.nan
    with pytest.raises(graphsr.InputError, match="is missing or lies outside the target"):
        graphsr.solve(edges, source, sampling)


def test_a_sampling_for_another_source_is_refused():
    sampling = graphsr.Sampling((8, 8), (2, 2))
    edges = Edges(torch.ones(1, 7, 8), torch.ones(1, 8, 7))
    with pytest.raises(graphsr.InputError, match=r"Sampling\(size=\(8, 8\).*is not for a source"):
        graphsr.solve(edges, torch.zeros(1, 1, 4, 4), sampling)
