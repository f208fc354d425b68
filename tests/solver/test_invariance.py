"""What must not change the answer, or change it in a known way."""

from __future__ import annotations

import numba
import pytest
import torch

from graphsr import Edges, solve
from tests.solver.dense_solve import BACKENDS, BACKENDS_AND_SIZES, DTYPES, SIZES, a_source, error, graph, noise

RTOL = 1e-4
on_both_backends = pytest.mark.parametrize("backend", BACKENDS)
in_both_precisions = pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
everywhere = pytest.mark.parametrize(
    ("backend", "size", "source_size"), BACKENDS_AND_SIZES.values(), ids=BACKENDS_AND_SIZES.keys()
)


def alike(one: torch.Tensor, other: torch.Tensor, source: torch.Tensor, *, within: float = 2 * RTOL) -> bool:
    """Two answers, each within rtol of the same minimiser."""
    return error(one, other.detach().double().numpy(), source) <= within


@everywhere
@in_both_precisions
class TestValues:
    def test_a_constant_source_gives_that_constant(self, size, source_size, dtype, backend):
        source = torch.full((1, 1, *source_size), 1234.5, dtype=dtype)
        target = solve(graph(size, sharp=True, dtype=dtype), source, size, backend=backend)
        # measured 0 in both precisions
        torch.testing.assert_close(target, torch.full_like(target, 1234.5), rtol=1e-6, atol=0)

    def test_a_source_plus_a_constant_moves_the_target_alike(self, size, source_size, dtype, backend):
        edges, source = graph(size, dtype=dtype), a_source(1, 1, *source_size, holes=0.2, dtype=dtype)
        moved = solve(edges, source + 300, size, backend=backend) - 300
        # float32 holds 340 to 2e-5, a hundred thousandth of this source's deviation of 3
        assert alike(moved, solve(edges, source, size, backend=backend), source)

    @pytest.mark.slow
    @pytest.mark.parametrize("scale", [-1.0, 1e-3, 1e6])
    def test_a_source_times_a_factor_scales_the_target_alike(self, size, source_size, scale, dtype, backend):
        edges, source = graph(size, dtype=dtype), a_source(1, 1, *source_size, holes=0.2, dtype=dtype)
        scaled = solve(edges, source * scale, size, backend=backend) / scale
        assert alike(scaled, solve(edges, source, size, backend=backend), source)


@everywhere
class TestStart:
    @pytest.mark.slow
    @pytest.mark.parametrize("exact", [False, True], ids=["soft", "exact"])
    def test_does_not_change_the_answer(self, size, source_size, exact, backend):
        edges, source = graph(size, sharp=True), a_source(1, 2, *source_size)
        usual = solve(edges, source, size, exact=exact, backend=backend)
        for start in (torch.zeros(1, 2, *size).double(), 40 + 30 * noise(1, 2, *size, seed=3), usual):
            assert alike(solve(edges, source, size, exact=exact, start=start, backend=backend), usual, source)


@on_both_backends
class TestSymmetry:
    size, source_size = SIZES["not dividing"]

    @pytest.mark.parametrize("axis", [-2, -1])
    def test_a_flipped_problem_has_the_flipped_answer(self, axis, backend):
        edges, source = graph(self.size), a_source(1, 1, *self.source_size)
        flipped = solve(
            Edges(edges.down.flip(axis), edges.right.flip(axis)), source.flip(axis), self.size, backend=backend
        )
        assert alike(flipped.flip(axis), solve(edges, source, self.size, backend=backend), source)

    def test_a_transposed_problem_has_the_transposed_answer(self, backend):
        edges, source = graph(self.size), a_source(1, 1, *self.source_size)
        turned = solve(Edges(edges.right.mT, edges.down.mT), source.mT, self.size[::-1], backend=backend)
        assert alike(turned.mT, solve(edges, source, self.size, backend=backend), source)

    def test_memory_layout_does_not_matter(self, backend):
        edges, source = graph(self.size), a_source(1, 2, *self.source_size)
        strided = Edges(edges.down.mT.contiguous().mT, edges.right.mT.contiguous().mT)
        channels_last = source.to(memory_format=torch.channels_last)
        usual = solve(edges, source, self.size, backend=backend)
        assert alike(solve(strided, channels_last, self.size, backend=backend), usual, source, within=1e-12)


@pytest.mark.slow
@on_both_backends
@in_both_precisions
@pytest.mark.parametrize("exact", [False, True], ids=["soft", "exact"])
def test_two_runs_give_the_same_bits(exact, dtype, backend):
    size, source_size = (45, 39), (15, 13)  # several strips, so that every thread has work
    numba.set_num_threads(numba.config.NUMBA_NUM_THREADS)  # type: ignore[attr-defined]
    edges, source = graph(size, sharp=True, dtype=dtype), a_source(1, 2, *source_size, dtype=dtype)
    first, second = (solve(edges, source, size, exact=exact, backend=backend) for _ in range(2))
    assert torch.equal(first, second)


@pytest.mark.slow
@in_both_precisions
@pytest.mark.parametrize(("size", "source_size"), SIZES.values(), ids=SIZES.keys())
@pytest.mark.parametrize("exact", [False, True], ids=["soft", "exact"])
def test_the_two_backends_agree(size, source_size, exact, dtype):
    edges, source = graph(size, sharp=True, dtype=dtype), a_source(1, 2, *source_size, holes=0.2, dtype=dtype)
    numba_target, torch_target = (solve(edges, source, size, exact=exact, backend=backend) for backend in BACKENDS)
    assert alike(numba_target, torch_target, source)


def test_auto_is_numba_on_the_cpu():
    size, source_size = SIZES["factor 4"]
    edges, source = graph(size), a_source(1, 1, *source_size)
    assert torch.equal(solve(edges, source, size), solve(edges, source, size, backend="numba"))
