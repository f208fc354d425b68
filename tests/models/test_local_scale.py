"""The scale around a pixel: what a network sees of a source does not depend on how far away parts of it differ."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch

import graphsr
from graphsr.errors import InputError
from graphsr.models.local_scale import CELL, local_scale

HOW = graphsr.Architecture(extractor="colour", first_lambda=1e-3, first_mu=0.3, local_scale=True)


def plane(height: int, width: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(1, 1, height, width, generator=torch.Generator().manual_seed(seed))


def test_a_flat_source_has_its_value_and_a_least_deviation():
    scale = local_scale(torch.full((1, 1, 64, 96), 2.0), (60, 90))
    assert scale.mean.shape == scale.std.shape == (1, 1, 60, 90)
    # Measured: equal to 1e-6.
    torch.testing.assert_close(scale.mean, torch.full_like(scale.mean, 2.0))
    torch.testing.assert_close(scale.std, torch.full_like(scale.std, 0.1), rtol=1e-3, atol=0)


def test_an_even_source_has_the_scale_of_the_whole():
    scale = local_scale(plane(256, 256), (256, 256))
    # Random pixels: means over hundreds of thousands of them.
    assert scale.mean.abs().max() < 0.03
    assert (scale.std - 1).abs().max() < 0.03


def test_parts_of_different_contrast_look_alike():
    values = plane(64, 1024)
    values[..., :512] *= 0.1
    seen = local_scale(values, (64, 1024)).standardise(values)
    weak, strong = seen[..., :256].std(), seen[..., 768:].std()
    # The weak part has the deviation 0.1, to which the least one of 0.1 is added in quadrature.
    assert weak == pytest.approx(0.5**0.5, abs=0.05)
    assert strong == pytest.approx(1, abs=0.05)


def test_a_window_has_the_scale_of_the_whole_inside():
    values = plane(32 * 24, 32 * 24)
    inside = slice(8 * CELL, 16 * CELL)
    whole, window = local_scale(values, (768, 768)), local_scale(values[..., CELL:-CELL, CELL:-CELL], (704, 704))
    moved = slice(7 * CELL, 15 * CELL)
    for of_whole, of_window in zip(whole, window, strict=True):
        # Measured: equal to 1e-6.
        torch.testing.assert_close(of_whole[..., inside, inside], of_window[..., moved, moved], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("local", [True, False])
def test_a_graph_depends_on_far_away_values_only_without_it(local):
    guide, source = torch.ones(1, 3, 64, 1024), plane(8, 128, 2)
    wide = source.clone()
    wide[..., 96:] *= 5
    model = graphsr.GraphSR(replace(HOW, local_scale=local)).eval()
    with torch.no_grad():
        near, far = (model.prepare(guide, each).edges.down[..., :256] for each in (source, wide))
    changed = float((near / far).log().abs().mean())
    # Measured: 0.007 and 0.07.
    assert changed < 0.02 if local else changed > 0.05


def test_windows_begin_at_cells_and_see_all_that_a_scale_depends_on():
    plain, local = (graphsr.GraphSR(replace(HOW, local_scale=each)).locality for each in (False, True))
    assert plain.reach < CELL  # a network that reads little would have windows that are too small
    assert local.multiple % CELL == 0
    values = plane(32 * 24, 32 * 24)
    changed = values.clone()
    changed[..., 384 + local.reach :] += 5  # of which a pixel at 383 must not know
    before, after = (local_scale(each, (768, 768)).std[..., 383] for each in (values, changed))
    torch.testing.assert_close(after, before)


def test_a_target_still_averages_back():
    guide, source = plane(64, 96, 1).expand(1, 3, -1, -1), 50 + plane(8, 12, 2)
    model = graphsr.GraphSR(HOW).eval().with_rtol(1e-5)
    target = model(guide, source)
    torch.testing.assert_close(graphsr.Sampling((64, 96), (8, 12))(target), source, rtol=0, atol=2e-2)


def test_channels_are_seen_by_their_first_component():
    guide, source = plane(64, 96, 1).expand(1, 3, -1, -1), plane(8, 12, 2)
    model = graphsr.GraphSR(HOW).eval()
    both = model(guide, torch.cat([source, 3 * source + 1], 1))
    torch.testing.assert_close(both[:, 1], 3 * both[:, 0] + 1, rtol=0, atol=2e-2)


@pytest.mark.parametrize("other", [{"offsets": True, "extractor": "unet-lite0"}, {"published": True}])
def test_what_it_is_not_for_is_refused(other):
    with pytest.raises(InputError, match="local_scale is neither for `published`"):
        graphsr.GraphSR(replace(HOW, **other))
