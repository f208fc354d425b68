"""The promise of `solve`: within rtol of the minimiser, in standard deviations of the source."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from graphsr import Edges, solve, solve_with_report
from tests.solver.dense_solve import (
    DTYPES,
    PATHS,
    PATHS_AND_SIZES,
    SIZES,
    a_source,
    error,
    graph,
    minimiser,
    noise,
    rounding,
)

on_both_paths = pytest.mark.parametrize("path", PATHS)
in_both_precisions = pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
everywhere = pytest.mark.parametrize(
    ("path", "size", "source_size"), PATHS_AND_SIZES.values(), ids=PATHS_AND_SIZES.keys()
)


def demand(edges, source, size, *, path, rtol=1e-4, **more):
    """The true error is within what the report says (rounding apart), and that within rtol."""
    target, report = solve_with_report(edges, source, size, path=path, rtol=rtol, **more)
    true = error(target, minimiser(edges, source, size, **more), source)
    assert target.dtype == source.dtype
    assert report.iterations >= 1
    assert true <= rtol
    assert true <= report.error + rounding(source)
    assert report.error <= rtol


@everywhere
@in_both_precisions
@pytest.mark.parametrize("sharp", [False, True], ids=["soft", "sharp"])
class TestGraphs:
    @pytest.mark.parametrize("weight", [1e-4, 1e-2, 10.0])
    def test_the_source_alone(self, size, source_size, weight, sharp, dtype, path):
        edges = graph(size, weight=weight, sharp=sharp, dtype=dtype)
        demand(edges, a_source(1, 1, *source_size, dtype=dtype), size, path=path)

    def test_everything_together(self, size, source_size, sharp, dtype, path):
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
            path=path,
        )


@everywhere
class TestTolerances:
    @pytest.mark.parametrize("rtol", [1e-3, 1e-6])
    @pytest.mark.parametrize("sharp", [False, True], ids=["soft", "sharp"])
    def test_are_kept_in_double_precision(self, size, source_size, sharp, rtol, path):
        demand(graph(size, sharp=sharp), a_source(1, 1, *source_size, holes=0.2), size, rtol=rtol, path=path)


@on_both_paths
class TestTerms:
    """Each argument alone, in single precision."""

    size, source_size = SIZES["not dividing"]

    def check(self, path, *, source=None, **more):
        source = a_source(1, 2, *self.source_size, dtype=torch.float32) if source is None else source
        demand(graph(self.size, sharp=True, dtype=torch.float32), source, self.size, path=path, **more)

    def noise(self, *shape, seed):
        return noise(*shape, seed=seed, dtype=torch.float32)

    def test_confidence(self, path):
        self.check(path, confidence=10 ** self.noise(1, 1, *self.source_size, seed=3))

    def test_confidence_of_each_channel(self, path):
        self.check(path, confidence=10 ** self.noise(1, 2, *self.source_size, seed=3))

    def test_holes(self, path):
        self.check(path, source=a_source(1, 2, *self.source_size, holes=0.6, dtype=torch.float32))

    def test_a_single_known_pixel_and_a_prior(self, path):
        source = a_source(1, 1, *self.source_size, dtype=torch.float32)
        confidence = torch.zeros_like(source)
        confidence[..., 2, 3] = 1
        confidence[..., 2, 4] = 0.5
        source[confidence == 0] = torch.nan
        self.check(
            path,
            source=source,
            confidence=confidence,
            prior=40 + 3 * self.noise(1, 1, *self.size, seed=4),
            prior_weight=1e-3,
        )

    def test_offsets(self, path):
        down, right = self.noise(1, 16, 19, seed=4), self.noise(1, 17, 18, seed=5)
        self.check(path, offsets=Edges(down, right))

    def test_offsets_of_each_channel(self, path):
        down, right = self.noise(1, 2, 16, 19, seed=4), self.noise(1, 2, 17, 18, seed=5)
        self.check(path, offsets=Edges(down, right))

    @pytest.mark.parametrize("weight", [1e-6, 1e-2, 100.0])
    def test_prior(self, weight, path):
        self.check(path, prior=40 + 3 * self.noise(1, 2, *self.size, seed=4), prior_weight=weight)

    def test_prior_weight_of_each_pixel(self, path):
        weight = self.noise(1, *self.size, seed=5).abs()
        weight[:, :8] = 0
        self.check(path, prior=40 + 3 * self.noise(1, 2, *self.size, seed=4), prior_weight=weight)


@on_both_paths
@settings(max_examples=25, deadline=None, derandomize=True)
@given(
    cells=st.tuples(st.integers(1, 6), st.integers(1, 6)).filter(lambda cells: cells != (1, 1)),
    more=st.tuples(st.integers(0, 14), st.integers(0, 14)),
    decade=st.floats(-4, 1),
    sharp=st.booleans(),
    seed=st.integers(0, 999),
)
def test_any_size_and_graph(path, cells, more, decade, sharp, seed):
    size = (cells[0] + more[0], cells[1] + more[1])
    demand(graph(size, weight=10**decade, sharp=sharp, seed=seed), a_source(1, 1, *cells, seed=seed), size, path=path)


@on_both_paths
@in_both_precisions
@pytest.mark.parametrize(
    ("size", "source_size"),
    [((1, 12), (1, 4)), ((1, 13), (1, 5)), ((12, 1), (3, 1)), ((2, 2), (1, 2)), ((2, 2), (2, 2)), ((4, 4), (4, 2))],
    ids=str,
)
def test_tiny_and_thin_targets(size, source_size, dtype, path):
    demand(graph(size, dtype=dtype), a_source(1, 1, *source_size, dtype=dtype), size, path=path)


@on_both_paths
@pytest.mark.parametrize("size", [(1, 1), (2, 2), (1, 5)], ids=str)
def test_one_source_pixel_is_spread_evenly(size, path):
    target = solve(graph(size), torch.full((1, 1, 1, 1), 7.5, dtype=torch.float64), size, path=path)
    # measured 0
    torch.testing.assert_close(target, torch.full((1, 1, *size), 7.5, dtype=torch.float64), rtol=1e-14, atol=0)
