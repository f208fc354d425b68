"""A small pair of files, and a way to run a command in this process."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from graphsr.cli import app
from graphsr.files import write_image
from tests.cli.files_and_runs import FACTOR, SIZE, Outcome, Pair, Run


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs `graphsr` with the arguments given. A wide terminal keeps help texts on one line."""
    monkeypatch.setenv("COLUMNS", "160")

    def invoke(*arguments: object) -> Outcome:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Outcome(result.exit_code, result.stdout, result.stderr)

    return invoke


@pytest.fixture
def pair(tmp_path: Path) -> Pair:
    guide = np.full((*SIZE, 3), 200, np.uint8)
    guide[:, : SIZE[1] // 2] = (30, 60, 90)
    source = np.full((SIZE[0] // FACTOR, SIZE[1] // FACTOR), 3000, np.uint16)
    source[:, : source.shape[1] // 2] = 1200
    source[0, 0] = 1207
    write_image(tmp_path / "guide.png", guide)
    write_image(tmp_path / "source.png", source)
    return Pair(tmp_path / "guide.png", tmp_path / "source.png", tmp_path)
