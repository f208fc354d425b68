"""Noise: estimated from the source, made a confidence, and smoothed away as far as it reaches."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import graphsr
from graphsr import Architecture, GraphSR, InputError
from graphsr.measurements.noise import estimate_noise
from tests.measurements.made_pairs import FACTOR, SIZE, noisy, rmse, two_planes
from tests.solver.dense_solve import minimiser


def estimated(source: np.ndarray) -> float:
    return float(estimate_noise(torch.from_numpy(source)[None, None]))


def hills(size: tuple[int, int] = (64, 64)) -> np.ndarray:
    """Slanted and curved, with a step in it."""
    rows, columns = np.mgrid[: size[0], : size[1]] / size[0]
    return 3 * rows + columns + np.sin(5 * columns) + 4 * (rows > 0.6)


class TestEstimate:
    @pytest.mark.parametrize("sigma", [0.02, 0.1, 0.5])
    def test_the_size_of_noise_is_found(self, sigma):
        source = hills() + sigma * np.random.default_rng(0).standard_normal((64, 64))
        assert estimated(source) == pytest.approx(sigma, rel=0.1)  # measured: within 6 %

    def test_a_clean_source_has_none(self):
        assert estimated(hills()) < 1e-3 * hills().std()

    def test_holes_and_outliers_do_not_count(self):
        rng = np.random.default_rng(1)
        source = hills() + 0.1 * rng.standard_normal((64, 64))
        source[10:30, 20:25] = np.nan
        source[rng.random(source.shape) < 0.03] = 40
        assert estimated(source) == pytest.approx(0.1, rel=0.35)  # measured: 0.126

    def test_it_is_in_the_units_of_the_source(self):
        source = hills() + 0.1 * np.random.default_rng(2).standard_normal((64, 64))
        assert estimated(1000 * source + 5) == pytest.approx(1000 * estimated(source), rel=1e-6)

    @pytest.mark.parametrize("size", [(1, 1), (2, 50), (6, 6)])
    def test_too_few_pixels_say_nothing(self, size):
        assert estimated(np.random.default_rng(3).random(size)) == 0

    def test_every_channel_has_its_own(self):
        rng = np.random.default_rng(4)
        both = np.stack([hills() + sigma * rng.standard_normal((64, 64)) for sigma in (0.05, 0.5)])
        found = estimate_noise(torch.from_numpy(both)[None]).flatten()
        np.testing.assert_allclose(found, [0.05, 0.5], rtol=0.15)


class TestUpsample:
    @pytest.mark.parametrize("model", ["colour", "default"])
    def test_a_known_noise_lowers_the_error_unless_it_was_predicted(self, model):
        guide, source, truth = two_planes()
        sigma = 0.03 * np.ptp(source)
        source = noisy(source, sigma)
        without = graphsr.upsample(guide, source, model=model)
        with_noise = graphsr.upsample(guide, source, model=model, noise=sigma)
        # Measured: 0.7, and 1.26 for `default`, which has predicted the noise already and removed some.
        assert rmse(with_noise.target, truth) < (0.8 if model == "colour" else 1.3) * rmse(without.target, truth)
        assert with_noise.report.noise == pytest.approx(sigma)
        assert with_noise.report.confidence < 0.05
        assert model == "default" or without.report.confidence > 0.05

    @pytest.mark.filterwarnings("error")
    @pytest.mark.parametrize("model", ["colour", "default"])
    @pytest.mark.parametrize("noise", [1e2, 1e9])
    def test_of_a_source_that_is_all_noise_the_mean_is_left(self, model, noise):
        guide, source, _ = two_planes()
        target = graphsr.upsample(guide, source, model=model, noise=noise * np.ptp(source)).target
        assert np.ptp(target) < 0.5 * np.ptp(source)
        assert abs(target.mean() - source.mean()) < 0.1 * np.ptp(source)

    def test_a_constant_channel_does_not_become_missing(self):
        guide, source, _ = two_planes()
        channels = np.stack([source, np.zeros_like(source)], axis=2)
        target = graphsr.upsample(guide, channels, model="colour", noise=0.1).target
        assert (target[..., 1] == 0).all()
        constant = graphsr.upsample(guide, np.zeros_like(source), model="colour", noise=0.1)
        assert (constant.target == 0).all()

    def test_auto_does_as_well_as_the_true_noise(self):
        guide, source, truth = two_planes()
        source = noisy(source, 0.03 * np.ptp(source))
        known, auto = (
            graphsr.upsample(guide, source, model="colour", noise=noise) for noise in (0.03 * np.ptp(truth), "auto")
        )
        assert rmse(auto.target, truth) < 1.1 * rmse(known.target, truth)

    def test_auto_leaves_a_clean_source_as_it_is(self):
        guide, source, _ = two_planes()
        plain, auto = (graphsr.upsample(guide, source, model="colour", noise=noise) for noise in (None, "auto"))
        assert auto.report.noise < 1e-3 * source.std()
        assert np.abs(auto.target - plain.target).max() < 0.01 * source.std()

    @pytest.mark.parametrize("source", [np.eye(5), np.where(np.arange(24)[:, None] % 2, np.nan, np.eye(24))])
    def test_auto_says_so_where_the_source_does_not_tell(self, source, caplog):
        result = graphsr.upsample(np.random.default_rng(0).random((48, 48)), source, model="colour", noise="auto")
        assert result.report.noise == 0
        assert "noise: too few source pixels lie side by side to estimate it, so 0 is taken" in caplog.text

    def test_the_target_is_that_of_the_confidence_it_follows_from(self):
        guide, source, _ = two_planes(size=(24, 24))
        # Too few pixels to estimate it from: nothing is doubted.
        result = graphsr.upsample(guide, source, model="colour", noise="auto")
        assert result.report.noise == 0
        assert result.report.confidence == 1
        result = graphsr.upsample(guide, noisy(source, 0.1), model="colour", noise=0.1, rtol=1e-4)
        problem = result.problem
        unit = graphsr.load("colour").noise_unit * noisy(source, 0.1).std()
        first = unit**2 / (unit**2 + 0.1**2)
        assert first / 3.2 < float(problem.confidence.min()) == float(problem.confidence.max()) < 3.2 * first
        dense = minimiser(
            problem.edges,
            problem.source,
            (24, 24),
            confidence=problem.confidence,
            prior=problem.prior,
            prior_weight=problem.prior_weight,
        )
        assert rmse(result.target, dense[0, 0]) < 2e-4 * source.std()

    def test_errors_of_source_pixels_are_those_of_the_noise(self):
        guide, source, _ = two_planes()
        sigma = 0.04 * np.ptp(source)
        fidelity = graphsr.upsample(guide, noisy(source, sigma), model="colour", noise=sigma).report.fidelity
        assert 0.6 * sigma < fidelity < sigma

    def test_confidence_and_noise_multiply(self):
        guide, source, _ = two_planes()
        confidence = np.ones(source.shape)
        confidence[2, 3], confidence[4, 4] = 0.25, 0
        result = graphsr.upsample(guide, source, model="colour", noise=0.2, confidence=confidence)
        found = result.problem.confidence[0, 0].numpy()
        np.testing.assert_allclose(found, confidence * found[0, 0], rtol=1e-6)

    def test_one_number_is_the_confidence_of_all(self):
        guide, source, _ = two_planes()
        one, many = (
            graphsr.upsample(guide, source, model="colour", confidence=each)
            for each in (1e-3, np.full(source.shape, 1e-3))
        )
        np.testing.assert_array_equal(one.target, many.target)

    def test_a_stated_noise_takes_the_place_of_a_predicted_one(self):
        guide, source, _ = two_planes()
        model = GraphSR(Architecture("unet-lite0", features=4, confidence=True))
        assert graphsr.upsample(guide, source, model=model).report.confidence < 1
        assert graphsr.upsample(guide, source, model=model, noise=0).report.confidence == 1

    def test_a_stated_noise_is_believed_by_a_model_that_doubts_the_whole_source(self):
        guide, source, _ = two_planes()
        source[2, 3], source[3, 4] = np.nan, source[3, 4] + 3.0
        model = graphsr.load("default")
        last = model.noise_network.last
        assert isinstance(last, torch.nn.Conv2d)
        last.bias.data += 1
        doubted, believed = (
            graphsr.upsample(guide, source, model=model, noise=noise).problem.confidence[0, 0] for noise in (None, 0)
        )
        assert doubted.median() < 0.01  # measured: 3e-3
        assert believed.median() == 1
        assert believed[2, 3] == 0
        assert believed[3, 4] < 1e-3  # measured: 6e-7

    def test_predicted_outliers_stay_doubted(self):
        guide, source, _ = two_planes()
        source[3, 4] += 3.0
        result = graphsr.upsample(guide, source, noise=0.01)
        # Measured: 7e-8 and 9e-4.
        assert result.problem.confidence[0, 0, 3, 4] < 1e-3 * result.problem.confidence.median()

    def test_it_does_not_depend_on_units(self):
        guide, source, _ = two_planes()
        source = noisy(source, 0.1)
        metres = graphsr.upsample(guide, source, model="colour", noise=0.1).target
        millimetres = graphsr.upsample(guide, 1000 * source, model="colour", noise=100).target
        np.testing.assert_allclose(millimetres / 1000, metres, atol=1e-3 * source.std())

    @pytest.mark.parametrize("options", [{"noise": 0.1}, {"noise": "auto"}, {"robust": True}, {"confidence": 0.01}])
    def test_the_problem_can_be_solved_again(self, options):
        guide, source, _ = two_planes()
        result = graphsr.upsample(guide, noisy(source, 0.1), model="colour", **options)
        again = graphsr.solve(result.problem)[0, 0].numpy()
        np.testing.assert_allclose(again, result.target, rtol=0, atol=1e-6 * source.std())


class TestMistakes:
    @pytest.mark.parametrize("noise", [-1.0, np.nan, np.inf, "low", True, [1.0]])
    def test_a_noise_that_is_none(self, noise):
        guide, source, _ = two_planes()
        with pytest.raises(InputError, match="noise: must be a standard deviation"):
            graphsr.upsample(guide, source, model="colour", noise=noise)

    def test_a_noise_beyond_single_precision(self):
        guide, source, _ = two_planes()
        with pytest.raises(InputError, match="noise: 1e\\+300 is too large"):
            graphsr.upsample(guide, source, model="colour", noise=1e300)

    @pytest.mark.parametrize("robust", [-1.0, 0.0, np.nan, "yes", None])
    def test_a_scale_that_is_none(self, robust):
        guide, source, _ = two_planes()
        with pytest.raises(InputError, match="robust: must be True, False or"):
            graphsr.upsample(guide, source, model="colour", robust=robust)

    @pytest.mark.parametrize("confidence", [-0.1, 1.5, np.nan, 255])
    def test_a_number_that_is_no_confidence(self, confidence):
        guide, source, _ = two_planes()
        with pytest.raises(InputError, match="confidence: "):
            graphsr.upsample(guide, source, model="colour", confidence=confidence)

    def test_noise_that_is_to_be_reproduced_exactly(self):
        guide, source, _ = two_planes()
        with pytest.raises(InputError, match="noise: with exact"):
            graphsr.upsample(guide, source, model="colour", noise=0.1, exact=True)

    @pytest.mark.parametrize("options", [{"noise": 0.1}, {"robust": True}])
    def test_a_model_that_does_not_weigh_source_pixels(self, options):
        guide, source, _ = two_planes()
        with pytest.raises(InputError, match="Bicubic does not weigh source pixels"):
            graphsr.upsample(guide, source, model="bicubic", **options)


def test_sizes_are_as_assumed_here():
    guide, source, truth = two_planes()
    assert guide.shape[:2] == truth.shape == SIZE
    assert source.shape == (SIZE[0] // FACTOR, SIZE[1] // FACTOR)
