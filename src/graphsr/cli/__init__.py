"""The command line: one command a module, gathered here."""

from __future__ import annotations

import os
from typing import Annotated

import typer

from graphsr.cli import (
    benchmark,
    calibrate,
    complete,
    demo,
    evaluate,
    export,
    methods,
    raster,
    reproduce,
    train,
    upsample,
    video,
    view,
    warm_up,
)
from graphsr.cli.console import print_any_name, set_verbosity
from graphsr.cli.errors import ReportingGroup
from graphsr.cli.memory import keep_freed_memory
from graphsr.cli.verbosity import Quiet, Verbose, with_verbosity
from graphsr.cli.versions import installed_versions
from graphsr.wait_policy import wait_passively

app = typer.Typer(
    name="graphsr",
    cls=ReportingGroup,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    rich_markup_mode="rich",
)
for _command in (
    upsample.upsample,
    complete.complete,
    video.video,
    view.view,
    raster.raster,
    demo.demo,
    train.train,
    export.export,
    evaluate.evaluate,
    calibrate.calibrate,
    methods.methods,
    reproduce.reproduce,
    warm_up.warm_up,
):
    app.command()(with_verbosity(_command))
app.add_typer(benchmark.app, name="benchmark")


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo("\n".join(f"{name} {number}" for name, number in installed_versions().items()))
        raise typer.Exit


@app.callback()
def entry(
    context: typer.Context,
    verbose: Verbose = False,
    quiet: Quiet = False,
    show_version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show versions and exit."),
    ] = False,
) -> None:
    """Upsample a coarse map (depth, height, temperature) to the resolution of a guide image.

    \b
    Examples:
      graphsr demo
      graphsr upsample photo.jpg depth.png -o fine.png --preview look.png
    """
    set_verbosity(verbose=verbose, quiet=quiet)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


def main() -> None:
    """Run the program."""
    wait_passively(os.environ)  # before a command loads torch and numba
    keep_freed_memory()
    print_any_name()
    app()
