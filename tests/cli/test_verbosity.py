"""-q prints errors alone, -v what happens inside; before or after the command."""

from __future__ import annotations

import logging
import warnings

import pytest

from graphsr.cli import console
from tests.cli.files_and_runs import Pair, Run

COLOUR = ("--model", "colour")


@pytest.mark.parametrize("option", ["-q", "--quiet"])
@pytest.mark.parametrize("place", ["before", "after"])
def test_quiet_prints_nothing_but_does_the_work(run: Run, pair: Pair, option: str, place: str) -> None:
    out = pair.folder / "target.png"
    # Without a missing value there would be a note.
    command = ("upsample", pair.guide, pair.source, "-o", out, "--missing", "65535", *COLOUR)
    outcome = run(option, *command) if place == "before" else run(*command, option)
    assert (outcome.code, outcome.out, outcome.err) == (0, "", "")
    assert out.exists()


def test_quiet_prints_errors(run: Run, pair: Pair) -> None:
    outcome = run("upsample", "absent.png", pair.source, "-o", pair.folder / "out.png", "-q")
    assert (outcome.code, outcome.out, outcome.err) == (2, "", "error: absent.png: no such file\n")


@pytest.mark.slow
def test_quiet_also_holds_for_tables(run: Run) -> None:
    assert run("methods", "-q").out == ""


@pytest.mark.slow
def test_quiet_ends_with_the_command(run: Run) -> None:
    run("methods", "-q")
    assert "colour" in run("methods", "colour").out


@pytest.mark.parametrize("option", ["-v", "--verbose"])
def test_verbose_prints_log_records_and_times(run: Run, pair: Pair, option: str) -> None:
    command = ("upsample", pair.guide, pair.source, "-o", pair.folder / "target.png", *COLOUR)
    err = run(*command, option).err
    assert f"info: {pair.source}: read in " in err
    assert "info: upsample took " in err
    assert "info: " not in run(*command, "--overwrite").err


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ({"quiet": True}, ""),
        ({}, ""),  # warnings go where Python sends them
        ({"verbose": True}, "info: one\nwarning: two\ninfo: elsewhere: three\n"),
    ],
)
def test_levels(level: dict[str, bool], expected: str, capsys: pytest.CaptureFixture[str]) -> None:
    try:
        console.set_verbosity(**level)
        logging.getLogger("graphsr").info("one")
        logging.getLogger("graphsr").warning("two")
        logging.getLogger("elsewhere").info("three")
        if level.get("quiet"):
            warnings.warn("four", stacklevel=1)
        assert capsys.readouterr().err == expected
    finally:
        console.set_verbosity()
