"""How far solves are, on a terminal and in a log file."""

from __future__ import annotations

import io
import math

import pytest
from rich.console import Console

from graphsr.cli import console
from graphsr.cli.console import solve_bar
from graphsr.solver.progress import notify, part


def solve_half() -> None:
    with part(0.0, 0.5, "target"):
        notify(8, 100.0)
    with part(0.5, 1.0, "uncertainty"):
        notify(8, 100.0)
        notify(16, 10.0)
        raise KeyboardInterrupt


@pytest.mark.parametrize("name", ["depth.png", "[/red].png"])
def test_a_terminal_shows_the_part_and_how_far_all_is(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(console, "messages", Console(file=shown, force_terminal=True, width=150, highlight=False))
    with pytest.raises(KeyboardInterrupt), solve_bar(f"upsampling {name}"):
        solve_half()
    assert f"upsampling {name}, uncertainty: iteration 16" in shown.getvalue()
    assert "75%" in shown.getvalue()


def test_a_log_file_has_a_line_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    shown = io.StringIO()
    monkeypatch.setattr(console, "messages", Console(file=shown, highlight=False))
    with pytest.raises(KeyboardInterrupt), solve_bar("upsampling depth.png"):
        solve_half()
    assert shown.getvalue() == ""  # it took no half minute
    monkeypatch.setattr(console, "_LINE_EVERY", -math.inf)
    with pytest.raises(KeyboardInterrupt), solve_bar("upsampling depth.png"):
        solve_half()
    assert (
        shown.getvalue().splitlines()[-1] == "upsampling depth.png, uncertainty: iteration 16: 75% in all, 0:00 so far"
    )
