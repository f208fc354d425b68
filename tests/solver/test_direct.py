"""Many channels are solved by a factorisation: it agrees with dense solves, and is left alone where it cannot."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
import pytest
import torch

from graphsr import Edges, Problem, Sampling, solve, threads
from graphsr.solver import set_up, solve_problem
from graphsr.solver.backends import direct
from graphsr.solver.backends.dissection import dissection
from graphsr.threads import on_threads
from tests.solver import sparse_solve
from tests.solver.dense_solve import DTYPES, SIZES, a_source, error, graph, minimiser, noise

MANY = 12
# Large enough for several blocks in either direction.
LARGER = {"factor 4": ((40, 52), (10, 13)), "factor 7.5": ((45, 30), (6, 4)), "factor 2.2": ((44, 33), (20, 15))}
BOXES = {name: sizes for name, sizes in SIZES.items() if name not in ("factor 1.3", "factor 4")}


def shared_holes(source: torch.Tensor) -> torch.Tensor:
    """The same source pixels missing in every channel, a corner among them."""
    holes = torch.zeros(source.shape[-2:], dtype=torch.bool)
    holes[-2:, -1] = True
    holes[1, 0] = True
    return torch.where(holes, torch.nan, source)


@pytest.mark.parametrize("exact", [False, True], ids=["soft", "exact"])
@pytest.mark.parametrize(("size", "source_size"), BOXES.values(), ids=BOXES)
def test_it_agrees_with_dense_solves(size, source_size, exact):
    edges, source = graph(size, sharp=True), shared_holes(a_source(1, MANY, *source_size))
    problem = Problem(edges, Sampling(size, source_size), source, exact=exact)
    assert set_up(problem, "numba").is_direct(MANY)
    found = solve_problem(problem, backend="numba")
    assert found.iterations == 1
    # To rounding: measured 2e-13 to 4e-10, the reference being no better.
    assert error(found.target, minimiser(edges, source, size, exact=exact), source) <= 1e-8


@pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
@pytest.mark.parametrize("exact", [False, True], ids=["soft", "exact"])
@pytest.mark.parametrize(("size", "source_size"), LARGER.values(), ids=LARGER)
def test_it_agrees_with_sparse_solves_of_many_blocks(size, source_size, exact, dtype):
    edges = graph(size, sharp=True, weight=1e-4, dtype=dtype)
    source = shared_holes(a_source(1, MANY, *source_size, dtype=dtype))
    problem = Problem(edges, Sampling(size, source_size), source, exact=exact)
    found = solve_problem(problem, backend="numba")
    assert found.iterations == 1
    for channel in (0, MANY - 1):
        expected = sparse_solve.minimiser(problem, channel=channel)
        difference = found.target[0, channel].double().numpy() - expected
        # The source has a standard deviation of 3 about 40, which single precision holds to 4e-6.
        assert np.sqrt(np.mean(difference**2)) <= (1e-5 if dtype == torch.float32 else 1e-7)


def test_on_how_many_threads_does_not_show(monkeypatch):
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 512)
    size, source_size = LARGER["factor 4"]
    problem = Problem(graph(size), Sampling(size, source_size), a_source(1, MANY, *source_size))
    with on_threads(1):
        expected = solve_problem(problem, backend="numba").target
    most: int = getattr(numba.config, "NUMBA_NUM_THREADS")  # noqa: B009  which has no types
    with on_threads(min(2, most)):
        found = solve_problem(problem, backend="numba").target
    torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)  # torch's matrix products may add in another order


def test_priors_offsets_and_confidence_count():
    size, source_size = SIZES["not dividing"]
    edges, source = graph(size), a_source(1, MANY, *source_size)
    confidence = 0.1 + torch.rand((1, 1, *source_size), dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    more: dict[str, Any] = {
        "confidence": confidence,
        "prior": source.mean() + noise(1, MANY, *size, seed=3),
        "prior_weight": noise(1, *size, seed=4).abs(),
        "offsets": Edges(noise(1, MANY, size[0] - 1, size[1], seed=5), noise(1, MANY, size[0], size[1] - 1, seed=6)),
    }
    target = solve(edges, source, size, backend="numba", **more)
    assert error(target, minimiser(edges, source, size, **more), source) <= 1e-8


def test_a_source_that_does_not_cover_the_target():
    size, source_size = (50, 60), (6, 7)
    sampling = Sampling(size, source_size, origin=(-3.2, 5.5), step=(7.5, 6.25))
    edges, source = graph(size), a_source(1, MANY, *source_size)
    problem = Problem(edges, sampling, source, prior_weight=1e-6)
    assert set_up(problem, "numba").is_direct(MANY)
    directly, iterated = (solve(problem, rtol=1e-9, backend=backend) for backend in ("numba", "torch"))
    assert error(directly, iterated.numpy(), source) <= 1e-7


def test_factor_1_has_a_diagonal_data_term():
    size = (40, 37)
    edges, source = graph(size, weight=1.0), a_source(1, MANY, *size)
    target = solve(edges, source, size, backend="numba")
    assert error(target, solve(edges, source, size, rtol=1e-9, backend="torch").numpy(), source) <= 1e-7


def test_blocks_of_channels_give_the_answer_of_all_at_once(monkeypatch):
    size, source_size = LARGER["factor 4"]
    edges, source = graph(size), a_source(1, 2 * 16 + 3, *source_size)
    together = solve(edges, source, size, backend="numba")
    monkeypatch.setattr("graphsr.solver.channels._PIXELS_AT_ONCE", 1)
    monkeypatch.setattr(direct, "_VALUES_AT_ONCE", 5 * size[0] * size[1])
    assert error(solve(edges, source, size, backend="numba"), together.numpy(), source) <= 1e-9


def test_what_rounding_has_spoilt_is_iterated(monkeypatch):
    size, source_size = SIZES["not dividing"]
    edges, source = graph(size), a_source(1, MANY, *source_size)
    monkeypatch.setattr(direct, "_MARGIN", 1e30)
    found = solve_problem(Problem(edges, Sampling(size, source_size), source), backend="numba")
    assert found.iterations > 1
    assert error(found.target, minimiser(edges, source, size), source) <= 1e-4


@pytest.mark.parametrize("exact", [False, True], ids=["soft", "exact"])
def test_it_is_used_where_the_iteration_fails(monkeypatch, exact):
    monkeypatch.setattr("graphsr.solver.iteration._MOST_ITERATIONS", 3)
    size, source_size = SIZES["not dividing"]
    edges, source = graph(size, sharp=True), a_source(1, 1, *source_size)
    target = solve(edges, source, size, exact=exact, backend="numba")
    assert error(target, minimiser(edges, source, size, exact=exact), source) <= 1e-8


def test_the_error_of_a_factorisation_is_measured():
    size, source_size = LARGER["factor 4"]
    edges, source = graph(size), a_source(1, MANY, *source_size)
    found = solve_problem(Problem(edges, Sampling(size, source_size), source), backend="numba")
    assert 0 < found.error <= 1e-8


def test_few_channels_and_shared_pixels_are_iterated():
    assert direct.is_direct(Sampling((40, 40), (10, 10)), MANY)
    assert not direct.is_direct(Sampling(*SIZES["factor 4"]), MANY)  # one block, which nothing around it holds
    assert not direct.is_direct(Sampling((40, 40), (10, 10)), 2)
    assert not direct.is_direct(Sampling((40, 40), (10, 10), footprint="bicubic"), MANY)
    assert not direct.is_direct(Sampling((40, 40), (30, 30)), MANY)
    assert not direct.is_direct(Sampling((400, 400), (4, 4)), MANY)  # blocks would be as large as source pixels


def test_every_pixel_is_eliminated_once():
    sampling = Sampling((100, 75), (20, 10))
    order = dissection(sampling.rows, sampling.columns)
    assert order is not None
    seen = torch.zeros(sampling.size, dtype=torch.int64)
    for top, bottom, left, right in order.blocks.inside.tolist():
        seen[top:bottom, left:right] += 1
    for joins in order.joins:
        for pixels in joins.pixels[:, : joins.eliminated]:
            seen.view(-1)[torch.from_numpy(order.line_pixels[pixels])] += 1
    assert bool((seen == 1).all())
