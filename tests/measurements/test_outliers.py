"""Outliers: found, switched off and counted; what is right stays."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import graphsr
from graphsr.graph import affinity
from graphsr.measurements.outliers import _predicted_variance, check_robust
from graphsr.sampling import Sampling
from graphsr.solver import Problem
from tests.measurements.made_pairs import noisy, rmse, two_planes
from tests.solver.dense_solve import averaging, stepping

WRONG = [(1, 2), (3, 9), (6, 4), (8, 8), (10, 1)]


def with_outliers() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    guide, source, truth = two_planes()
    wrong = np.zeros(source.shape, bool)
    wrong[tuple(zip(*WRONG, strict=True))] = True
    return guide, np.where(wrong, source + np.where(source > 3, -1.5, 2.0), source), truth, wrong


def test_planted_outliers_are_switched_off():
    guide, source, truth, wrong = with_outliers()
    result = graphsr.upsample(guide, source, model="colour", robust=True)
    known = graphsr.upsample(guide, source, model="colour", confidence=1.0 - wrong)
    assert result.report.switched_off == len(WRONG)
    assert rmse(result.target, truth) < 1.05 * rmse(known.target, truth)
    np.testing.assert_array_equal(result.problem.confidence[0, 0].numpy() == 0, wrong)


def test_an_error_in_another_unit_which_switches_most_pixels_off_is_told(caplog):
    guide, source, _, _ = with_outliers()
    metres, millimetres = (graphsr.upsample(guide, times * source, model="colour", robust=1) for times in (1, 1000))
    assert metres.report.switched_off == len(WRONG)
    assert millimetres.report.switched_off > source.size / 2
    (told,) = caplog.messages
    assert told.startswith(f"robust: {millimetres.report.switched_off} source pixels are switched off")


@pytest.mark.parametrize("robust", [False, True])
def test_the_bundled_model_doubts_planted_outliers(robust):
    guide, source, truth, wrong = with_outliers()
    result = graphsr.upsample(guide, source, robust=robust)
    assert (result.problem.confidence[0, 0].numpy()[wrong] < 1e-3).all()
    assert rmse(result.target, truth) < 0.5 * rmse(graphsr.upsample(guide, source, model="colour").target, truth)


@pytest.mark.parametrize("model", ["colour", "default"])
def test_a_clean_source_loses_nothing(model):
    guide, source, _ = two_planes()
    result = graphsr.upsample(guide, source, model=model, robust=True)
    assert result.report.switched_off == 0
    plain = graphsr.upsample(guide, source, model=model)
    assert rmse(result.target, plain.target) < 0.01 * source.std()


def test_noise_is_not_taken_for_outliers():
    guide, source, truth, _ = with_outliers()
    source = noisy(source, 0.1)
    result = graphsr.upsample(guide, source, model="colour", robust=True, noise=0.1)
    assert result.report.switched_off == len(WRONG)
    assert rmse(result.target, truth) < 0.5 * rmse(graphsr.upsample(guide, source, model="colour").target, truth)


def test_a_number_says_from_which_error_on_a_pixel_is_wrong():
    guide, source, _, _ = with_outliers()
    off = {scale: graphsr.upsample(guide, source, model="colour", robust=scale).report for scale in (0.8, 10.0)}
    assert off[0.8].switched_off == len(WRONG)
    assert off[10.0].switched_off == 0


def test_with_exact_all_other_pixels_are_kept_exactly():
    guide, source, _, wrong = with_outliers()
    result = graphsr.upsample(guide, source, model="colour", robust=True, exact=True)
    means = result.target.reshape(12, 8, 12, 8).mean((1, 3))
    np.testing.assert_allclose(means[~wrong], source[~wrong], atol=1e-5)
    assert np.abs(means - source)[wrong].min() > 1


def test_holes_stay_holes():
    guide, source, truth, _ = with_outliers()
    source[5, 5:8] = np.nan
    result = graphsr.upsample(guide, source, model="colour", robust=True)
    assert result.report.switched_off == len(WRONG)
    assert rmse(result.target, truth) < 0.3 * rmse(graphsr.upsample(guide, source, model="colour").target, truth)


def test_channels_are_judged_apart():
    guide, source, _, wrong = with_outliers()
    clean = two_planes()[1]
    result = graphsr.upsample(guide, np.stack([source, clean], 2), model="colour", robust=True)
    off = result.problem.confidence[0].numpy() == 0
    assert off[0][wrong].all()
    assert not off[1][wrong].any()
    assert off[:, ~wrong].sum() <= 4  # measured: two on the edge, in both channels


@pytest.mark.parametrize("size", [(8, 8), (16, 8)])
def test_tiny_and_constant_sources_are_left_alone(size):
    guide = np.random.default_rng(0).integers(0, 255, (*size, 3), dtype=np.uint8)
    for source in (np.ones((size[0] // 8, 1)), np.full((size[0] // 4, 2), 3.0)):
        report = graphsr.upsample(guide, source, model="colour", robust=True).report
        assert report.switched_off == 0


def test_the_variance_of_a_prediction_is_that_of_the_dense_matrix():
    """One pixel is probed, so that nothing random is left in it."""
    size, source_size = (12, 8), (3, 2)
    features = torch.randn(1, 2, *size, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    edges = affinity(features, 1.0, weight=1e-2)
    confidence = torch.full((1, 1, *source_size), 1e-2, dtype=torch.float64)
    where = torch.zeros((1, 1, *source_size), dtype=torch.bool)
    where[0, 0, 1, 1], confidence[0, 0, 1, 1] = True, 0
    problem = Problem(edges, Sampling(size, source_size), torch.rand(1, 1, *source_size).double(), confidence)
    weights = np.concatenate([edges.down.numpy().ravel(), edges.right.numpy().ravel()])
    steps, average = stepping(size), averaging(size, source_size)
    matrix = steps.T @ (weights[:, None] * steps) + average.T @ (confidence.numpy().reshape(-1, 1) * average)
    dense = np.diag(average @ np.linalg.solve(matrix, average.T)).reshape(source_size)
    found = _predicted_variance(problem, 1e-2, where)[0, 0].numpy()
    assert found[1, 1] == pytest.approx(dense[1, 1], rel=0.03)
    assert found.sum() == found[1, 1]


@pytest.mark.parametrize("robust", [np.True_, np.False_])
def test_booleans_of_numpy_are_booleans(robust):
    assert check_robust(robust) is bool(robust)
