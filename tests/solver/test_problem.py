"""A problem is made once, can be changed and solved again, and its set-up kept."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

from graphsr import Edges, Problem, Sampling, solve
from graphsr.errors import InputError
from graphsr.solver import set_up, solve_problem
from graphsr.solver.gradient import differentiable_solve
from tests.solver.dense_solve import BACKENDS, SIZES, a_source, graph, noise

SIZE, SOURCE_SIZE = SIZES["factor 4"]


def a_problem(**more):
    return Problem(graph(SIZE), Sampling(SIZE, SOURCE_SIZE), a_source(1, 2, *SOURCE_SIZE, holes=0.2), **more)


def test_missing_source_pixels_have_confidence_0():
    problem = a_problem()
    assert bool((problem.confidence == 0).any())
    assert bool(torch.isfinite(problem.source).all())


def test_a_changed_copy_of_an_unchanged_problem_is_the_same_problem():
    problem = a_problem(prior=noise(1, 2, *SIZE), prior_weight=1e-3)
    again = replace(problem)
    torch.testing.assert_close(solve(again), solve(problem), rtol=0, atol=0)


def test_other_edges_give_another_target():
    problem = a_problem()
    stronger = replace(problem, edges=Edges(10 * problem.edges.down, 10 * problem.edges.right))
    assert float((solve(stronger) - solve(problem)).abs().max()) > 1e-3


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_set_up_serves_other_sources(backend):
    problem = a_problem()
    other = replace(problem, source=problem.source.flip(-1) * (problem.confidence > 0))
    matrix = set_up(problem, backend)
    kept = solve_problem(other, backend=backend, matrix=matrix).target
    torch.testing.assert_close(kept, solve_problem(other, backend=backend).target, rtol=0, atol=0)


def test_moves_to_another_precision():
    assert solve(a_problem().to(torch.float32)).dtype == torch.float32


def test_a_problem_stands_alone():
    with pytest.raises(InputError, match="a Problem holds the source"):
        solve(a_problem(), a_source(1, 1, *SOURCE_SIZE), SIZE)


def test_edges_need_a_source():
    with pytest.raises(InputError, match="need a source and a size"):
        solve(graph(SIZE))  # type: ignore[call-overload]


def test_what_single_precision_cannot_solve_is_solved_in_double():
    size, source_size = (48, 48), (6, 6)
    generator = torch.Generator().manual_seed(0)
    down, right = (
        torch.where(torch.rand(shape, generator=generator) < 0.5, 1.0, 1e-8) for shape in ((1, 47, 48), (1, 48, 47))
    )
    source = a_source(1, 1, *source_size, dtype=torch.float32)
    problem = Problem(Edges(down, right), Sampling(size, source_size), source)
    _, alone = differentiable_solve(problem, set_up(problem), 1e-4)
    assert alone.error > 1e-4
    found = solve_problem(problem, rtol=1e-4)
    assert found.target.dtype == torch.float32
    assert found.error <= 1e-4
