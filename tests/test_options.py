"""Options are checked where they are made, by every class of them."""

from __future__ import annotations

import pickle
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

import graphsr
from graphsr.evaluation.options import Options
from graphsr.files.pair import PairOptions
from graphsr.options import UpsamplingOptions


@pytest.mark.parametrize("kind", [UpsamplingOptions, PairOptions, Options])
@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"noise": -1}, "noise: must be"),
        ({"noise": 1.0, "exact": True}, "noise: with exact"),
        ({"robust": -1}, "robust: must be"),
        ({"footprint": "boks"}, "footprint 'boks'"),
        ({"kind": "scores"}, "kind: must be"),
        ({"kind": "probabilities", "exact": True}, "kind='probabilities'"),
        ({"align": "shft"}, "align 'shft'"),
        ({"rtol": 2}, "rtol: must be"),
        ({"exact": "no"}, "exact: must be True or False"),
        ({"uncertainty": 1}, "uncertainty: must be True or False"),
    ],
)
def test_what_is_wrong_for_every_pair_is_refused_at_once(
    kind: type[UpsamplingOptions], wrong: dict[str, Any], says: str
) -> None:
    with pytest.raises(graphsr.InputError, match=f"^{says}"):
        kind(**wrong)
    with pytest.raises(graphsr.InputError, match=f"^{says}"):
        replace(kind(), **wrong)


def test_values_of_other_libraries_become_those_of_python() -> None:
    given: dict[str, Any] = {"noise": np.float32(2), "robust": np.False_}
    options = UpsamplingOptions(**given)
    assert (options.noise, options.robust) == (2.0, False)
    assert options.robust is False
    assert type(options.noise) is float


def test_they_can_be_sent_to_other_processes() -> None:
    options = PairOptions("colour", noise="auto", missing=0.0, rtol=1e-5)
    sent = pickle.loads(pickle.dumps(options))
    assert [getattr(sent, each.name) for each in fields(sent)] == [getattr(options, each.name) for each in fields(sent)]


def test_a_model_has_the_tolerance_that_was_asked_for() -> None:
    assert UpsamplingOptions("colour", rtol=1e-5).load_model().rtol == 1e-5
    loaded = graphsr.load("colour")
    assert UpsamplingOptions(loaded).load_model() is loaded
