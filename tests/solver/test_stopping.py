"""The estimate that a solve stops on."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
import torch

from graphsr.solver.stopping import SAFETY, estimate, smallest_ritz_value
from tests.solver.dense_solve import BACKENDS, a_source, error, graph, minimiser, rounding, solution


def conjugate_gradients(matrix: np.ndarray, right: np.ndarray, count: int):
    """The textbook iteration: coefficients, lengths of the steps and of the error before each."""
    answer = np.linalg.solve(matrix, right)
    x, r = np.zeros_like(right), right.copy()
    p, gamma = r.copy(), r @ r
    alphas, betas, steps, errors = [], [], [], []
    for _ in range(count):
        q = matrix @ p
        alphas.append(gamma / (p @ q))
        errors.append(np.linalg.norm(answer - x))
        steps.append(alphas[-1] * np.linalg.norm(p))
        x, r = x + alphas[-1] * p, r - alphas[-1] * q
        betas.append(r @ r / gamma)
        gamma = r @ r
        p = r + betas[-1] * p
    return np.array(alphas), np.array(betas), steps, errors


class TestSmallestRitzValue:
    def test_of_one_step_is_the_rayleigh_quotient(self):
        matrix, right = np.diag([0.2, 1.0]), np.array([1.0, 1.0])
        alphas, betas, *_ = conjugate_gradients(matrix, right, 1)
        # bisected 40 times: 1e-12
        assert smallest_ritz_value(alphas, betas, 1) == pytest.approx(0.6, rel=1e-10)

    def test_of_all_steps_is_the_smallest_eigenvalue(self):
        matrix, right = np.diag([0.013, 0.2, 0.5, 0.9, 1.0]), np.ones(5)
        alphas, betas, *_ = conjugate_gradients(matrix, right, 5)
        assert smallest_ritz_value(alphas, betas, 5) == pytest.approx(0.013, rel=1e-8)

    def test_comes_down_to_the_smallest_eigenvalue(self):
        matrix, right = np.diag(np.linspace(0.01, 1, 60)), np.ones(60)
        alphas, betas, *_ = conjugate_gradients(matrix, right, 30)
        values = [smallest_ritz_value(alphas, betas, n) for n in range(1, 31)]
        assert all(later <= earlier for earlier, later in pairwise(values))
        assert 0.01 * (1 - 1e-8) <= values[-1] <= 0.0101

    def test_uses_only_the_coefficients_counted(self):
        alphas, betas = np.array([2.0, 3.0, np.nan]), np.array([0.1, np.nan, np.nan])
        assert smallest_ritz_value(alphas, betas, 2) == smallest_ritz_value(alphas[:2].copy(), betas[:2].copy(), 2)


class TestEstimate:
    def test_is_the_step_if_the_preconditioner_is_perfect(self):
        assert estimate(0.3, 0.1, 1.0) == pytest.approx(0.3 * SAFETY)

    def test_looks_at_the_larger_of_the_last_two_steps(self):
        assert estimate(0.1, 0.3, 0.25) == estimate(0.3, 0.1, 0.25)

    def test_grows_as_convergence_slows(self):
        # (1 + t) / (2 t) with t = 0.01
        assert estimate(1.0, 1.0, 1e-4) == pytest.approx(50.5 * SAFETY)

    def test_bounds_the_error_of_conjugate_gradients(self):
        matrix, right = np.diag(np.linspace(0.01, 1, 200)), np.ones(200)
        alphas, betas, steps, errors = conjugate_gradients(matrix, right, 60)
        for n in range(20, 60):
            slowest = smallest_ritz_value(alphas, betas, n)
            assert errors[n] <= estimate(steps[n - 1], steps[n - 2], slowest)


@pytest.mark.slow
@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
@pytest.mark.parametrize("exact", [False, True], ids=["soft", "exact"])
@pytest.mark.parametrize("weight", [1e-4, 1e-1, 10.0])
@pytest.mark.parametrize("seed", range(2))
def test_the_estimate_of_a_report_is_at_least_the_true_error(seed, weight, exact, dtype, backend):
    size, source_size = ((20, 24), (5, 8)) if seed % 2 else ((21, 19), (5, 6))
    edges = graph(size, weight=weight, sharp=seed == 1, seed=seed, dtype=dtype)
    source = a_source(1, 1, *source_size, seed=seed, dtype=dtype)
    found = solution(edges, source, size, exact=exact, rtol=1e-3, backend=backend)
    true = error(found.target, minimiser(edges, source, size, exact=exact), source)
    assert true <= found.error + rounding(source)
    assert found.error <= 1e-3


@pytest.mark.parametrize("backend", BACKENDS)
def test_a_smaller_rtol_takes_more_iterations_and_gives_a_smaller_error(backend):
    size, source_size = (21, 19), (5, 6)
    edges, source = graph(size, sharp=True), a_source(1, 1, *source_size)
    expected = minimiser(edges, source, size)
    runs = [solution(edges, source, size, rtol=rtol, backend=backend) for rtol in (1e-2, 1e-5, 1e-8)]
    counts = [found.iterations for found in runs]
    errors = [error(found.target, expected, source) for found in runs]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1]
    assert errors == sorted(errors, reverse=True)
    assert all(found.seconds > 0 for found in runs)
