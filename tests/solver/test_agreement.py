"""The promise of `solve`: within rtol of the minimiser, in standard deviations of the source."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphsr import Edges, solve
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

on_both_backends = pytest.mark.parametrize("backend", BACKENDS)
in_both_precisions = pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
everywhere = pytest.mark.parametrize(
    ("backend", "size", "source_size"), BACKENDS_AND_SIZES.values(), ids=BACKENDS_AND_SIZES.keys()
)


def demand(edges, source, size, *, backend, rtol=1e-4, **more):
    """The true error is within what the report says (rounding apart), and that within rtol."""
    found = solution(edges, source, size, backend=backend, rtol=rtol, **more)
    true = error(found.target, minimiser(edges, source, size, **more), source)
    assert found.target.dtype == source.dtype
    assert found.iterations >= 1
    assert true <= rtol
    assert true <= found.error + rounding(source)
    assert found.error <= rtol


@everywhere
@in_both_precisions
@pytest.mark.parametrize("sharp", [False, True], ids=["soft", "sharp"])
class TestGraphs:
    @pytest.mark.slow
    @pytest.mark.parametrize("weight", [1e-4, 1e-2, 10.0])
    def test_the_source_alone(self, size, source_size, weight, sharp, dtype, backend):
        edges = graph(size, weight=weight, sharp=sharp, dtype=dtype)
        demand(edges, a_source(1, 1, *source_size, dtype=dtype), size, backend=backend)

    def test_everything_together(self, size, source_size, sharp, dtype, backend):
        source = a_source(2, 2, *source_size, holes=0.3, dtype=dtype)
        demand(
            graph(size, sharp=sharp, batch=2, dtype=dtype),
            source,
            size,
            confidence=(0.2 + noise(2, 1, *source_size, seed=5, dtype=dtype).abs()),
            offsets=Edges(
                noise(2, size[0] - 1, size[1], seed=6, dtype=dtype),
                noise(2, size[0], size[1] - 1, seed=7, dtype=dtype),
            ),
            prior=40 + noise(2, 2, *size, seed=8, dtype=dtype),
            prior_weight=1e-3 * noise(2, *size, seed=9, dtype=dtype).abs(),
            backend=backend,
        )


@everywhere
class TestTolerances:
    @pytest.mark.slow
    @pytest.mark.parametrize("rtol", [1e-3, 1e-6])
    @pytest.mark.parametrize("sharp", [False, True], ids=["soft", "sharp"])
    @pytest.mark.slow
    def test_are_kept_in_double_precision(self, size, source_size, sharp, rtol, backend):
        demand(graph(size, sharp=sharp), a_source(1, 1, *source_size, holes=0.2), size, rtol=rtol, backend=backend)


@on_both_backends
class TestTerms:
    """Each argument alone, in single precision."""

    size, source_size = SIZES["not dividing"]

    def check(self, backend, *, source=None, **more):
        source = a_source(1, 2, *self.source_size, dtype=torch.float32) if source is None else source
        demand(graph(self.size, sharp=True, dtype=torch.float32), source, self.size, backend=backend, **more)

    def noise(self, *shape, seed):
        return noise(*shape, seed=seed, dtype=torch.float32)

    def test_confidence(self, backend):
        self.check(backend, confidence=10 ** self.noise(1, 1, *self.source_size, seed=3))

    def test_confidence_of_each_channel(self, backend):
        self.check(backend, confidence=10 ** self.noise(1, 2, *self.source_size, seed=3))

    def test_holes(self, backend):
        self.check(backend, source=a_source(1, 2, *self.source_size, holes=0.6, dtype=torch.float32))

    def test_a_single_known_pixel_and_a_prior(self, backend):
        source = a_source(1, 1, *self.source_size, dtype=torch.float32)
        confidence = torch.zeros_like(source)
        confidence[..., 2, 3] = 1
        confidence[..., 2, 4] = 0.5
        source[confidence == 0] = torch.nan
        self.check(
            backend,
            source=source,
            confidence=confidence,
            prior=40 + 3 * self.noise(1, 1, *self.size, seed=4),
            prior_weight=1e-3,
        )

    def test_offsets(self, backend):
        down, right = self.noise(1, 16, 19, seed=4), self.noise(1, 17, 18, seed=5)
        self.check(backend, offsets=Edges(down, right))

    def test_offsets_of_each_channel(self, backend):
        down, right = self.noise(1, 2, 16, 19, seed=4), self.noise(1, 2, 17, 18, seed=5)
        self.check(backend, offsets=Edges(down, right))

    @pytest.mark.parametrize("weight", [1e-6, 1e-2, 100.0])
    def test_prior(self, weight, backend):
        self.check(backend, prior=40 + 3 * self.noise(1, 2, *self.size, seed=4), prior_weight=weight)

    def test_prior_weight_of_each_pixel(self, backend):
        weight = self.noise(1, *self.size, seed=5).abs()
        weight[:, :8] = 0
        self.check(backend, prior=40 + 3 * self.noise(1, 2, *self.size, seed=4), prior_weight=weight)


@pytest.mark.slow
@on_both_backends
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    cells=st.tuples(st.integers(1, 6), st.integers(1, 6)).filter(lambda cells: cells != (1, 1)),
    more=st.tuples(st.integers(0, 14), st.integers(0, 14)),
    decade=st.floats(-4, 1),
    sharp=st.booleans(),
    seed=st.integers(0, 999),
)
def test_any_size_and_graph(backend, cells, more, decade, sharp, seed):
    size = (cells[0] + more[0], cells[1] + more[1])
    demand(
        graph(size, weight=10**decade, sharp=sharp, seed=seed), a_source(1, 1, *cells, seed=seed), size, backend=backend
    )


@on_both_backends
@in_both_precisions
@pytest.mark.parametrize(
    ("size", "source_size"),
    [((1, 12), (1, 4)), ((1, 13), (1, 5)), ((12, 1), (3, 1)), ((2, 2), (1, 2)), ((2, 2), (2, 2)), ((4, 4), (4, 2))],
    ids=str,
)
def test_tiny_and_thin_targets(size, source_size, dtype, backend):
    demand(graph(size, dtype=dtype), a_source(1, 1, *source_size, dtype=dtype), size, backend=backend)


@on_both_backends
@pytest.mark.parametrize("size", [(1, 1), (2, 2), (1, 5)], ids=str)
def test_one_source_pixel_is_spread_evenly(size, backend):
    target = solve(graph(size), torch.full((1, 1, 1, 1), 7.5, dtype=torch.float64), size, backend=backend)
    # measured 0
    torch.testing.assert_close(target, torch.full((1, 1, *size), 7.5, dtype=torch.float64), rtol=1e-14, atol=0)
