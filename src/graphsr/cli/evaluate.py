"""graphsr evaluate: how good models are on data with known truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphsr.cli.console import note, say, status_line, table
from graphsr.cli.options import Overwrite

if TYPE_CHECKING:
    from graphsr.data import PairList
    from graphsr.evaluation.evaluate import Evaluation, Example

_EXAMPLES = 6


def evaluate(
    data: Annotated[
        list[str],
        typer.Option(
            "--data",
            help="KIND:FOLDER of a data set, or a FOLDER of guides/ and targets/, maybe also sources/; repeatable.",
        ),
    ],
    model: Annotated[list[str], typer.Option("--model", help="Name or path of a model; repeatable.")] = ["default"],  # noqa: B006 (typer reads it)
    factor: Annotated[list[float], typer.Option("--factor", min=1.0, help="Repeatable.")] = [8.0],  # noqa: B006
    split: Annotated[str, typer.Option(help="train, val or test.")] = "val",
    protocol: Annotated[
        str | None,
        typer.Option(
            help="patches (the paper's), successors (later papers'), or sources (the low-resolution sources of a real "
            "sensor).",
            show_default="sources where there are any, else patches",
        ),
    ] = None,
    degrade: Annotated[
        str,
        typer.Option(
            metavar="NAME=VALUE,...",
            help="What is wrong with the sources, such as noise=0.03,outliers=0.05,shift=2,footprint=bicubic: "
            "strengths as parts of the source's range or of its pixels, shifts in target pixels. Bicubic interpolation "
            "is measured too.",
            show_default=False,
        ),
    ] = "",
    missing: Annotated[
        float | None,
        typer.Option(
            metavar="VALUE",
            help="The value that marks an unknown pixel in a FOLDER's targets and sources; nan is always one.",
            show_default=False,
        ),
    ] = None,
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
      graphsr evaluate --data my-pairs --missing 0 --degrade noise=0.03,outliers=0.05,shift=2
    """
    from graphsr.data.degradation import Degradation
    from graphsr.evaluation import tables
    from graphsr.evaluation.evaluate import evaluate as run
    from graphsr.evaluation.evaluate import labels
    from graphsr.evaluation.protocols import choose_protocol
    from graphsr.files import check_outputs, check_picture, write_image
    from graphsr.files.atomic import check_folder
    from graphsr.models.registry import load

    degradation = Degradation.parse(degrade)
    check_outputs({"--output": output, "--sheet": sheet}, overwrite=overwrite)
    if output is not None:
        check_folder(output)
        tables.check_table(output)
    if sheet is not None:
        check_picture(sheet)
    if degrade and "bicubic" not in model:
        model = [*model, "bicubic"]
    sets = [_open(one, split, missing) for one in data]
    how = choose_protocol(protocol, [found for _, found in sets])
    loaded = list(zip(labels(model), map(load, model), strict=True))

    rows: list[Evaluation] = []
    examples: list[Example] = []

    def keep(name: str, example: Example) -> None:
        same = not examples or example.case.factor == examples[0].case.factor
        if name == loaded[0][0] and same and len(examples) < _EXAMPLES:
            examples.append(example)

    with status_line("reading") as update:
        for name, found in sets:
            rows += run(
                loaded,
                name,
                found,
                how,
                factor,
                degradation=degradation,
                most=pairs,
                progress=update,
                note=note,
                keep=keep,
            )
    say("protocol", f"{how.name}: {how.description}")
    if degrade:
        say("sources", f"with {degradation}")
    _print(rows)
    if output is not None:
        tables.write_table(output, rows)
        say("table", str(output))
    if sheet is not None:
        from graphsr.evaluation.example_sheet import example_sheet

        write_image(sheet, example_sheet(examples, f"{loaded[0][0]}, x{examples[0].case.factor:.3g}"))
        say("pictures", str(sheet))


def _open(name: str, split: str, missing: float | None) -> tuple[str, PairList]:
    """Open what --data names, and return what it is called in tables with it."""
    from graphsr.data import open_pairs

    kind, colon, folder = name.partition(":")
    if not colon and name != "synthetic":
        kind, folder = "folder", name
    return Path(folder).name if kind == "folder" else kind, open_pairs(kind, folder, split, missing=missing)


def _print(rows: list[Evaluation]) -> None:
    from graphsr.evaluation import tables

    table(tables.HEADINGS, map(tables.cells, rows), words=2)
    peak = max(row.peak_memory_mb for row in rows)
    say("memory", f"{peak:.0f} MB at the peak of this process")
    say("legend", tables.LEGEND)
