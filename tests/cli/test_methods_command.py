"""graphsr methods: all there is to choose from, in one table."""

from __future__ import annotations

import pytest
from files_and_runs import Pair, Run

import graphsr
from graphsr.baselines import METHODS


def test_lists_models_first_and_then_every_method(run: Run) -> None:
    outcome = run("methods")
    assert outcome.code == 0
    names = [line.split()[0] for line in outcome.out.splitlines() if line[:1].strip()]
    assert names[0] == "name"
    assert names[1:] == [name for name in graphsr.models() if name not in METHODS] + list(METHODS)


@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("guided-filter", ["2013", "no", "-", "any", "no", "He, Sun, Tang"]),
        ("fdkn", ["2021", "yes", "693,856", "any", "yes", "Kim, Ponce, Ham"]),
        ("msg-net", ["2016", "yes", "198,148 (x2)", "2, 4, 8, 16", "yes", "Hui, Loy, Tang"]),
    ],
)
def test_tells_what_a_method_needs(run: Run, name: str, facts: list[str]) -> None:
    (line,) = (line for line in run("methods").out.splitlines() if line.startswith(f"{name} "))
    cells = line.removeprefix(name)
    for fact in facts:
        assert fact in cells
        cells = cells.split(fact, 1)[1]


def test_its_help_has_an_example(run: Run) -> None:
    text = run("methods", "--help").out
    assert "Example" in text
    assert "  graphsr methods" in text


def test_what_it_lists_can_be_given_as_a_model(run: Run, pair: Pair) -> None:
    out = pair.folder / "out.png"
    assert run("upsample", pair.guide, pair.source, "-o", out, "--model", "guided-filter").code == 0
    outcome = run("upsample", pair.guide, pair.source, "-o", pair.folder / "no.png", "--model", "dkn")
    assert outcome.code == 2
    assert "say 'dkn:FILE'" in outcome.err
