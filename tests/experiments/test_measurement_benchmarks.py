"""graphsr benchmark noise and outliers: sources are made as they are said to be, and counted as they are."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import graphsr
from graphsr.data import Pair
from graphsr.experiments.benchmarks import noise, outliers
from graphsr.experiments.benchmarks.validation_pairs import read_crops
from tests.measurements.shifted_pairs import rendered


@pytest.fixture(scope="module")
def room() -> Pair:
    scene = rendered(3, 96, 128)
    return Pair("room", scene.guide, scene.depth)


def test_a_stated_noise_is_near_the_best_confidence(room: Pair) -> None:
    case = noise.measure("rendered", room, 4, 0.04, graphsr.load("colour"))
    stated, _, nothing = case.excess
    assert case.best > 0
    # Between the confidences of the search a fitted one may be better.
    assert -0.05 < stated < 0.1
    assert nothing > stated


def test_the_summary_counts_what_is_close() -> None:
    cases = [noise.NoiseCase("set", "pair", 8, 0.01, 1.0, (part, 0.2, 0.5)) for part in (0.01, 0.03, 0.08)]
    stated, auto, _ = noise.summarise(cases)
    assert stated.way == "stated"
    assert stated.mean == pytest.approx(0.04)
    assert stated.largest == pytest.approx(0.08)
    assert stated.close == pytest.approx(2 / 3)
    assert auto.close == 0


def test_outliers_are_counted_and_switched_off(room: Pair) -> None:
    case = outliers.measure("rendered", room, 4, 0.05, graphsr.load("colour"))
    assert 0.02 * 24 * 32 < case.wrong < 0.09 * 24 * 32
    assert case.found <= case.wrong
    assert case.found > 0.6 * case.wrong
    assert case.known <= case.robust < case.nothing
    assert (case.clean_lost > 0) == (case.clean_robust != pytest.approx(case.clean, rel=1e-3))


def test_crops_are_the_middles_of_pairs_that_are_large_enough(tmp_path: Path) -> None:
    scenes = tmp_path / "sintel"
    for folder in ("guides", "targets"):
        (scenes / folder).mkdir(parents=True)
    y = np.indices((80, 100))[0]
    graphsr.files.write_image(scenes / "guides" / "alley_1.png", np.repeat(y[..., None], 3, 2).astype(np.uint8))
    graphsr.files.write_image(scenes / "targets" / "alley_1.png", (2000 + y).astype(np.uint16))
    found = list(read_crops(tmp_path, 2, 64))
    assert [kind for kind, _ in found] == ["sintel"]
    for _, pair in found:
        assert pair.size == (64, 64)
        np.testing.assert_array_equal(pair.guide[:, 0, 0], np.arange(8, 72))
    assert list(read_crops(tmp_path, 2, 96)) == []
