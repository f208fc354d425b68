"""The baselines without learned weights: any size, holes, constants, edges."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import graphsr
from graphsr import InputError
from graphsr.baselines import METHODS
from graphsr.baselines.bilateral_solver import BilateralSolver
from graphsr.baselines.guided_filter import GuidedFilter
from graphsr.baselines.joint_bilateral import JointBilateral
from graphsr.baselines.pixtransform import PixTransform
from graphsr.baselines.sd_filter import SDFilter
from graphsr.data.footprints import average
from graphsr.models.base import whole
from tests.baselines.pairs_to_filter import MODELS, a_pair, a_step, every_model, noise


class TestEveryMethod:
    @every_model
    @pytest.mark.parametrize("guide_channels", [1, 3])
    @pytest.mark.parametrize("sizes", [((37, 51), (9, 8)), ((30, 15), (4, 2)), ((8, 8), (8, 8)), ((5, 4), (1, 1))])
    def test_takes_any_size_and_channels(self, name, guide_channels, sizes):
        size, source_size = sizes
        guide, source = a_pair(size, source_size, guide_channels)
        target = graphsr.upsample(guide, source, model=MODELS[name]()).target
        assert target.shape == (*size, 2)
        assert np.isfinite(target).all()

    @every_model
    @pytest.mark.parametrize("guide_channels", [2, 5])
    def test_takes_odd_numbers_of_channels(self, name, guide_channels):
        guide, source = a_pair((12, 16), (3, 4), guide_channels, 1)
        assert np.isfinite(graphsr.upsample(guide, source, model=MODELS[name]()).target).all()

    @every_model
    def test_fills_missing_source_pixels(self, name):
        guide, source = a_pair()
        source[2:8, 1:7, 0] = np.nan
        source[0, 0] = np.nan
        target = graphsr.upsample(guide, source, model=MODELS[name]()).target
        assert np.isfinite(target).all()

    @every_model
    def test_keeps_a_constant(self, name):
        guide, source = a_pair()
        source[:] = 5.25
        source[3, 3] = np.nan
        target = graphsr.upsample(guide, source, model=MODELS[name]()).target
        np.testing.assert_allclose(target, 5.25, rtol=1e-6)

    @every_model
    def test_follows_the_units_of_the_source(self, name):
        guide, source = a_pair(channels=1)
        once = graphsr.upsample(guide, source, model=MODELS[name]()).target
        scaled = graphsr.upsample(guide, 1000 * source - 300, model=MODELS[name]()).target
        # Single precision of the larger numbers, and 1e-4 of a standard deviation by the solve.
        np.testing.assert_allclose(scaled, 1000 * once - 300, atol=0.2)

    @pytest.mark.parametrize("name", [name for name in MODELS if name != "pixtransform"])
    def test_is_better_than_bicubic_at_a_step(self, name):
        guide, truth = a_step()
        source = average(truth, (5, 6))
        errors = [np.mean((graphsr.upsample(guide, source, model=m).target - truth) ** 2) for m in (name, "bicubic")]
        # Measured: SD filter 0, joint bilateral 0.50, guided filter 0.71, bilateral solver 0.85 of bicubic.
        assert errors[0] < 0.9 * errors[1]

    @every_model
    def test_is_known_by_name(self, name):
        assert name in graphsr.models()
        assert type(graphsr.load(name)) is type(MODELS[name]())
        assert METHODS[name].year > 2000

    @pytest.mark.parametrize("name", [name for name in MODELS if name != "sd-filter"])
    def test_refuses_to_be_exact_without_a_graph(self, name):
        guide, source = a_pair()
        with pytest.raises(InputError, match="cannot be exact"):
            graphsr.upsample(guide, source, model=MODELS[name](), exact=True)

    @every_model
    def test_refuses_to_run_on_windows(self, name):
        guide, source = noise(1, 3, 8, 8), noise(1, 1, 4, 4)
        window = whole(guide, source, None)
        with pytest.raises(InputError, match="edge to edge on the guide"):
            MODELS[name]().run(guide, source, window=window)

    @every_model
    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_returns_the_precision_of_the_source(self, name, dtype):
        target = MODELS[name]()(noise(1, 3, 8, 8).to(dtype), noise(1, 1, 4, 4).to(dtype))
        assert target.dtype == dtype


@pytest.mark.parametrize(
    "build",
    [
        lambda: GuidedFilter(eps=0),
        lambda: GuidedFilter(radius=-1),
        lambda: JointBilateral(sigma_r=0),
        lambda: BilateralSolver(luma=0),
        lambda: SDFilter(weight=0),
        lambda: SDFilter(steps=0),
        lambda: PixTransform(steps=0),
    ],
)
def test_parameters_without_a_meaning_are_refused(build):
    with pytest.raises(InputError):
        build()
