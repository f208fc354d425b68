"""graphsr reproduce: the paper's tables and figures, measured here."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphsr.cli.console import note, say, status_line, table


def reproduce(
    experiment: Annotated[
        str,
        typer.Argument(
            metavar="EXPERIMENT",
            help="table1, table2, table3, timing, successors, figure-weights, figure-errors, or comparison.",
        ),
    ],
    data: Annotated[Path | None, typer.Option("--data", metavar="DIR", help="Folder of the data sets.")] = None,
    budget: Annotated[
        int, typer.Option("--budget", min=0, help="Training samples for each learned method, set and factor; 0: none.")
    ] = 0,
    output: Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="Folder for all results.")] = Path(
        "reproduced"
    ),
    sets: Annotated[str, typer.Option(help="Data sets, with commas between: nyuv2,hci,synthetic.")] = "",
    factors: Annotated[str, typer.Option(help="Factors, with commas between: 4,8,16.")] = "",
    methods: Annotated[str, typer.Option(help="Methods, with commas between: bicubic,fdsr,default.")] = "",
    weights: Annotated[
        list[str],
        typer.Option("--weights", metavar="NAME:FILE", help="Weights of a learned method, NAME-x8 for one factor."),
    ] = [],  # noqa: B006 (typer reads it)
    pairs: Annotated[int | None, typer.Option(min=1, help="At most so many pairs of each data set.")] = None,
    patch: Annotated[int, typer.Option(min=32, help="Side of the training patches.")] = 256,
    sizes: Annotated[str, typer.Option(help="Sides of the images that are timed, with commas: 256,1024.")] = "",
    memory: Annotated[bool, typer.Option(help="Measure memory where times are measured.")] = True,
    workers: Annotated[int, typer.Option(min=0, help="Processes that prepare training samples.")] = 1,
) -> None:
    """Measure what the paper's tables and figures show, with the published figures beside.

    \b
    table1          errors by data set and factor, of all methods
    table2          trained on one data set, measured on another
    table3          the graph model with several feature extractors
    timing          forward time by factor, and memory
    successors      RMSE of whole images, by the protocol of later papers
    figure-weights  the colour graph beside the learned one
    figure-errors   error maps side by side, and crops where methods differ most
    comparison      errors, times and memory of all methods on your pairs

    Tables are written as Markdown, CSV and LaTeX. After an interruption the same command continues. What has no data or
    no weights is skipped, and named.

    \b
    Examples:
      graphsr reproduce table1 --data data --budget 20000 -o reproduced
      graphsr reproduce figure-errors --sets synthetic --methods bicubic,guided-filter,colour
    """
    from graphsr.experiments import Options
    from graphsr.experiments import reproduce as run
    from graphsr.experiments.report import write

    if data is None and not sets and experiment != "timing":
        note("without --data, rendered scenes are measured on")
    try:
        with status_line("reading") as update:
            options = Options(
                output, data, budget, _words(sets), _numbers("--factors", factors), _words(methods), tuple(weights),
                pairs, patch, _numbers("--sizes", sizes), memory, workers, update,
            )  # fmt: skip
            report = run(experiment, options)
    except KeyboardInterrupt:
        note("what was measured is cached; the same command continues from there")
        raise
    for one in report.parts():
        for part in one.tables:
            table(part.headings, part.rows, words=part.text_columns, title=part.title)
        for sentence in one.conditions:
            label, _, rest = sentence.partition(": ")
            say(label.lower(), rest) if rest and len(label) <= 10 else say("", sentence)
        for sentence in one.skipped:
            note(f"skipped {sentence}")
    for path in (*report.pictures, *write(report, output)):
        say("written", str(path))


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _numbers(option: str, text: str) -> tuple[int, ...]:
    from graphsr.errors import InputError

    try:
        return tuple(int(word) for word in _words(text))
    except ValueError:
        raise InputError(f"{option}: expected whole numbers with commas between, not {text!r}") from None
