"""Guides of any bit depth, flat sources and confidences, for all baselines."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import graphsr
from graphsr.baselines.pixtransform import PixTransform
from graphsr.data.footprints import average
from graphsr.scenes import scene
from tests.baselines.networks_to_test import FIXED, Build


class TestGuides:
    @pytest.mark.parametrize("name", ["joint-bilateral", "guided-filter", "bilateral-solver", "dada-colour"])
    def test_a_camera_of_12_bits_is_seen_like_one_of_8(self, name):
        drawn = scene(3, (48, 48))
        eight = (drawn.guide if drawn.guide.dtype == np.uint8 else drawn.guide * 255).astype(np.uint8)
        twelve = np.round(eight * (4095 / 255)).astype(np.uint16)
        source = average(drawn.depth, (6, 6))
        results = [graphsr.upsample(guide, source, model=name).target for guide in (eight, twelve)]
        assert np.abs(results[0] - results[1]).mean() < 0.02 * source.std()


@pytest.mark.slow
@pytest.mark.parametrize("name", ["fdsr", "fdkn", "dkn", "msg-net", "pmbanet", "dada"])
@pytest.mark.parametrize("level", [0.0, 3000.0, -2.0])
def test_a_flat_source_stays_flat(built: Build, name, level):
    cells = 32 // FIXED.get(name, 8)
    target = built(name)(torch.rand(1, 3, 32, 32), torch.full((1, 1, cells, cells), level))
    assert torch.allclose(target, torch.full_like(target, level), atol=1e-5 * max(1.0, abs(level)))


class TestConfidence:
    """One source pixel is far off; the less its confidence, the less it does."""

    SOURCE = np.add.outer(np.arange(6.0), np.arange(6.0))
    GUIDE = np.zeros((24, 24, 3), np.uint8)

    def harm(self, model, outlier_confidence: float) -> float:
        wrong, confidence = self.SOURCE.copy(), np.ones_like(self.SOURCE)
        wrong[3, 3], confidence[3, 3] = 60.0, outlier_confidence
        right = graphsr.upsample(self.GUIDE, self.SOURCE, model=model).target
        found = graphsr.upsample(self.GUIDE, wrong, confidence=confidence, model=model).target
        return float(np.abs(found - right).max())

    @pytest.mark.parametrize("model", ["joint-bilateral", "bilateral-solver", "sd-filter"])
    def test_counts_by_degrees(self, model):
        harms = [self.harm(model, confidence) for confidence in (1.0, 0.1, 0.0)]
        assert harms[0] > harms[1] > harms[2]

    @pytest.mark.slow
    def test_counts_by_degrees_where_a_network_is_trained_with_it(self):
        guide, source = self.GUIDE.copy(), np.zeros_like(self.SOURCE)
        guide[12:16, 12:16], source[3, 3] = 255, 1.0
        levels = []
        for level in (1.0, 1e-3):
            confidence = np.where(source > 0, level, 1.0)
            target = graphsr.upsample(guide, source, confidence=confidence, model=PixTransform(steps=60)).target
            levels.append(target[12:16, 12:16].mean() - target.mean())
        assert levels[0] > 2 * levels[1]
