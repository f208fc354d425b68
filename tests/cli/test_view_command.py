"""graphsr view: what it says, what it writes, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from graphsr.files import write_image
from tests.cli.files_and_runs import SIZE, Pair, Run

BICUBIC = ("--model", "bicubic")


def test_a_page_is_written(run: Run, pair: Pair) -> None:
    page = pair.folder / "page.html"
    outcome = run("view", pair.guide, pair.source, "-o", page, "--unit", "mm", *BICUBIC)
    assert outcome.code == 0, outcome
    assert f"{page}, 0." in outcome.out
    text = page.read_text("utf-8")
    assert text.startswith("<!doctype html>")
    assert '"name":"target"' in text
    assert run("view", pair.guide, pair.source, "-o", page, *BICUBIC).code == 2  # exists already
    assert run("view", pair.guide, pair.source, "-o", page, "--overwrite", *BICUBIC).code == 0


def test_a_target_and_a_truth_are_shown(run: Run, pair: Pair) -> None:
    page, target = pair.folder / "page.html", pair.folder / "target.png"
    write_image(target, np.full(SIZE, 2000, np.uint16))
    assert run("view", pair.guide, pair.source, target, "--truth", target, "-o", page, *BICUBIC).code == 0
    text = page.read_text("utf-8")
    assert "read from a file" in text
    assert '["RMSE, target","0"]' in text


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("no.png", "source.png"), "no.png: no such file"),
        (("source.png", "guide.png"), "guide.png: guide: is 4 pixels wide and 3 high, the source 32 wide and 24 high"),
        (("guide.png", "source.png", "-o", "."), ".: is a folder; --output is the name of a file"),
        (("guide.png", "source.png", "source.png"), "source.png: the target has 4 x 3 pixels; it needs those of the "
         "guide, 32 x 24"),
        (("guide.png", "source.png", "--truth", "source.png"), "source.png: the truth has 4 x 3 pixels"),
        (("guide.png", "source.png", "guide.png"), "guide.png: the target must have as many channels as the source, 1, "
         "not 3"),
        (("guide.png", "source.png", "-o", "page.png"), "page.png: a page is an HTML file; give it the suffix .html"),
        (("guide.png", "source.png", "-o", "no/page.html"), "the folder no does not exist"),
        (("guide.png", "source.png", "--model", "defualt"), "did you mean default?"),
        (("guide.png", "source.png", "--focal", "-3"), "--focal -3: must be positive, the focal length in pixels"),
        (("guide.png", "source.png", "--footprint", "boks"), "footprint 'boks': unknown"),
        (("guide.png", "source.png", "-o", "page.html", "--exact", *BICUBIC), "model 'bicubic' cannot be exact"),
    ],
)  # fmt: skip
def test_mistakes_end_in_one_line(
    run: Run, pair: Pair, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], says: str
) -> None:
    monkeypatch.chdir(pair.folder)
    outcome = run("view", "--no-browser", *arguments)
    assert outcome.code == 2, outcome
    assert says in outcome.err
    assert outcome.err.count("error: ") == 1
    assert pair.files() == ["guide.png", "source.png"]


def test_many_pairs_cannot_be_looked_at(run: Run, pair: Pair, tmp_path: Path) -> None:
    outcome = run("upsample", pair.folder, pair.folder, "-o", tmp_path / "out", "--view", *BICUBIC)
    assert outcome.code == 2
    assert "--view: shows one pair" in outcome.err


def test_a_unit_is_for_looking(run: Run, pair: Pair) -> None:
    outcome = run("upsample", pair.guide, pair.source, "-o", pair.folder / "out.png", "--unit", "mm", *BICUBIC)
    assert outcome.code == 2
    assert "--unit: is shown where the result is looked at; add --view" in outcome.err
    assert pair.files() == ["guide.png", "source.png"]


@contextmanager
def served(pair: Pair, command: str, *options: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """Run a command that serves a page; give its process and the address of the page."""
    own = ["--no-browser"] if command == "view" else ["--view", "-o", str(pair.folder / "out.npy")]
    # A browser that cannot be opened, and so none that is.
    environment = {**os.environ, "BROWSER": "/bin/false", "PATH": "", "DISPLAY": ""}
    process = subprocess.Popen(
        [sys.executable, "-m", "graphsr", command, str(pair.guide), str(pair.source), *own, *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        # As in a terminal; what a shell starts in the background ignores it, and so would what the tests start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )  # fmt: skip
    try:
        lines = iter(process.stdout.readline, "")
        yield process, next(line for line in lines if line.startswith("page ")).split()[1]
    finally:
        process.kill()


def asked(address: str, content: Any = None) -> Any:
    body = None if content is None else json.dumps(content).encode()
    request = urllib.request.Request(address, body, {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return json.load(answer)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="other signals there")
@pytest.mark.parametrize("command", ["view", "upsample"])
def test_it_serves_until_it_is_interrupted_and_ends_quietly(pair: Pair, command: str) -> None:
    with served(pair, command, *BICUBIC, "--focal", "30", "--unit", "furlongs") as (process, address):
        with urllib.request.urlopen(address, timeout=20) as answer:
            assert b"graphsr" in answer.read()
        assert "furlongs" in json.dumps(asked(f"{address}state"))
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 0
    assert "Traceback" not in errors
    assert errors == "" or errors.startswith("note: ")


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="other signals there")
def test_the_tolerance_of_a_command_holds_for_later_solves_too(pair: Pair) -> None:
    with served(pair, "upsample", "--model", "colour", "--rtol", "1e-6") as (_, address):
        first = asked(f"{address}state")
        asked(f"{address}solve", {"model": "colour"})
        while asked(f"{address}progress")["solving"] is not None:
            pass
        second = asked(f"{address}state")
    assert second["revision"] > first["revision"]
    assert dict(second["report"])["iterations"] == dict(first["report"])["iterations"]
