"""A way to run a command in this process."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from typer.testing import CliRunner

from graphsr.cli import app


@pytest.fixture
def command(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[int, str, str]]:
    """Runs `graphsr raster` with the arguments given: exit code, standard output, standard error."""
    monkeypatch.setenv("COLUMNS", "200")

    def invoke(*arguments: object) -> tuple[int, str, str]:
        result = CliRunner().invoke(app, ["raster", *(str(argument) for argument in arguments)])
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result.exit_code, result.stdout, result.stderr

    return invoke
