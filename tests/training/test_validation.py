"""Validation: clean and degraded sources in one table, and the best step chosen on both."""

from __future__ import annotations

import numpy as np
import pytest

from graphsr.data.pair import Pair, PairList
from graphsr.errors import InputError
from graphsr.models.registry import load
from graphsr.training.sections import Validation
from graphsr.training.validation import Score, Validator, overall

HOW = Validation(factors=(4.0, 8.0), degraded=("noise=0.1", "footprint=bicubic"), pairs=2, size=64)


class Steps(PairList):
    """Walls before each other."""

    def __len__(self) -> int:
        return 5

    def read(self, number: int) -> Pair:
        target = np.repeat(np.arange(8, dtype=np.float32) % (number + 2), 9)[None].repeat(70, 0)
        guide = np.repeat((30 * target).astype(np.uint8)[..., None], 3, 2)
        return Pair(f"steps/{number}", guide, target, "m")


class Flat(Steps):
    def read(self, number: int) -> Pair:
        pair = super().read(number)
        return Pair(pair.name, pair.guide, np.ones_like(pair.target))


def test_every_set_is_measured_at_every_factor_and_with_every_degradation() -> None:
    scores = Validator([("a", Steps()), ("b", Steps())], HOW).scores(load("bicubic"))
    rows = [(score.name, score.factor, score.degraded) for score in scores]
    of_one = [("", 4.0, False), ("", 8.0, False), (" noise=0.1", 8.0, True), (" footprint=bicubic", 8.0, True)]
    assert rows == [(name + kind, factor, degraded) for name in "ab" for kind, factor, degraded in of_one]
    assert all(score.ratio == pytest.approx(1.0, abs=1e-5) for score in scores)


def test_figures_are_the_same_every_time() -> None:
    first, again = (Validator([("a", Steps())], HOW).scores(load("bicubic")) for _ in range(2))
    assert first == again


def test_noise_makes_sources_worse() -> None:
    clean, noisy = (
        next(s for s in Validator([("a", Steps())], HOW).scores(load("bicubic")) if s.name == name and s.factor == 8)
        for name in ("a", "a noise=0.1")
    )
    assert noisy.error > clean.error


class TestOverall:
    def test_is_the_geometric_mean_of_the_ratios(self) -> None:
        assert overall([Score("a", 4, 2.0, 1.0), Score("b", 4, 1.0, 2.0)]) == pytest.approx(1.0)

    def test_clean_and_degraded_sources_count_alike(self) -> None:
        scores = [Score("a", 4, 4.0, 1.0), *[Score("a noise", 4, 1.0, 1.0, degraded=True)] * 3]
        assert overall(scores) == pytest.approx(2.0)


def test_a_set_on_which_nothing_can_be_measured_is_refused() -> None:
    with pytest.raises(InputError, match="a: the middle of every validation pair is flat"):
        Validator([("a", Flat())], HOW)


def test_a_picture_has_a_row_for_every_set() -> None:
    one, two = (Validator([(name, Steps()) for name in names], HOW).picture(load("bicubic")) for names in ("a", "ab"))
    assert two.shape[0] > one.shape[0] + 64
