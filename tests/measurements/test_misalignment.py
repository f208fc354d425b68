"""A shift that nobody spoke of is corrected where it is certain, by models that predict the errors of a source."""

from __future__ import annotations

import numpy as np
import pytest

import graphsr
from graphsr.measurements import misalignment
from graphsr.measurements.misalignment import find_shift, suspected_misalignment
from tests.measurements.shifted_pairs import PlacedPair, placed_pair

SHIFT = (3.0, -2.0)


def rmse(target: np.ndarray, pair: PlacedPair) -> float:
    return float(np.sqrt(np.mean((target - pair.depth) ** 2)))


class TestCorrection:
    @pytest.mark.parametrize("model", ["default", "open"])
    @pytest.mark.parametrize("factor", [4, 8])
    def test_a_clear_shift_is_corrected_and_said(self, factor: int, model: str) -> None:
        pair = placed_pair(SHIFT, factor=factor, source_size=(48, 56))
        corrected = graphsr.upsample(pair.guide, pair.source, model=model)
        left = graphsr.upsample(pair.guide, pair.source, model=model, align="none")
        assert corrected.alignment is not None
        np.testing.assert_allclose(corrected.alignment[:, 2], SHIFT, atol=0.5)  # measured: 0.2 at the most
        np.testing.assert_allclose(corrected.alignment[:, :2], factor * np.eye(2))
        assert "further right" in corrected.report.alignment
        assert corrected.report.alignment.endswith("; that is corrected")
        assert rmse(corrected.target, pair) < 0.6 * rmse(left.target, pair)

    def test_the_target_averages_back_to_the_source_where_that_was_found_to_lie(self) -> None:
        pair = placed_pair(SHIFT, source_size=(48, 56))
        corrected = graphsr.upsample(pair.guide, pair.source)
        assert corrected.report.fidelity < 0.01 * pair.source.std()
        assert corrected.problem.sampling.origin == pytest.approx(tuple(corrected.alignment[::-1, 2]))

    @pytest.mark.parametrize("seed", [3, 7])
    @pytest.mark.parametrize("shift", [(0.0, 0.0), (0.4, -0.3)])
    def test_a_source_that_lies_edge_to_edge_within_half_a_pixel_is_left_there(
        self, seed: int, shift: tuple[float, float]
    ) -> None:
        pair = placed_pair(shift, seed=seed, source_size=(48, 56))
        result = graphsr.upsample(pair.guide, pair.source)
        assert result.alignment is None
        assert result.report.alignment == ""
        np.testing.assert_array_equal(result.target, graphsr.upsample(pair.guide, pair.source, align="none").target)

    @pytest.mark.parametrize("seed", [4, 5, 6])
    def test_a_source_of_another_scene_is_left_where_it_is(self, seed: int) -> None:
        guide = placed_pair((0.0, 0.0), seed=seed, source_size=(48, 56)).guide
        source = placed_pair((0.0, 0.0), seed=seed + 10, source_size=(48, 56)).source
        assert graphsr.upsample(guide, source).alignment is None

    @pytest.mark.parametrize(
        "options", [{"align": "none"}, {"exact": True}, {"model": "colour"}], ids=["none", "exact", "colour"]
    )
    def test_what_the_user_says_of_the_source_and_other_models_leave_it_there(self, options: dict) -> None:
        pair = placed_pair(SHIFT, source_size=(48, 56))
        assert graphsr.upsample(pair.guide, pair.source, **options).alignment is None

    def test_sources_of_many_channels_are_left_there(self) -> None:
        pair = placed_pair(SHIFT, source_size=(48, 56))
        assert graphsr.upsample(pair.guide, np.stack([pair.source] * 2, 2)).alignment is None

    def test_single_holes_all_over_do_not_matter(self) -> None:
        pair = placed_pair(SHIFT, source_size=(48, 56))
        holed = np.where(np.random.default_rng(0).random(pair.source.shape) < 0.2, np.nan, pair.source)
        found = graphsr.upsample(pair.guide, holed).alignment
        assert found is not None
        np.testing.assert_allclose(found[:, 2], SHIFT, atol=0.5)

    def test_units_and_large_offsets_do_not_matter(self) -> None:
        pair = placed_pair(SHIFT, source_size=(48, 56))
        found = graphsr.upsample(pair.guide, pair.source).alignment
        far = graphsr.upsample(pair.guide, 4e6 + pair.source).alignment
        assert far is not None
        np.testing.assert_allclose(far, found, atol=0.05)

    def test_a_large_pair_is_looked_at_in_its_middle(self, monkeypatch: pytest.MonkeyPatch) -> None:
        pair = placed_pair(SHIFT, source_size=(96, 112))
        monkeypatch.setattr(misalignment, "_PIXELS", 192 * 224)
        found = find_shift(pair.guide, pair.source[None], graphsr.load("default"))
        np.testing.assert_allclose(found.matrix[:, 2], SHIFT, atol=0.5)

    def test_a_shift_that_is_asked_for_is_found_where_a_look_would_find_it(self) -> None:
        pair = placed_pair(SHIFT, factor=8, source_size=(32, 32))
        assert graphsr.upsample(pair.guide, pair.source, align="shift").alignment is not None


class TestNote:
    """What is said of a source that no model looks at."""

    @pytest.mark.parametrize("factor", [4, 8])
    def test_a_clear_shift_is_told(self, factor: int) -> None:
        pair = placed_pair(SHIFT, factor=factor, source_size=(48, 56))
        words = suspected_misalignment(pair.guide, pair.source[None])
        assert "further right" in words
        assert "further up" in words

    @pytest.mark.parametrize("seed", [3, 7])
    @pytest.mark.parametrize("shift", [(0.0, 0.0), (0.4, -0.3)])
    def test_pairs_that_lie_edge_to_edge_within_half_a_pixel_get_no_word(
        self, seed: int, shift: tuple[float, float]
    ) -> None:
        pair = placed_pair(shift, seed=seed, source_size=(48, 56))
        assert suspected_misalignment(pair.guide, pair.source[None]) == ""

    def test_a_flat_source_tells_nothing(self) -> None:
        assert suspected_misalignment(placed_pair(SHIFT).guide, np.full((1, 32, 40), 2.0)) == ""

    def test_small_factors_tell_nothing(self) -> None:
        pair = placed_pair(SHIFT, factor=2, source_size=(64, 80))
        assert suspected_misalignment(pair.guide, pair.source[None]) == ""
