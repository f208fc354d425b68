"""The uncertainty of a target: in its units, wider where less is known, and refused where there is no graph."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import graphsr
from graphsr.models.calibration import Calibration, general_calibration
from graphsr.scenes import scene

SIZE, SOURCE_SIZE = (48, 64), (6, 8)


def a_guide(size: tuple[int, int] = SIZE) -> np.ndarray:
    """Two fields with a sharp border, and a little noise."""
    noise = np.random.default_rng(0).normal(0, 0.02, (*size, 3))
    return np.asarray((np.arange(size[1]) > 0.4 * size[1])[None, :, None] + noise)


def a_source(size: tuple[int, int] = SOURCE_SIZE) -> np.ndarray:
    return np.asarray(2 + 1.0 * (np.arange(size[1]) > 0.4 * size[1]) + 0.1 * np.random.default_rng(1).random(size))


def uncertainty(source: np.ndarray, guide: np.ndarray | None = None, **how: object) -> np.ndarray:
    guide = a_guide() if guide is None else guide
    result = graphsr.upsample(guide, source, uncertainty=True, **{"model": "colour", **how})  # type: ignore[arg-type]
    assert result.uncertainty is not None
    assert result.uncertainty.shape == result.target.shape
    assert np.isfinite(result.uncertainty).all()
    assert (result.uncertainty > 0).all()
    return result.uncertainty


@pytest.mark.parametrize("model", ["colour", "default"])
def test_is_a_number_for_every_pixel(model: str) -> None:
    assert uncertainty(a_source(), model=model).shape == SIZE
    assert uncertainty(a_source(), model=model).dtype == np.float32


def test_is_there_only_if_asked_for() -> None:
    assert graphsr.upsample(a_guide(), a_source(), model="colour").uncertainty is None


def test_does_not_change_the_target() -> None:
    with_it, without = (graphsr.upsample(a_guide(), a_source(), model="colour", uncertainty=u) for u in (True, False))
    np.testing.assert_array_equal(with_it.target, without.target)


def test_every_channel_has_its_own() -> None:
    found = uncertainty(np.stack([a_source(), 10 * a_source()], 2))
    np.testing.assert_allclose(found[..., 1], 10 * found[..., 0], rtol=1e-2)


@pytest.mark.parametrize("size", [(45, 60), (9, 12)], ids=["factor 7.5", "factor 1.5"])
def test_any_factor_will_do(size: tuple[int, int]) -> None:
    uncertainty(a_source(), a_guide(size))


def test_is_in_the_units_of_the_target() -> None:
    metres, millimetres = uncertainty(a_source()), uncertainty(1000 * a_source())
    np.testing.assert_allclose(millimetres, 1000 * metres, rtol=1e-2)
    np.testing.assert_allclose(uncertainty(a_source() + 7), metres, rtol=1e-2)


def test_is_the_same_every_time() -> None:
    np.testing.assert_array_equal(uncertainty(a_source()), uncertainty(a_source()))


def test_of_a_constant_is_next_to_nothing() -> None:
    assert uncertainty(np.full(SOURCE_SIZE, 3.0)).max() < 1e-4


def test_grows_into_holes() -> None:
    guide, source = a_guide((96, 96)), a_source((12, 12))
    source[2:10, 2:10] = np.nan
    found = uncertainty(source, guide)
    middle, rim, known = found[40:56, 40:56].mean(), found[16:24, 16:80].mean(), found[:8].mean()
    assert middle > rim > known


def test_grows_where_the_source_is_doubted() -> None:
    confidence = np.ones(SOURCE_SIZE)
    confidence[:, 5:] = 1e-4
    sure, doubted = uncertainty(a_source()), uncertainty(a_source(), confidence=confidence)
    assert (doubted[:, 48:] > 1.2 * sure[:, 48:]).mean() > 0.95
    np.testing.assert_allclose(doubted[:, :24].mean(), sure[:, :24].mean(), rtol=0.2)


@pytest.mark.parametrize("how", [{"noise": 0.05}, {"robust": True}, {}], ids=str)
def test_is_the_size_of_the_errors_whatever_is_said_of_the_source(how: dict[str, object]) -> None:
    room = scene(5, (96, 96))
    source = room.depth.reshape(12, 8, 12, 8).mean((1, 3))
    if "noise" in how:
        source = source + np.random.default_rng(2).normal(0, 0.05, source.shape)
    result = graphsr.upsample(room.guide, source, model="colour", uncertainty=True, **how)  # type: ignore[arg-type]
    ratio = np.abs(result.target - room.depth) / result.uncertainty
    # Measured: 0.47 with noise, 0.62 else. Compared with where the solve began it was 9.9 with noise.
    assert 0.3 < np.sqrt(np.mean(ratio**2)) < 2.0


def test_of_an_exact_target_is_that_under_the_constraint() -> None:
    # At confidence 1 the source leaves next to nothing open either.
    np.testing.assert_allclose(uncertainty(a_source(), exact=True), uncertainty(a_source()), rtol=0.1)


@pytest.mark.parametrize("model", ["bicubic", "guided-filter"])
def test_models_without_a_graph_refuse(model: str) -> None:
    with pytest.raises(graphsr.InputError, match="has no graph, so it cannot say how sure it is"):
        graphsr.upsample(a_guide(), a_source(), model=model, uncertainty=True)


class TestCalibration:
    def test_of_the_colour_model_is_its_own(self, caplog: pytest.LogCaptureFixture) -> None:
        uncertainty(a_source())
        assert not caplog.records

    def test_of_other_models_is_general_and_that_is_said(self, caplog: pytest.LogCaptureFixture) -> None:
        changed = graphsr.load("colour")
        changed.mu = 0.1  # type: ignore[assignment]
        with caplog.at_level(logging.WARNING):
            uncertainty(a_source(), model=changed)
        assert "the calibration is that of other weights, so that of models in general is used" in caplog.text

    def test_scales_the_uncertainty(self) -> None:
        model = graphsr.load("colour")
        before = uncertainty(a_source(), model=model)
        own = model.calibration
        assert own is not None
        numbers = {**vars(own), "level": own.level + np.log(2)}
        model.calibration = Calibration(**numbers)
        np.testing.assert_allclose(uncertainty(a_source(), model=model), 2 * before, rtol=1e-5)

    def test_of_wider_posteriors_and_larger_changes_is_wider(self) -> None:
        for calibration in (general_calibration(), graphsr.load("colour").calibration):
            assert calibration is not None
            assert calibration.posterior > 0
            assert calibration.change > 0
            assert list(calibration.intervals.values()) == sorted(calibration.intervals.values())
