"""The scale of a pair: one spread for a guide, a unit for each channel of a source."""

from __future__ import annotations

import torch

from graphsr.scaling import Scale, known_pixels


def noise(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def test_a_guide_gets_one_spread_so_that_a_flat_channel_stays_flat():
    guide = torch.cat([100 * noise(1, 1, 40, 40), 7 + 0.01 * noise(1, 1, 40, 40, seed=1)], 1)
    source = noise(1, 1, 5, 5)
    scaled = Scale.of(guide, source, known_pixels(source, None)).standardise_guide(guide)
    torch.testing.assert_close(scaled.mean((-2, -1)), torch.zeros(1, 2), rtol=0, atol=1e-4)
    torch.testing.assert_close(scaled.square().mean(), torch.tensor(1.0), rtol=1e-5, atol=0)
    assert float(scaled[:, 1].std()) < 1e-3


def test_channels_of_a_source_are_scaled_each_by_itself_and_holes_do_not_count():
    source = torch.cat([noise(1, 1, 9, 9), 5000 + 300 * noise(1, 1, 9, 9, seed=1)], 1)
    source[0, 1, 4, 4] = torch.nan
    confidence = torch.ones(1, 1, 9, 9)
    confidence[..., 0, 0] = 0
    source[0, :, 0, 0] = 1e6
    known = known_pixels(source, confidence)
    assert int((~known).sum()) == 3
    scale = Scale.of(noise(1, 3, 18, 18), source, known)
    scaled = scale.standardise_source(source)
    for k in range(2):
        values = scaled[0, k][known[0, k]]
        torch.testing.assert_close(values.mean(), torch.tensor(0.0), rtol=0, atol=1e-5)
        torch.testing.assert_close(values.std(correction=0), torch.tensor(1.0), rtol=1e-4, atol=0)
    torch.testing.assert_close((scaled * scale.source_std + scale.source_mean)[known], source[known])


def test_images_without_relief_can_be_divided_by():
    source = torch.full((1, 1, 4, 4), 7.0)
    scale = Scale.of(torch.full((1, 3, 8, 8), 3.0), source, known_pixels(source, None))
    assert float(scale.guide_std) == 1.0
    assert 0 < float(scale.source_std) < 1e-4
