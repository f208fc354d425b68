"""PixTransform: a network for one image, the same each time."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import graphsr
from graphsr import Sampling
from graphsr.baselines.pixtransform import STEPS, PixelNetwork, PixTransform, footprints, shuffled
from graphsr.data.footprints import average
from tests.baselines.pairs_to_filter import a_pair, a_step, noise


class TestPixTransform:
    def test_has_the_published_size_and_length(self):
        assert sum(p.numel() for p in PixelNetwork(3).parameters()) == 200_993
        assert PixTransform().steps == STEPS == 32_768

    def test_gives_the_same_each_time_and_leaves_the_global_seed_alone(self):
        guide, source = a_pair((16, 16), (4, 4), channels=1)
        torch.manual_seed(1)
        first = graphsr.upsample(guide, source, model=PixTransform(steps=4)).target
        state = torch.random.get_rng_state()
        torch.manual_seed(2)
        again = graphsr.upsample(guide, source, model=PixTransform(steps=4)).target
        other = graphsr.upsample(guide, source, model=PixTransform(steps=4, seed=1)).target
        np.testing.assert_array_equal(first, again)
        assert np.abs(first - other).max() > 0
        torch.manual_seed(1)
        assert torch.equal(state, torch.random.get_rng_state())

    def test_trains_also_where_gradients_are_off(self):
        guide, source = noise(1, 3, 8, 8).float(), noise(1, 1, 2, 2).float()
        with torch.inference_mode():
            found = PixTransform(steps=4)(guide, source)
        np.testing.assert_array_equal(found, PixTransform(steps=4)(guide, source).detach())

    @pytest.mark.slow
    def test_learns_the_step(self):
        guide, truth = a_step((24, 32), at=13)
        source = average(truth, (3, 4))
        model = PixTransform(steps=60)
        error, bicubic = (
            np.mean((graphsr.upsample(guide, source, model=m).target - truth) ** 2) for m in (model, "bicubic")
        )
        assert error < 0.5 * bicubic

    @pytest.mark.parametrize("sizes", [((12, 8), (3, 4)), ((15, 9), (2, 4)), ((5, 5), (4, 4))])
    def test_footprints_average_as_the_source_does(self, sizes):
        values, known = noise(*sizes[0]), noise(*sizes[1], seed=1) > 0.3
        cells = footprints(sizes[0], known)
        means = (values.flatten()[cells.pixels] * cells.shares).sum(1)
        np.testing.assert_allclose(means, Sampling(*sizes)(values)[known], rtol=1e-6)

    def test_every_source_pixel_comes_once_an_epoch(self):
        batches = shuffled(70)
        epoch = [next(batches) for _ in range(3)]
        assert [len(batch) for batch in epoch] == [32, 32, 6]
        assert sorted(torch.cat(epoch).tolist()) == list(range(70))
