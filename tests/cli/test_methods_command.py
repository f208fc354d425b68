"""graphsr methods: all there is to choose from, in one table."""

from __future__ import annotations

import re

import pytest

import graphsr
from graphsr.baselines import METHODS
from tests.cli.files_and_runs import Pair, Run


@pytest.mark.slow
def test_lists_models_first_and_then_every_method(run: Run) -> None:
    outcome = run("methods")
    assert outcome.code == 0
    listed, _, _ = outcome.out.partition("\n\n")
    names = [line.split()[0] for line in listed.splitlines() if line[:1].strip()]
    assert names[0] == "name"
    assert names[1:] == [name for name in graphsr.models() if name not in METHODS] + list(METHODS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "facts"),
    [
        ("guided-filter", ["2013", "no", "-", "any", "no", "He, Sun, Tang"]),
        ("fdkn", ["2021", "yes", "693,856", "any", "yes", "Kim, Ponce, Ham"]),
        ("msg-net", ["2016", "yes", "198,148", "2, 4, 8, 16", "yes", "Hui, Loy, Tang"]),
    ],
)
def test_tells_what_a_method_needs(run: Run, name: str, facts: list[str]) -> None:
    (line,) = (line for line in run("methods").out.splitlines() if line.startswith(f"{name} "))
    cells = line.removeprefix(name)
    for fact in facts:
        assert fact in cells
        cells = cells.split(fact, 1)[1]


@pytest.mark.parametrize("name", ["default", "open", "Colour", *METHODS])
def test_tells_all_about_one(run: Run, name: str) -> None:
    outcome = run("methods", name)
    assert outcome.code == 0
    facts = {line[:11].strip(): line[11:] for line in outcome.out.splitlines()}
    assert facts["name"] == name.lower()
    assert re.search(r"(19|20)\d\d( \((without a network|trained on data that allow any use)\))?$", facts["reference"])
    if name in METHODS and METHODS[name].learned:
        assert facts["train"].startswith(f"graphsr train {name}")
        assert f"--model {name}" in facts["use"]


@pytest.mark.slow
def test_tells_the_parameters_of_every_factor_and_of_every_network(run: Run) -> None:
    assert "msg-net-x2 198,148" in run("methods", "msg-net").out
    assert "msg-net-x16 582,916" in run("methods", "msg-net-x4").out
    assert "unet-resnet50 32,5" in run("methods").out


def test_an_unknown_name_suggests_the_nearest(run: Run) -> None:
    outcome = run("methods", "fdnk")
    assert outcome.code == 2
    assert "did you mean fdkn" in outcome.err


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
