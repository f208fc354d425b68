"""graphsr benchmark alignment: shifts are made as they are said to be, and counted as they are."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

import graphsr
from graphsr.data import Pair
from graphsr.errors import InputError
from graphsr.experiments.benchmarks.alignment import Case, measure, own_shift, rendered_pairs, summarise
from graphsr.experiments.benchmarks.validation_pairs import read_pairs
from tests.measurements.shifted_pairs import rendered


def test_a_rendered_pair_is_aligned() -> None:
    scene = rendered(3, 224, 256)
    pair, model = Pair("room", scene.guide, scene.depth), graphsr.load("colour")
    case = measure("rendered", pair, 4, np.random.default_rng(0), model=model, solve=False)
    assert 0.5 <= math.hypot(*case.shift) <= 6
    assert case.found is not None
    # In guide pixels; a scene of 208 x 240 pixels.
    assert case.error < 0.25
    assert math.isnan(case.rmse_ratio)


def test_the_graph_of_a_learned_model_refines_what_is_found() -> None:
    scene = rendered(3, 224, 256)
    pair = Pair("room", scene.guide, scene.depth)
    found = [
        measure("rendered", pair, 8, np.random.default_rng(0), model=graphsr.load(name).eval(), solve=False).found
        for name in ("colour", "default")
    ]
    assert None not in found
    assert found[0] != found[1]


def test_the_map_of_a_rendered_pair_lies_where_it_should() -> None:
    name, pair = next(rendered_pairs(1))
    assert name == "rendered"
    own = own_shift(pair)
    assert own is not None
    assert math.hypot(*own) < 0.25


def case(found: tuple[float, float] | None, own: tuple[float, float] | None, rmse: float) -> Case:
    return Case("set", "pair", 8, (3.0, -1.0), found, own, (rmse, 9.0, 1.0))


def test_the_summary_counts_what_is_close() -> None:
    cases = [
        case((3.1, -1.0), (0.1, 0.0), 1.05),
        case((4.0, -1.0), (1.0, 0.0), 1.2),  # the map itself lies a pixel beside the guide
        case(None, None, 2.0),
    ]
    summary = summarise(cases)
    assert summary.cases == 3
    assert summary.aligned == pytest.approx(2 / 3)
    assert summary.close == pytest.approx(1 / 3)
    assert summary.close_to_own == pytest.approx(2 / 3)
    assert summary.error == pytest.approx(1.0)
    assert summary.rmse_ratio == pytest.approx(1.2)
    assert summary.rmse_within == pytest.approx(1 / 3)


def test_a_folder_without_data_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none of the folders hci, middlebury"):
        next(read_pairs(tmp_path, 1))
