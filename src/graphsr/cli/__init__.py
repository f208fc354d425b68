"""The command line: one command per module, gathered here."""

from __future__ import annotations

import logging
from importlib.metadata import version
from typing import Annotated

import typer

from graphsr.cli import benchmark, demo, evaluate, export, methods, raster, reproduce, train, upsample, warm_up
from graphsr.cli.errors import ReportingGroup
from graphsr.cli.memory import keep_freed_memory

app = typer.Typer(
    name="graphsr",
    cls=ReportingGroup,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
)
app.command()(upsample.upsample)
app.command()(raster.raster)
app.command()(demo.demo)
app.command()(train.train)
app.command()(export.export)
app.command()(evaluate.evaluate)
app.command()(methods.methods)
app.command()(reproduce.reproduce)
app.add_typer(benchmark.app, name="benchmark")
app.command(name="warm-up")(warm_up.warm_up)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"graphsr {version('graphsr')}")
        raise typer.Exit


@app.callback()
def entry(
    context: typer.Context,
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit."),
    ] = False,
) -> None:
    """Upsample a coarse map (depth, height, temperature) to the resolution of a guide image.

    \b
    Examples:
      graphsr demo
      graphsr upsample photo.jpg depth.png -o fine.png --preview look.png
    """
    # tifffile logs every oddity of a file; what matters to the user comes as an error of ours.
    logging.getLogger("tifffile").setLevel(logging.CRITICAL)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    keep_freed_memory()
    app()
