"""What training makes small: over known pixels, and with every sample counting alike."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from graphsr.models.restoration import Restored
from graphsr.sampling import Sampling, interpolate_source
from graphsr.training.loss import LOSSES, noise_loss, target_loss


def pair(factor: int = 4, seed: int = 0):
    target = torch.rand(2, 1, 32, 32, generator=torch.Generator().manual_seed(seed)) + 2
    return target, Sampling((32, 32), (32 // factor, 32 // factor))(target)


@pytest.mark.parametrize("kind", LOSSES)
class TestEveryLoss:
    def test_is_nothing_for_the_truth(self, kind):
        target, source = pair()
        assert float(target_loss(target, target, source, kind)) == 0

    def test_does_not_see_unknown_pixels(self, kind):
        target, source = pair()
        found = target + 0.1
        seen = target.clone()
        seen[..., :8] = torch.nan
        wild = found.clone()
        wild[..., :8] = 1e6
        assert float(target_loss(wild, seen, source, kind)) == float(target_loss(found, seen, source, kind))

    def test_does_not_change_with_the_unit(self, kind):
        target, source = pair()
        found = target + 0.1 * torch.rand_like(target)
        metres = float(target_loss(found, target, source, kind))
        # Measured: equal to 1e-6.
        assert float(target_loss(1000 * found, 1000 * target, 1000 * source, kind)) == pytest.approx(metres, rel=1e-5)

    def test_has_a_gradient_where_pixels_are_unknown(self, kind):
        target, source = pair()
        target[..., 3] = torch.nan
        found = torch.full_like(target, 2.5).requires_grad_()
        target_loss(found, target, source, kind).backward()
        assert bool(torch.isfinite(found.grad).all())
        assert bool((found.grad[..., 3] == 0).all())


class TestNoiseLoss:
    def noisy(self, strength: float):
        target, source = pair()
        std = source.std((-2, -1), keepdim=True, correction=0)
        error = strength * std * torch.randn(source.shape, generator=torch.Generator().manual_seed(1))
        return target, source + error

    def best(self, target, source) -> float:
        """Return the predicted noise, the same for all pixels, that has the least loss."""
        candidates = torch.logspace(-4.3, 0.5, 100)
        noises = [torch.full_like(source, float(noise)) for noise in candidates]
        losses = [float(noise_loss(Restored(source, noise), target, source)) for noise in noises]
        return float(candidates[int(np.argmin(losses))])

    @pytest.mark.parametrize("strength", [0.01, 0.1])
    def test_is_least_at_noise_of_the_size_of_the_errors(self, strength):
        # The scale of a Cauchy distribution is the median of the absolute errors, 0.67 standard deviations.
        assert self.best(*self.noisy(strength)) == pytest.approx(0.67 * strength, rel=0.35)

    def test_has_a_least_value_for_a_clean_source(self):
        assert self.best(*self.noisy(0.0)) == pytest.approx(1e-4, rel=0.2)

    def test_does_not_change_with_the_unit(self):
        target, source = self.noisy(0.1)
        noise = torch.full_like(source, 0.05)
        metres, millimetres = (
            float(noise_loss(Restored(times * source, noise), times * target, times * source)) for times in (1, 1000)
        )
        assert millimetres == pytest.approx(metres, rel=1e-4)  # measured: equal to 2e-6

    def test_is_measured_in_the_standard_deviation_that_the_network_saw(self):
        """A patch that is standardised like a part of its image has noise in standard deviations of that."""
        target, source = self.noisy(0.1)
        own = source.std((-2, -1), keepdim=True, correction=0)
        noise, restored = torch.full_like(source, 0.05), 0.5 * (source + pair()[1])
        of_patch = noise_loss(Restored(restored, noise), target, source)
        of_image = noise_loss(Restored(restored, noise / 3), target, source, std=3 * own)
        # Equal but for the logarithm of a third of the noise, and for errors that count as nothing. Measured: 0.002.
        assert float(of_image) == pytest.approx(float(of_patch) - np.log(3), abs=0.01)

    def test_does_not_see_missing_and_unknown_pixels(self):
        target, source = self.noisy(0.1)
        noise = torch.full_like(source, 0.05)
        source[..., :2] = torch.nan
        target[..., -8:, :] = torch.nan
        noise.requires_grad_()
        loss = noise_loss(Restored(source, noise), target, source)
        loss.backward()
        assert bool(torch.isfinite(noise.grad).all())
        assert bool((noise.grad[..., :2] == 0).all())
        assert bool((noise.grad[..., -2:, :] == 0).all())
        assert bool((noise.grad[..., :-2, 2:] != 0).all())

    def test_a_source_with_less_error_has_less_of_it(self):
        target, source = self.noisy(0.1)
        clean, noise = pair()[1], torch.full_like(source, 0.05)
        restored = [source + share * (clean - source) for share in (0.0, 0.5, 1.0)]
        losses = [float(noise_loss(Restored(each, noise), target, source)) for each in restored]
        assert losses[0] > losses[1] + 1 > losses[2] + 2

    def test_has_a_gradient_for_the_restored_source(self):
        target, source = self.noisy(0.1)
        source[..., :2] = torch.nan
        restored = (source + 0.01).requires_grad_()
        noise_loss(Restored(restored, torch.full_like(source, 0.05)), target, source).backward()
        assert bool((restored.grad[..., :2] == 0).all())
        assert bool((restored.grad[..., 2:] != 0).all())


def test_relative_to_interpolation_it_does_not_matter_where_zero_is():
    target, source = pair()
    found = target + 0.1 * torch.rand_like(target)
    here = float(target_loss(found, target, source, "relative"))
    # Single precision at 300 is 3e-5.
    assert float(target_loss(found + 300, target + 300, source + 300, "relative")) == pytest.approx(here, rel=1e-3)


@pytest.mark.parametrize("kind", ["relative", "pooled"])
def test_relative_to_interpolation_the_rounding_of_a_flat_patch_is_nothing(kind):
    """Sky in a scene whose values differ by some 25: interpolation is right to the last bit."""
    target, source = torch.full((1, 1, 32, 32), 0.765625), torch.full((1, 1, 8, 8), 0.765625)
    found = target + 1e-4
    unit = torch.full((1, 1, 1, 1), 25.0)
    # Measured: 0.04 and 0.01; without a least error of interpolation 1e4 and more.
    assert float(target_loss(found, target, source, kind, unit=unit)) < 0.1


@pytest.mark.parametrize("factor", [2, 8])
def test_relative_to_interpolation_the_interpolation_counts_two_at_every_factor(factor):
    target, source = pair(factor)
    interpolated = interpolate_source(source, (32, 32))
    # One for the absolute and one for the squared error, less what keeps flat patches from counting: 1 % here.
    assert float(target_loss(interpolated, target, source, "relative")) == pytest.approx(2.0, rel=2e-2)


@pytest.mark.parametrize("kind", ["both", "relative"])
def test_the_squared_error_may_count_more_beside_the_absolute_one(kind):
    target, source = pair()
    found = target + 0.1 * torch.rand_like(target)
    never, once, thrice = (float(target_loss(found, target, source, kind, times)) for times in (0.0, 1.0, 3.0))
    assert thrice - never == pytest.approx(3 * (once - never), rel=1e-4)
    assert once > never > 0


class TestPooledLoss:
    def hard_and_easy(self):
        """Return truth, source and unit of two samples: steps, and the same with a tenth of their height."""
        target, source = pair()
        target[1], source[1] = 0.1 * target[0], 0.1 * source[0]
        return target, source, torch.ones(2, 1, 1, 1)

    def losses(self, kind: str) -> list[float]:
        target, source, unit = self.hard_and_easy()
        bicubic = interpolate_source(source, (32, 32))
        found = [target.clone(), target.clone()]
        for number, each in enumerate(found):
            each[number] = bicubic[number]
        return [float(target_loss(each, target, source, kind, 1.0, unit)) for each in found]

    def test_counts_the_harder_sample_more(self):
        hard, easy = self.losses("pooled")
        # Errors ten times as large count by the root of that, squared ones by ten times.
        assert easy < hard < 10 * easy

    def test_relative_counts_both_alike(self):
        hard, easy = self.losses("relative")
        # Measured: 0.002, as interpolation is taken to err by a little in the unit of both.
        assert hard == pytest.approx(easy, rel=5e-3)

    def test_of_one_sample_is_the_relative_one(self):
        target, source = (each[:1] for each in pair())
        found = target + 0.1 * torch.rand_like(target)
        relative, pooled = (float(target_loss(found, target, source, kind)) for kind in ("relative", "pooled"))
        assert pooled == pytest.approx(relative, rel=1e-5)
