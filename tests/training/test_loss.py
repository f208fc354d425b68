"""What training makes small: over known pixels, and with every sample counting alike."""

from __future__ import annotations

import pytest
import torch

from graphsr.sampling import Sampling, interpolate_source
from graphsr.training.loss import LOSSES, loss_of


def pair(factor: int = 4, seed: int = 0):
    target = torch.rand(2, 1, 32, 32, generator=torch.Generator().manual_seed(seed)) + 2
    return target, Sampling((32, 32), (32 // factor, 32 // factor))(target)


@pytest.mark.parametrize("kind", LOSSES)
class TestEveryLoss:
    def test_is_nothing_for_the_truth(self, kind):
        target, source = pair()
        assert float(loss_of(target, target, source, kind)) == 0

    def test_does_not_see_unknown_pixels(self, kind):
        target, source = pair()
        found = target + 0.1
        seen = target.clone()
        seen[..., :8] = torch.nan
        wild = found.clone()
        wild[..., :8] = 1e6
        assert float(loss_of(wild, seen, source, kind)) == float(loss_of(found, seen, source, kind))

    def test_does_not_change_with_the_unit(self, kind):
        target, source = pair()
        found = target + 0.1 * torch.rand_like(target)
        metres = float(loss_of(found, target, source, kind))
        # Measured: equal to 1e-6.
        assert float(loss_of(1000 * found, 1000 * target, 1000 * source, kind)) == pytest.approx(metres, rel=1e-5)

    def test_has_a_gradient_where_pixels_are_unknown(self, kind):
        target, source = pair()
        target[..., 3] = torch.nan
        found = torch.full_like(target, 2.5).requires_grad_()
        loss_of(found, target, source, kind).backward()
        assert bool(torch.isfinite(found.grad).all())
        assert bool((found.grad[..., 3] == 0).all())


def test_relative_to_interpolation_it_does_not_matter_where_zero_is():
    target, source = pair()
    found = target + 0.1 * torch.rand_like(target)
    here = float(loss_of(found, target, source, "relative"))
    # Single precision at 300 is 3e-5.
    assert float(loss_of(found + 300, target + 300, source + 300, "relative")) == pytest.approx(here, rel=1e-3)


@pytest.mark.parametrize("factor", [2, 8])
def test_relative_to_interpolation_the_interpolation_counts_two_at_every_factor(factor):
    target, source = pair(factor)
    interpolated = interpolate_source(source, (32, 32))
    # One for the absolute and one for the squared error, less what keeps flat patches from counting: 1 % here.
    assert float(loss_of(interpolated, target, source, "relative")) == pytest.approx(2.0, rel=2e-2)
