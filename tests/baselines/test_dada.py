"""DADA: the diffusion in numba is the one in torch, averages back to the source, and has gradients."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from graphsr.baselines import METHODS
from graphsr.baselines.dada import DADABaseline, RawChannels, conductance
from graphsr.baselines.diffusion import advance, diffuse, track
from graphsr.graph import Edges
from graphsr.sampling import Sampling, interpolate_source
from tests.baselines.networks_to_test import Build, run


class TestDADA:
    @staticmethod
    def problem(dtype: torch.dtype = torch.float32) -> tuple[Tensor, Edges, Tensor, Tensor]:
        """Start (2, 1, 24, 20), conductances, source (2, 1, 6, 5), known."""
        source = 0.5 + torch.rand(2, 1, 6, 5, dtype=dtype)
        edges = conductance(torch.rand(2, 3, 24, 20, dtype=dtype), 0.3)
        return interpolate_source(source, (24, 20)), edges, source, torch.rand(2, 1, 6, 5) > 0.1

    def test_kernel_equals_torch(self) -> None:
        start, edges, source, known = self.problem()
        # Measured 4e-7 on values up to 2.
        torch.testing.assert_close(
            advance(start, edges, source, known, 20), diffuse(start, edges, source, known, 20), rtol=0, atol=4e-6
        )

    def test_kernel_equals_torch_where_nothing_divides(self) -> None:
        source = 0.5 + torch.rand(1, 1, 7, 9)
        start, known = interpolate_source(source, (37, 51)), torch.rand(1, 1, 7, 9) > 0.1
        edges = conductance(torch.rand(1, 3, 37, 51), 0.3)
        steps = 33  # one more than are tracked at a time
        torch.testing.assert_close(
            advance(start, edges, source, known, steps), diffuse(start, edges, source, known, steps), rtol=0, atol=1e-5
        )

    def test_averages_back_to_the_source(self) -> None:
        start, edges, source, known = self.problem()
        averaged = Sampling((24, 20), (6, 5))(advance(start, edges, source, known, 50))
        torch.testing.assert_close(averaged[known], source[known])

    def test_missing_source_pixels_change_nothing(self) -> None:
        start, edges, source, known = self.problem()
        other = torch.where(known, source, 100 * torch.ones_like(source))
        assert torch.equal(advance(start, edges, source, known, 20), advance(start, edges, other, known, 20))

    def test_gradients(self) -> None:
        start, edges, source, known = self.problem(torch.float64)
        down, right = edges.down.requires_grad_(), edges.right.requires_grad_()

        def some(down: Tensor, right: Tensor) -> Tensor:
            return diffuse(start, Edges(down, right), source, known, 34)[..., ::7, ::7]

        assert torch.autograd.gradcheck(some, (down, right), fast_mode=True)

    @pytest.mark.parametrize(("size", "source_size"), [((24, 20), (6, 5)), ((37, 51), (7, 9)), ((1, 12), (1, 4))])
    def test_gradients_of_the_kernel_equal_those_of_torch(
        self, size: tuple[int, int], source_size: tuple[int, int]
    ) -> None:
        source, known = 0.5 + torch.rand(2, 1, *source_size), torch.rand(2, 1, *source_size) > 0.1
        edges = conductance(torch.rand(2, 3, *size), 0.3)
        inputs = [x.requires_grad_() for x in (interpolate_source(source, size), edges.down, edges.right)]
        pull = torch.randn(2, 1, *size)
        steps = 67  # two checkpoints and some more
        found, expected = (
            torch.autograd.grad(way(inputs[0], Edges(*inputs[1:]), source, known, steps), inputs, pull)
            for way in (track, diffuse)
        )
        for ours, plain in zip(found, expected, strict=True):
            largest = float(plain.abs().max()) if plain.numel() else 0.0
            torch.testing.assert_close(ours, plain, rtol=0, atol=1e-5 * largest)  # measured 1e-6 of the largest

    def test_lines_of_pixels(self) -> None:
        method = DADABaseline(RawChannels(), steps=4, tracked_steps=0).eval()
        for size, small in (((1, 12), (1, 4)), ((12, 1), (4, 1)), ((1, 1), (1, 1))):
            result = run(method, torch.rand(1, 3, *size), torch.rand(1, 1, *small))
            assert result.shape == (1, 1, *size)
            assert result.isfinite().all()

    @pytest.mark.parametrize("offset", [-1000.0, 0.0, 1000.0])
    def test_any_heights(self, offset: float) -> None:
        method = DADABaseline(RawChannels(), steps=200, tracked_steps=0).eval()
        source = offset + 20 * torch.rand(1, 1, 6, 5)
        result = run(method, torch.rand(1, 3, 24, 20), source)
        torch.testing.assert_close(Sampling((24, 20), (6, 5))(result), source, rtol=1e-5, atol=1e-4)

    def test_units_do_not_matter_unless_given(self) -> None:
        guide, source = torch.rand(1, 3, 24, 20), 1 + torch.rand(1, 1, 6, 5)
        own, given = (DADABaseline(RawChannels(), 100, 0, depth_std).eval() for depth_std in (None, 0.5))
        # Measured 3e-6.
        torch.testing.assert_close(run(own, guide, 1000 * source), 1000 * run(own, guide, source), rtol=3e-5, atol=0)
        assert not torch.allclose(run(given, guide, 8 * source), 8 * run(given, guide, source), rtol=1e-3)

    def test_published_steps(self) -> None:
        with torch.device("meta"):
            learned, colour = METHODS["dada"].build(None), METHODS["dada-colour"].build(8)
        assert isinstance(learned, DADABaseline)
        assert isinstance(colour, DADABaseline)
        assert (learned.steps, learned.tracked_steps) == (8000, 1024)
        assert (colour.steps, colour.tracked_steps) == (8000, 0)

    def test_first_k(self, built: Build) -> None:
        assert built("dada").network.state_dict()["logk"].exp().item() == pytest.approx(0.03)

    def test_training_begins_anywhere(self) -> None:
        method = DADABaseline(RawChannels(), steps=1000, tracked_steps=0).train()
        guide, source = torch.rand(1, 3, 24, 20), 1 + torch.rand(1, 1, 6, 5)
        results = []
        for seed in (1, 1, 2):
            torch.manual_seed(seed)
            results.append(run(method, guide, source))
        assert torch.equal(results[0], results[1])
        assert not torch.equal(results[1], results[2])
