"""graphsr evaluate: how good models are on data with known truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphsr.cli.console import say, status_line, table
from graphsr.cli.options import Overwrite

if TYPE_CHECKING:
    from graphsr.evaluation.evaluate import Evaluation, Example

_EXAMPLES = 6


def evaluate(
    data: Annotated[
        list[str],
        typer.Option("--data", help="KIND:FOLDER of a data set, or a FOLDER of guides/ and targets/; repeatable."),
    ],
    model: Annotated[list[str], typer.Option("--model", help="Name or path of a model; repeatable.")] = ["default"],  # noqa: B006 (typer reads it)
    factor: Annotated[list[float], typer.Option("--factor", min=1.0, help="Repeatable.")] = [8.0],  # noqa: B006
    split: Annotated[str, typer.Option(help="train, val or test.")] = "val",
    protocol: Annotated[str, typer.Option(help="patches (the paper's) or successors (later papers').")] = "patches",
    pairs: Annotated[int | None, typer.Option(min=1, help="At most so many pairs of each data set.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Table as .csv, .json or .md.")] = None,
    sheet: Annotated[Path | None, typer.Option(help="Picture sheet of some results, as PNG.")] = None,
    overwrite: Overwrite = False,
) -> None:
    """Measure models on pairs whose true map is known.

    \b
    Examples:
      graphsr evaluate --model default --model colour --data my-pairs --factor 8
      graphsr evaluate --data nyuv2:"NYU Depth v2" --split test --factor 4 --factor 8 -o table.md
    """
    from graphsr.data import open_pairs
    from graphsr.evaluation import tables
    from graphsr.evaluation.evaluate import evaluate as run
    from graphsr.evaluation.evaluate import labels
    from graphsr.evaluation.protocols import protocol as named
    from graphsr.files import check_outputs, check_picture, write_image
    from graphsr.files.atomic import check_folder
    from graphsr.models.registry import load

    how = named(protocol)
    check_outputs({"--output": output, "--sheet": sheet}, overwrite=overwrite)
    if output is not None:
        check_folder(output)
        tables.check_table(output)
    if sheet is not None:
        check_picture(sheet)
    loaded = list(zip(labels(model), map(load, model), strict=True))
    sets = []
    for one in data:
        kind, colon, folder = one.partition(":")
        if not colon and one != "synthetic":
            kind, folder = "folder", one
        sets.append((Path(folder).name if kind == "folder" else kind, open_pairs(kind, folder, split)))

    rows: list[Evaluation] = []
    examples: list[Example] = []

    def keep(name: str, at: float, example: Example) -> None:
        if name == loaded[0][0] and at == factor[0] and len(examples) < _EXAMPLES:
            examples.append(example)

    with status_line("reading") as update:
        for name, found in sets:
            rows += run(loaded, name, found, how, factor, most=pairs, tell=update, keep=keep)
    say("protocol", f"{how.name}: {how.says}")
    _print(rows)
    if output is not None:
        tables.write_table(output, rows)
        say("table", str(output))
    if sheet is not None:
        from graphsr.evaluation.example_sheet import example_sheet

        write_image(sheet, example_sheet(examples, f"{loaded[0][0]}, x{factor[0]:g}"))
        say("pictures", str(sheet))


def _print(rows: list[Evaluation]) -> None:
    from graphsr.evaluation import tables

    table(tables.HEADINGS, map(tables.cells, rows), words=2)
    peak = max(row.peak_memory_mb for row in rows)
    say("memory", f"{peak:.0f} MB at the peak of this process")
    say("legend", tables.LEGEND)
