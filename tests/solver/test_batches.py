"""Images of a batch and channels of an image do not know of each other."""

from __future__ import annotations

import pytest
import torch

from graphsr import Edges, solve
from tests.solver.dense_solve import BACKENDS, DTYPES, SIZES, a_source, error, graph, noise

on_both_backends = pytest.mark.parametrize("backend", BACKENDS)
in_both_precisions = pytest.mark.parametrize("dtype", DTYPES, ids=["float32", "float64"])
soft_and_exact = pytest.mark.parametrize("exact", [False, True], ids=["soft", "exact"])
size, source_size = SIZES["not dividing"]


def image(edges: Edges, b: int) -> Edges:
    return Edges(edges.down[b : b + 1], edges.right[b : b + 1])


@on_both_backends
@in_both_precisions
@soft_and_exact
class TestBatches:
    def test_a_batch_is_its_images_one_by_one(self, exact, dtype, backend):
        edges = graph(size, batch=3, sharp=True, dtype=dtype)
        source = a_source(3, 2, *source_size, holes=0.2, dtype=dtype)
        source[1] *= 100  # a unit of its own
        prior, weight = 40 + noise(3, 2, *size, seed=2, dtype=dtype), noise(3, *size, seed=3, dtype=dtype).abs()
        together = solve(edges, source, size, prior=prior, prior_weight=weight, exact=exact, backend=backend)
        for b in range(3):
            part = slice(b, b + 1)
            alone = solve(
                image(edges, b),
                source[part],
                size,
                prior=prior[part],
                prior_weight=weight[part],
                exact=exact,
                backend=backend,
            )
            assert error(together[part], alone.double().numpy(), source[part]) <= 2e-4

    @pytest.mark.slow
    def test_channels_are_solved_as_if_alone(self, exact, dtype, backend):
        edges = graph(size, sharp=True, dtype=dtype)
        source = a_source(1, 3, *source_size, dtype=dtype)
        source[:, 2] *= 1e-3
        together = solve(edges, source, size, exact=exact, backend=backend)
        for k in range(3):
            part = slice(k, k + 1)
            alone = solve(edges, source[:, part], size, exact=exact, backend=backend)
            assert error(together[:, part], alone.double().numpy(), source[:, part]) <= 2e-4

    def test_a_constant_image_does_not_disturb_its_neighbour(self, exact, dtype, backend):
        edges = graph(size, batch=2, dtype=dtype)
        source = a_source(2, 1, *source_size, dtype=dtype)
        source[0] = 5.0
        together = solve(edges, source, size, exact=exact, backend=backend)
        torch.testing.assert_close(together[:1], torch.full_like(together[:1], 5.0), rtol=1e-6, atol=0)
        alone = solve(image(edges, 1), source[1:], size, exact=exact, backend=backend)
        assert error(together[1:], alone.double().numpy(), source[1:]) <= 2e-4


@on_both_backends
def test_what_goes_in_is_left_as_it_is(backend):
    edges, source = graph(size), a_source(1, 2, *source_size, holes=0.2)
    confidence = noise(1, 2, *source_size, seed=2).abs() + 0.1
    prior, weight, start = noise(1, 2, *size, seed=3), noise(1, *size, seed=4).abs(), noise(1, 2, *size, seed=5)
    tensors = [edges.down, edges.right, source, confidence, prior, weight, start]
    before = [tensor.clone() for tensor in tensors]
    solve(edges, source, size, confidence=confidence, prior=prior, prior_weight=weight, start=start, backend=backend)
    for tensor, copy in zip(tensors, before, strict=True):
        torch.testing.assert_close(tensor, copy, rtol=0, atol=0, equal_nan=True)


@pytest.mark.parametrize("axes", [2, 3, 4])
def test_edges_without_a_batch_axis_give_a_target_with_the_axes_of_the_source(axes):
    size, source_size = SIZES["factor 4"]
    edges, source = graph(size), a_source(1, 1, *source_size)
    expected = solve(edges, source, size)
    shape = (1, 1, *size)[4 - axes :]
    alone = solve(Edges(edges.down[0], edges.right[0]), source.reshape(source.shape[4 - axes :]), size)
    assert alone.shape == shape
    torch.testing.assert_close(alone, expected.reshape(shape), rtol=0, atol=0)
