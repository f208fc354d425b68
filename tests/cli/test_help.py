"""Help is quick, complete and carries examples."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

from tests.cli.files_and_runs import Run


def test_graphsr_alone_prints_help(run: Run) -> None:
    alone, asked = run(), run("--help")
    assert alone.code == asked.code == 0
    assert alone.out.strip() == asked.out.strip()
    assert all(command in alone.out for command in ("upsample", "demo", "benchmark"))


def test_the_version_is_that_of_the_package(run: Run) -> None:
    assert run("--version").out == f"graphsr {version('graphsr')}\n"


@pytest.mark.parametrize("command", [(), ("upsample",), ("demo",)])
def test_every_help_has_an_example(run: Run, command: tuple[str, ...]) -> None:
    outcome = run(*command, "--help")
    assert outcome.code == 0
    assert "Example" in outcome.out
    assert "  graphsr " in outcome.out


def test_upsample_lists_its_options(run: Run) -> None:
    text = run("upsample", "-h").out
    for option in ("--output", "--model", "--confidence", "--exact", "--missing", "--preview"):
        assert option in text


@pytest.mark.parametrize(
    ("arguments", "suggestion"),
    [
        (("upsampel",), "upsample"),
        (("upsample", "a.png", "b.png", "-o", "c.png", "--previw", "d.png"), "--preview"),
    ],
)
def test_a_typing_error_gets_a_suggestion(run: Run, arguments: tuple[str, ...], suggestion: str) -> None:
    outcome = run(*arguments)
    assert outcome.code == 2
    assert suggestion in outcome.err


def test_help_does_not_wait_for_the_heavy_libraries() -> None:
    script = (
        "import sys; from graphsr.cli import app; app(['upsample', '--help'], standalone_mode=False); "
        "print('LOADED', [name for name in ('torch', 'numba', 'scipy', 'PIL') if name in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert "LOADED []" in result.stdout
