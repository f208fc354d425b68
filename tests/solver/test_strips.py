"""An image is solved in strips of rows: on how many threads, and in how many strips, does not show."""

from __future__ import annotations

import numba
import pytest
import torch

import graphsr
from graphsr import threads
from graphsr.solver.backends import projection_numba, relaxation_numba
from graphsr.threads import on_threads, running_kernels


# Whole factors, pixels that straddle source pixels, and source pixels that share target pixels; whole factors with a
# hole that is wide enough for levels and lies in the strips of both threads.
@pytest.mark.parametrize(
    ("source_size", "footprint", "hole"),
    [((12, 10), "box", 0), ((9, 11), "box", 0), ((12, 10), "bicubic", 0), ((12, 10), "box", 7)],
)
@pytest.mark.parametrize("exact", [False, True])
def test_strips_on_threads_solve_what_one_does(source_size, footprint, hole, exact, monkeypatch):
    generator = torch.Generator().manual_seed(0)
    edges = graphsr.affinity(torch.rand(1, 3, 96, 80, generator=generator), 0.5, weight=1e-2)
    source = torch.rand(1, 1, *source_size, generator=generator)
    source[..., 2 : 2 + hole, 2 : 2 + hole] = torch.nan
    sampling = graphsr.Sampling((96, 80), source_size, footprint=footprint)

    def forget_strips():
        relaxation_numba._cells.cache_clear()
        projection_numba._tables.cache_clear()

    def solve():
        forget_strips()
        return graphsr.solve(edges, source, sampling, exact=exact, backend="numba")

    with on_threads(1):
        expected = solve()
    for backend in (projection_numba, relaxation_numba):
        monkeypatch.setattr(backend, "_STRIP_PIXELS", 512)  # fifteen strips
    monkeypatch.setattr(threads, "WORTH_A_THREAD", 512)
    most: int = getattr(numba.config, "NUMBA_NUM_THREADS")  # noqa: B009  which has no types
    with on_threads(min(2, most)):
        found = solve()
    forget_strips()
    # Sums are added in another order.
    torch.testing.assert_close(found, expected, rtol=0, atol=5e-5)


def test_a_small_image_is_not_worth_more_threads():
    worth = threads.WORTH_A_THREAD
    most: int = getattr(numba.config, "NUMBA_NUM_THREADS")  # noqa: B009
    with on_threads(most):
        for pixels, expected in ((1, 1), (worth, 1), (2 * worth, min(2, most)), (1000 * worth, most)):
            with running_kernels(pixels):
                assert numba.get_num_threads() == expected
            assert numba.get_num_threads() == most
