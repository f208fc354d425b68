"""An observer hears how far a solve is, and can end it."""

from __future__ import annotations

import pytest
import torch

import graphsr
from graphsr.solver.progress import EVERY, observed


def solve() -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    edges = graphsr.affinity(torch.rand(1, 3, 64, 64, generator=generator), 0.1, weight=1e-3)
    return graphsr.solve(edges, torch.rand(1, 1, 8, 8, generator=generator), (64, 64))


def test_iterations_and_errors_are_told() -> None:
    heard: list[tuple[int, float]] = []
    with observed(lambda iterations, error: heard.append((iterations, error))):
        watched = solve()
    assert [iterations for iterations, _ in heard][:2] == [EVERY, 2 * EVERY]
    assert heard[-1][1] < heard[0][1]
    assert torch.equal(watched, solve())


def test_an_error_of_the_observer_ends_the_solve() -> None:
    class Enough(Exception):
        pass

    def observer(iterations: int, error: float) -> None:
        raise Enough

    with pytest.raises(Enough), observed(observer):
        solve()
    solve()  # and nobody is told any more
