"""graphsr benchmark: how fast and how accurate, on this machine."""

from __future__ import annotations

import typer

app = typer.Typer(no_args_is_help=True)


@app.callback()
def benchmark() -> None:
    """Measure speed and accuracy on this machine."""
