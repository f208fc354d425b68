"""An observer hears how far a solve is, and can end it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

import graphsr
from graphsr.solver.progress import EVERY, Meter, Part, observed, part


def solve() -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    edges = graphsr.affinity(torch.rand(1, 3, 64, 64, generator=generator), 0.1, weight=1e-3)
    return graphsr.solve(edges, torch.rand(1, 1, 8, 8, generator=generator), (64, 64))


def test_iterations_and_errors_are_told() -> None:
    heard: list[tuple[int, float]] = []
    with observed(lambda iterations, error, _: heard.append((iterations, error))):
        watched = solve()
    assert [iterations for iterations, _ in heard][:3] == [0, EVERY, 2 * EVERY]
    assert heard[-2][1] < heard[1][1] < math.inf
    assert heard[0] == heard[-1] == (0, math.inf)  # where it begins and where it ends
    assert torch.equal(watched, solve())


def test_an_error_of_the_observer_ends_the_solve() -> None:
    class Enough(Exception):
        pass

    def observer(iterations: int, error: float, part: Part) -> None:
        raise Enough

    with pytest.raises(Enough), observed(observer):
        solve()
    solve()  # and nobody is told any more


def test_parts_of_parts_are_parts_of_all() -> None:
    heard: list[Part] = []
    with observed(lambda iterations, error, part: heard.append(part)), part(0.5, 1.0, "second half"):
        with part(0.0, 0.5):
            pass
        with part(0.5, 1.0, "last quarter"):
            pass
    assert heard == [
        Part(0.5, 1.0, "second half"),
        Part(0.5, 0.75, "second half"),
        Part(0.75, 0.75, "second half"),
        Part(0.75, 1.0, "last quarter"),
        Part(1.0, 1.0, "last quarter"),
        Part(1.0, 1.0, "second half"),
    ]


class TestMeter:
    def test_it_shows_the_way_of_the_error_to_its_bound(self) -> None:
        meter = Meter()
        assert meter.fraction is None
        meter.update(8, 1000.0, Part())
        assert meter.fraction == 0
        meter.update(16, 10.0, Part())
        assert meter.fraction == pytest.approx(2 / 3)
        assert meter.words == "solving: iteration 16"
        meter.update(24, 0.5, Part())
        assert meter.fraction == 1

    def test_a_part_begins_and_ends_where_it_says(self) -> None:
        meter, draws = Meter(), Part(0.4, 0.8, "draws")
        meter.update(0, math.inf, draws)
        assert meter.fraction == 0.4
        assert meter.words == "draws"
        meter.update(8, 100.0, draws)
        meter.update(16, 10.0, draws)
        assert meter.fraction == pytest.approx(0.6)
        meter.update(24, 1.0, draws)
        assert meter.fraction == pytest.approx(0.8)

    def test_a_further_solve_goes_on_where_the_bar_stands(self) -> None:
        meter = Meter()
        meter.update(8, 100.0, Part())
        meter.update(16, 10.0, Part())
        meter.update(8, 100.0, Part())
        assert meter.fraction == 0.5
        meter.update(16, 10.0, Part())
        assert meter.fraction == 0.75

    def test_an_error_that_grows_does_not_move_it_back(self) -> None:
        meter = Meter()
        meter.update(8, 100.0, Part())
        meter.update(16, 10.0, Part())
        meter.update(24, 50.0, Part())
        assert meter.fraction == 0.5


@pytest.mark.parametrize("options", [{}, {"noise": "auto", "robust": True}, {"align": "shift"}, {"confidence": 0.5}])
def test_an_uncertainty_is_told_from_the_target_to_the_last_draw(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    meter, seen = Meter(), list[tuple[str, float]]()

    def observer(iterations: int, error: float, part: Part) -> None:
        meter.update(iterations, error, part)
        assert meter.fraction is not None
        seen.append((part.doing, meter.fraction))

    guide, source = rng.random((256, 256, 3)), rng.random((32, 32, 2))
    with observed(observer):
        graphsr.upsample(guide, source, model="colour", uncertainty=True, **options)
    shares = [share for _, share in seen]
    assert shares == sorted(shares)
    first = next(n for n, (doing, _) in enumerate(seen) if doing.startswith("uncertainty"))
    assert all(doing.startswith("uncertainty") for doing, _ in seen[first:])
    assert seen[first - 1][0] == "target"
    assert 0.4 < shares[first] < shares[-1]
    assert len(set(shares[first:])) > 3  # it is told on the way, not at the end alone
    assert shares[-1] == pytest.approx(1)
