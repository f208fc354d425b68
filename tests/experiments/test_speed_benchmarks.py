"""The figures of graphsr benchmark speed and graphsr benchmark shared."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from graphsr.cli import app
from graphsr.experiments.benchmarks import shared, whole_call


def test_calls_take_turns_and_say_their_parts():
    said: list[str] = []
    small, large = whole_call.measure(["colour"], [64, 128], 8, 3, said.append)
    assert (small.side, large.side, small.goal) == (64, 128, None)
    for row in (small, large):
        assert 0 < row.least <= row.seconds
        assert 0 < row.solve_seconds < 2 * row.seconds + 1e-2  # done again, so a little more is possible
        assert row.iterations > 0
    assert said[-1] == "turn 3 of 3"


def test_goals_are_for_factor_8():
    (row,) = whole_call.measure(["colour"], [256], 4, 1, lambda _: None)
    assert row.goal is None
    assert whole_call.GOALS["colour", 256] == 0.012


@pytest.mark.slow
def test_other_work_is_there_while_it_is_measured():
    (row,) = shared.measure(["colour"], [64], 3, lambda _: None)
    assert min(row.free, row.free_spinning, row.loaded, row.loaded_spinning) > 0
    assert row.slowdown == row.loaded / row.free


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("speed", "--side", "100"), "--side 100 must be a multiple of --factor 8"),
        (("shared", "--side", "100"), "--side must be a multiple of 8"),
    ],
)
def test_sides_that_do_not_divide_are_refused(arguments, message):
    outcome = CliRunner().invoke(app, ["benchmark", *arguments])
    assert outcome.exit_code == 2
    assert message in " ".join(outcome.output.split())
