"""Exact fidelity: the target averages back to the source, and is the best of those that do."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from graphsr import Edges, Sampling, solve
from tests.solver.dense_solve import (
    BACKENDS,
    BACKENDS_AND_SIZES,
    DTYPES,
    SIZES,
    a_source,
    error,
    graph,
    minimiser,
    noise,
    rounding,
    solution,
)

pytestmark = pytest.mark.slow
on_both_backends = pytest.mark.parametrize("backend", BACKENDS)
in_both_precisions = pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
everywhere = pytest.mark.parametrize(
    ("backend", "size", "source_size"), BACKENDS_AND_SIZES.values(), ids=BACKENDS_AND_SIZES.keys()
)
soft_and_sharp = pytest.mark.parametrize("sharp", [False, True], ids=["soft", "sharp"])


@everywhere
@in_both_precisions
@soft_and_sharp
class TestExact:
    @pytest.mark.slow
    def test_averages_back_to_rounding(self, size, source_size, sharp, dtype, backend):
        source = a_source(1, 2, *source_size, holes=0.2, dtype=dtype)
        target = solve(graph(size, sharp=sharp, dtype=dtype), source, size, exact=True, backend=backend)
        known = torch.isfinite(source)
        back = Sampling(size, source_size)(target.double())[known]
        bits = 1e-6 if dtype == torch.float32 else 1e-12
        torch.testing.assert_close(back, source.double()[known], rtol=bits, atol=0)

    @pytest.mark.slow
    def test_is_the_constrained_minimiser(self, size, source_size, sharp, dtype, backend):
        edges = graph(size, sharp=sharp, dtype=dtype)
        source = a_source(1, 2, *source_size, holes=0.2, dtype=dtype)
        found = solution(edges, source, size, exact=True, backend=backend)
        true = error(found.target, minimiser(edges, source, size, exact=True), source)
        assert found.error <= 1e-4
        assert true <= 1e-4
        assert true <= found.error + rounding(source)

    def test_takes_offsets_and_a_prior(self, size, source_size, sharp, dtype, backend):
        edges, source = graph(size, sharp=sharp, dtype=dtype), a_source(1, 1, *source_size, dtype=dtype)
        more: dict[str, Any] = {
            "offsets": Edges(
                noise(1, size[0] - 1, size[1], seed=6, dtype=dtype),
                noise(1, size[0], size[1] - 1, seed=7, dtype=dtype),
            ),
            "prior": 40 + noise(1, 1, *size, seed=8, dtype=dtype),
            "prior_weight": 1e-3 * noise(1, *size, seed=9, dtype=dtype).abs(),
        }
        found = solution(edges, source, size, exact=True, backend=backend, **more)
        true = error(found.target, minimiser(edges, source, size, exact=True, **more), source)
        assert found.error <= 1e-4
        assert true <= 1e-4
        assert true <= found.error + rounding(source)


@on_both_backends
@in_both_precisions
class TestFactors:
    def test_factor_1_returns_the_source(self, dtype, backend):
        source = a_source(1, 2, 6, 5, dtype=dtype)
        target = solve(graph((6, 5), dtype=dtype), source, (6, 5), exact=True, backend=backend)
        # measured 1e-7 (float32): the source is brought to its own unit and back
        torch.testing.assert_close(target, source, rtol=4 * torch.finfo(dtype).eps, atol=0)

    def test_factor_1_with_a_hole_keeps_the_known_pixels(self, dtype, backend):
        source = a_source(1, 1, 6, 5, holes=0.4, dtype=dtype)
        edges = graph((6, 5), dtype=dtype)
        target = solve(edges, source, (6, 5), exact=True, backend=backend)
        known = torch.isfinite(source)
        torch.testing.assert_close(target[known], source[known], rtol=4 * torch.finfo(dtype).eps, atol=0)
        assert error(target, minimiser(edges, source, (6, 5), exact=True), source) <= 1e-4

    @pytest.mark.parametrize(("size", "source_size"), [((6, 12), (6, 4)), ((12, 6), (5, 6))])
    def test_one_axis_may_have_factor_1(self, size, source_size, dtype, backend):
        edges, source = graph(size, dtype=dtype), a_source(1, 1, *source_size, dtype=dtype)
        target = solve(edges, source, size, exact=True, backend=backend)
        assert error(target, minimiser(edges, source, size, exact=True), source) <= 1e-4


@on_both_backends
def test_confidence_only_says_which_pixels_are_known(backend):
    size, source_size = SIZES["not dividing"]
    edges, source = graph(size), a_source(1, 1, *source_size)
    confidence = noise(1, 1, *source_size, seed=2).abs() + 0.1
    confidence[0, 0, 1:3, 2] = 0
    weighed = solve(edges, source, size, confidence=confidence, exact=True, backend=backend)
    plain = solve(edges, source, size, confidence=(confidence > 0).double(), exact=True, backend=backend)
    # measured 0
    torch.testing.assert_close(weighed, plain, rtol=1e-12, atol=0)


@on_both_backends
def test_a_great_confidence_comes_near_exact(backend):
    size, source_size = SIZES["not dividing"]
    edges, source = graph(size, weight=1e-3), a_source(1, 1, *source_size)
    exact = solve(edges, source, size, exact=True, backend=backend)
    sure = solve(edges, source, size, confidence=torch.full_like(source, 1e6), backend=backend)
    assert error(sure, exact.numpy(), source) <= 2e-4
