"""Scores of classes stay probabilities, and average back to the source."""

from __future__ import annotations

import numpy as np
import pytest

import graphsr
from graphsr import InputError

MODELS = ("colour", "bicubic", "default")


def scene_of_classes(size=(40, 48), classes=5, factor=8, seed=0):
    """A guide of flat patches, and the share of each class in every source pixel: thin, so that solves overshoot."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, (size[0] // 4, size[1] // 4)).repeat(4, 0).repeat(4, 1)
    guide = (labels[..., None] * [37, 23, 11] + rng.integers(0, 5, (*size, 3))).astype(np.uint8)
    scores = np.eye(classes)[labels]
    blocks = scores.reshape(size[0] // factor, factor, size[1] // factor, factor, classes)
    return guide, blocks.mean((1, 3)), labels


def averages(target, factor=8):
    height, width, classes = target.shape
    return target.reshape(height // factor, factor, width // factor, factor, classes).mean((1, 3))


@pytest.mark.parametrize("model", MODELS)
def test_scores_stay_in_range_and_sum_to_1(model):
    guide, source, _ = scene_of_classes()
    target = graphsr.upsample(guide, source, model=model, kind="probabilities").target
    assert target.min() >= 0
    assert target.max() <= 1
    np.testing.assert_allclose(target.sum(2), 1, atol=1e-5)


def test_as_values_they_would_not():
    guide, source, _ = scene_of_classes()
    assert graphsr.upsample(guide, source, model="colour").target.min() < -0.01


@pytest.mark.parametrize("model", ["colour", "default"])
def test_averages_are_kept_and_their_error_is_reported(model):
    guide, source, _ = scene_of_classes()
    result = graphsr.upsample(guide, source, model=model, kind="probabilities")
    difference = np.sqrt(np.square(averages(result.target) - source).mean())
    assert difference == pytest.approx(result.report.fidelity, rel=1e-3)
    assert difference <= 0.01


def test_a_factor_that_is_not_whole():
    guide, source, _ = scene_of_classes()
    target = graphsr.upsample(guide[:37, :45], source, model="colour", kind="probabilities").target
    np.testing.assert_allclose(target.sum(2), 1, atol=1e-5)
    assert target.min() >= 0


def test_a_score_that_is_missing_makes_its_pixel_missing():
    guide, source, _ = scene_of_classes()
    source[1:3, 2, 4] = np.nan
    target = graphsr.upsample(guide, source, model="colour", kind="probabilities").target
    np.testing.assert_allclose(target.sum(2), 1, atol=1e-5)


def test_scores_of_8_bits_are_divided_by_their_sum():
    guide, source, _ = scene_of_classes()
    rounded = np.round(source * 255) / 255
    target = graphsr.upsample(guide, rounded, model="colour", kind="probabilities").target
    np.testing.assert_allclose(target.sum(2), 1, atol=1e-5)


def test_a_rare_class_does_not_need_double_precision():
    guide, source, _ = scene_of_classes(classes=2)
    source = np.stack([1 - 1e-3 * source[..., 0], 1e-3 * source[..., 0]], axis=2)
    assert graphsr.upsample(guide, source, model="colour", kind="probabilities").target.dtype == np.float32


class TestMistakes:
    def refused(self, match, source=None, **options):
        guide, scores, _ = scene_of_classes()
        with pytest.raises(InputError, match=match) as caught:
            graphsr.upsample(
                guide,
                scores if source is None else source(scores),
                **{"kind": "probabilities", "model": "colour"} | options,
            )
        assert "\n" not in str(caught.value)

    def test_one_class(self):
        self.refused(r"K >= 2 classes, not \(5, 6, 1\); .*np.stack", lambda s: s[..., 0])

    def test_logits(self):
        self.refused("no score may be negative, .*softmax", lambda s: np.log(s + 1e-3))

    def test_scores_that_do_not_sum_to_1(self):
        self.refused(r"sum to 1, and here they sum to 255 to 255; divide them by it, or", lambda s: 255 * s)

    def test_infinity(self):
        self.refused("sum to 1, and here they sum to 1 to inf", lambda s: np.where(s == s.max(), np.inf, s))

    def test_an_unknown_kind(self):
        self.refused("kind: must be one of 'values', 'probabilities', not 'labels'", kind="labels")

    def test_exact(self):
        self.refused("cannot be exact", exact=True)
