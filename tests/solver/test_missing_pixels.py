"""Holes in the source."""

from __future__ import annotations

import pytest
import torch

from graphsr import solve
from tests.solver.dense_solve import BACKENDS, DTYPES, SIZES, a_source, error, graph, minimiser, noise

pytestmark = pytest.mark.slow
on_both_backends = pytest.mark.parametrize("backend", BACKENDS)
in_both_precisions = pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
soft_and_exact = pytest.mark.parametrize("exact", [False, True], ids=["soft", "exact"])
size, source_size = SIZES["not dividing"]


@on_both_backends
@in_both_precisions
@soft_and_exact
class TestMissing:
    def test_nan_is_confidence_0(self, exact, dtype, backend):
        edges, holed = graph(size, dtype=dtype), a_source(1, 1, *source_size, holes=0.4, dtype=dtype)
        known = torch.isfinite(holed)
        nonsense = torch.where(known, holed, torch.tensor(1e6, dtype=dtype))
        by_confidence = solve(edges, nonsense, size, confidence=known.to(dtype), exact=exact, backend=backend)
        assert torch.equal(solve(edges, holed, size, exact=exact, backend=backend), by_confidence)

    def test_each_channel_has_its_own_holes(self, exact, dtype, backend):
        edges, source = graph(size, dtype=dtype), a_source(1, 3, *source_size, holes=0.4, dtype=dtype)
        together = solve(edges, source, size, exact=exact, backend=backend)
        for k in range(3):
            alone = source[:, k : k + 1]
            expected = minimiser(edges, alone, size, exact=exact)
            assert error(together[:, k : k + 1], expected, alone) <= 1e-4

    def test_holes_and_confidence_go_together(self, exact, dtype, backend):
        edges, source = graph(size, dtype=dtype), a_source(1, 2, *source_size, holes=0.3, dtype=dtype)
        confidence = noise(1, 1, *source_size, seed=4, dtype=dtype).abs()
        confidence[..., 2:4, 2] = 0
        target = solve(edges, source, size, confidence=confidence, exact=exact, backend=backend)
        seen = torch.where(confidence > 0, source, torch.nan)
        assert error(target, minimiser(edges, source, size, confidence=confidence, exact=exact), seen) <= 1e-4

    @pytest.mark.slow
    def test_half_the_source_may_be_missing(self, exact, dtype, backend):
        source = a_source(1, 1, *source_size, dtype=dtype)
        source[..., :, 3:] = torch.nan
        edges = graph(size, sharp=True, dtype=dtype)
        target = solve(edges, source, size, exact=exact, backend=backend)
        assert error(target, minimiser(edges, source, size, exact=exact), source) <= 1e-4

    def test_one_known_pixel_is_spread_evenly(self, exact, dtype, backend):
        source = torch.full((1, 1, *source_size), torch.nan, dtype=dtype)
        source[0, 0, 3, 4] = 17.0
        target = solve(graph(size, sharp=True, dtype=dtype), source, size, exact=exact, backend=backend)
        torch.testing.assert_close(target, torch.full_like(target, 17.0), rtol=1e-6, atol=0)
