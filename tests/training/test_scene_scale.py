"""Patches on the scale of their scene: they are seen in training as they are where the model is used."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from graphsr.models.base import whole
from graphsr.scaling import Scale
from graphsr.scenes import scene
from graphsr.training.config import read_config
from graphsr.training.samples import Batches
from graphsr.training.scene_scale import SceneScale, draw_scene_scale, join_scene_scales

ROOM = scene(3, (64, 96))


def scale_of_patch() -> Scale:
    guide = torch.from_numpy(ROOM.guide[:32, :32]).permute(2, 0, 1)[None].float() / 255
    source = torch.from_numpy(ROOM.depth[:32, :32].reshape(8, 4, 8, 4).mean((1, 3)))[None, None]
    return whole(guide, source, None).scale


def scene_scale(share: float, std: float = 5.0, guide_spread: float = 1.0) -> SceneScale:
    return join_scene_scales([(2.0, std, share, guide_spread)])


def test_with_no_share_a_patch_has_its_own_scale():
    scale = scale_of_patch()
    same = scene_scale(0.0).applied_to(scale)
    assert torch.equal(same.source_mean, scale.source_mean)
    assert torch.equal(same.source_std, scale.source_std)
    assert torch.equal(same.guide_std, scale.guide_std)


def test_with_a_whole_share_it_has_that_of_the_image():
    scale = scene_scale(1.0, guide_spread=1.5).applied_to(scale_of_patch())
    assert scale.source_mean.item() == pytest.approx(2.0)
    assert scale.source_std.item() == pytest.approx(5.0)
    assert scale.guide_std.item() == pytest.approx(1.5 * scale_of_patch().guide_std.item())


def test_a_patch_is_never_seen_larger_than_by_its_own_scale():
    # A noisy source may differ more than its whole map does.
    scale = scale_of_patch()
    assert scene_scale(1.0, std=1e-3).applied_to(scale).source_std.item() == scale.source_std.item()


def test_the_scale_is_that_of_the_known_pixels():
    target = ROOM.depth.astype(np.float32).copy()
    target[:5] = np.nan
    mean, std, share, spread = draw_scene_scale(target, 1.0, np.random.default_rng(0))
    assert mean == pytest.approx(float(target[5:].mean()), rel=1e-5)
    assert std == pytest.approx(float(target[5:].std()), rel=1e-5)
    assert 0 < share <= 1 <= spread


@pytest.mark.parametrize(("often", "expected"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)])
def test_it_is_drawn_as_often_as_asked(often, expected):
    rng = np.random.default_rng(1)
    drawn = [draw_scene_scale(ROOM.depth, often, rng)[2] > 0 for _ in range(200)]
    assert np.mean(drawn) == pytest.approx(expected, abs=0.1)


def test_other_draws_of_a_sample_do_not_depend_on_it():
    config = read_config("open")
    config = replace(
        config,
        data=replace(config.data, sets=config.data.sets[-1:], size=64),
        optimisation=replace(config.optimisation, batch=1),
    )
    without, with_it = (
        Batches(replace(config, augmentation=replace(config.augmentation, scene_scale=often)), 0).batch(0)
        for often in (0.0, 1.0)
    )
    torch.testing.assert_close(without.source, with_it.source, rtol=0, atol=0, equal_nan=True)  # some are missing
    assert without.scene.share.item() == 0 < with_it.scene.share.item()
