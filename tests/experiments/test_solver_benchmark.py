"""The benchmark of the solve: its recipe is right, and the command measures everything it promises."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from graphsr.cli import app
from graphsr.errors import InputError
from graphsr.experiments.benchmarks.published_recipe import Recipe, averaging_matrix, direct_solve, laplacian_matrix
from graphsr.experiments.benchmarks.solver import Goal
from graphsr.experiments.benchmarks.solver_comparison import compare, error_against
from graphsr.experiments.benchmarks.solver_problems import make_problem, pair_from_files, synthetic_pair, tiled
from graphsr.sampling import Sampling
from graphsr.solver import Problem, solve


@pytest.fixture(scope="module")
def problem() -> Problem:
    return make_problem(synthetic_pair(3, (32, 32)), 4.0, mu=1.0, weight=0.1)


def test_the_matrices_are_those_of_the_energy(problem: Problem) -> None:
    y = torch.randn(32, 32, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    step_down, step_right = y[:-1] - y[1:], y[:, :-1] - y[:, 1:]
    energy = (problem.edges.down[0] * step_down**2).sum() + (problem.edges.right[0] * step_right**2).sum()
    flat = y.numpy().ravel()
    assert flat @ (laplacian_matrix(problem.edges) @ flat) == pytest.approx(float(energy), rel=1e-12)
    uneven = Sampling((32, 32), (9, 5))
    np.testing.assert_allclose(averaging_matrix(uneven) @ flat, uneven(y).numpy().ravel(), atol=1e-14)


def test_the_direct_solve_makes_the_gradient_of_the_energy_vanish(problem: Problem) -> None:
    source = problem.source[0, 0].numpy()
    answer = direct_solve(problem.edges, source, problem.sampling).ravel()
    averaging = averaging_matrix(problem.sampling)
    slope = laplacian_matrix(problem.edges) @ answer + averaging.T @ (averaging @ answer - source.ravel())
    np.testing.assert_allclose(slope, 0, atol=1e-12)


def test_the_recipe_and_our_solve_agree_with_the_direct_solve(problem: Problem) -> None:
    source = problem.source[0, 0].numpy()
    truth = direct_solve(problem.edges, source, problem.sampling)
    run = Recipe.of(problem.edges, source, problem.sampling).run()
    assert run.converged
    assert run.dtype == "float32"
    assert error_against(truth, run.target) < 1e-4  # measured: 6e-6
    ours = solve(problem.edges, problem.source, problem.sampling.size, rtol=1e-5)
    assert error_against(truth, ours[0, 0].numpy()) < 1e-5  # measured: 3e-7


def test_sources_of_two_factors_can_share_a_graph() -> None:
    pair = synthetic_pair(3, (32, 32))
    fine, coarse = (make_problem(pair, factor, 0.1, 1.0, graph_factor=8.0) for factor in (4.0, 16.0))
    assert torch.equal(fine.edges.down, coarse.edges.down)
    assert fine.source.shape[-2:] == (8, 8)
    assert coarse.source.shape[-2:] == (2, 2)


def test_tiles_are_mirrored_so_that_they_meet_without_a_seam() -> None:
    pair = synthetic_pair(3, (32, 32))
    large = tiled(pair, 3)
    assert large.size == (96, 96)
    for border in (31, 63):
        assert np.array_equal(large.target[border], large.target[border + 1])
        assert np.array_equal(large.guide[:, border], large.guide[:, border + 1])


def test_a_row_is_no_less_accurate_than_the_recipe() -> None:
    row = compare(synthetic_pair(3, (32, 32)), 4.0, "soft", 1e-2, repeats=1)
    assert row.no_less_accurate
    assert row.speedup == row.recipe_seconds / row.seconds


@pytest.mark.parametrize(
    ("measured", "at_least", "fulfilled", "met"),
    [(2.0, True, True, True), (2.0, False, True, False), (2.0, True, False, False), (None, True, True, None)],
)
def test_a_goal_missed_is_never_called_met(
    measured: float | None, at_least: bool, fulfilled: bool, met: bool | None
) -> None:
    assert Goal("faster", 1.5, at_least, "x", measured, "", fulfilled).met is met


def test_a_pair_of_two_sizes_is_refused(tmp_path: Path) -> None:
    np.save(tmp_path / "guide.npy", np.zeros((40, 40, 3), np.float32))
    np.save(tmp_path / "truth.npy", np.zeros((20, 20), np.float32))
    with pytest.raises(InputError, match=r"truth\.npy: .* but the guide"):
        pair_from_files(tmp_path / "guide.npy", tmp_path / "truth.npy", (16, 16))


@pytest.mark.slow
def test_the_command_measures_everything_and_writes_it_down(tmp_path: Path) -> None:
    scene = synthetic_pair(5, (48, 40))
    np.save(tmp_path / "guide.npy", scene.guide)
    np.save(tmp_path / "truth.npy", scene.target)
    files = [str(tmp_path / name) for name in ("guide.npy", "truth.npy")]
    small = ["--quick", "--size", "32", "--repeats", "1"]
    result = CliRunner().invoke(app, ["benchmark", "solver", *files, *small, "--json", str(tmp_path / "figures.json")])
    assert result.exit_code == 0, result.output
    figures = json.loads((tmp_path / "figures.json").read_text())
    assert set(figures) == {"conditions", "settings", "comparisons", "ratios", "memory_bytes_per_pixel", "goals"}
    # Two pairs, three factors, two graphs.
    assert len(figures["comparisons"]) == 2 * 3 * 2
    assert {ratio["name"].split()[0] for ratio in figures["ratios"]} >= {"x16", "time", "gradient", "x7.5"}
    assert len(figures["goals"]) == 3 + 5
    for goal in figures["goals"]:
        assert goal["name"] in result.output
        assert {"limit", "measured", "met", "case"} <= set(goal)


def test_a_guide_without_its_truth_is_told_in_one_line() -> None:
    result = CliRunner().invoke(app, ["benchmark", "solver", "guide.png"])
    assert result.exit_code == 2
    assert "files come in pairs" in result.stderr
