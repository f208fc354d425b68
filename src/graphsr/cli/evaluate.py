"""graphsr evaluate: how good models are on data with known truth."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from graphsr.cli.console import note, say, status_line, table
from graphsr.cli.options import Align, Footprint, Noise, Overwrite, Robust
from graphsr.errors import InputError
from graphsr.suggestion import did_you_mean

if TYPE_CHECKING:
    from graphsr.data import PairList
    from graphsr.evaluation.evaluate import Evaluation, Example
    from graphsr.evaluation.protocols import Case, Protocol
    from graphsr.evaluation.uncertainty import TrustEvaluation
    from graphsr.models.base import Model
    from graphsr.upsampling import Upsampled

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
        ),
    ] = "",
    missing: Annotated[
        float | None,
        typer.Option(
            metavar="VALUE",
            help="The value that marks an unknown pixel in a FOLDER's targets and sources; nan is always one.",
        ),
    ] = None,
    noise: Noise = None,
    robust: Robust = False,
    footprint: Footprint = "box",
    align: Align = None,
    pairs: Annotated[int | None, typer.Option(min=1, help="At most so many pairs of each data set.")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Table as .csv, .json or .md.")] = None,
    sheet: Annotated[Path | None, typer.Option(help="Picture sheet of some results, as PNG.")] = None,
    uncertainty: Annotated[
        bool, typer.Option("--uncertainty", help="Measure how far the uncertainty can be trusted, instead of errors.")
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="With --uncertainty: plot of sparsification and coverage, as PNG.")
    ] = None,
    overwrite: Overwrite = False,
) -> None:
    """Measure models on pairs whose true map is known.

    \b
    Examples:
      graphsr evaluate --model default --model colour --data my-pairs --factor 8
      graphsr evaluate --data nyuv2:"NYU Depth v2" --split test --factor 4 --factor 8 -o table.md
      graphsr evaluate --data my-pairs --missing 0 --degrade noise=0.03,outliers=0.05,shift=2
      graphsr evaluate --data my-pairs --degrade noise=0.03 --noise auto --model default --model colour
      graphsr evaluate --data my-pairs --protocol successors --footprint bicubic
      graphsr evaluate --data my-pairs --factor 4 --factor 8 --uncertainty --plot trust.png
    """
    from graphsr.data.degradation import Degradation
    from graphsr.evaluation import tables
    from graphsr.evaluation.evaluate import evaluate as run
    from graphsr.evaluation.evaluate import labels
    from graphsr.evaluation.options import Options
    from graphsr.evaluation.protocols import choose_protocol
    from graphsr.files import check_outputs, check_picture, write_image
    from graphsr.files.atomic import check_folder
    from graphsr.measurements.noise import parse_noise
    from graphsr.models.registry import load

    degradation = Degradation.parse(degrade)
    if plot is not None and not uncertainty:
        raise InputError("--plot shows how far the uncertainty can be trusted; add --uncertainty, or give --sheet")
    check_outputs({"--output": output, "--sheet": sheet, "--plot": plot}, overwrite=overwrite)
    if output is not None:
        check_folder(output)
        tables.check_table(output)
    for picture in (sheet, plot):
        if picture is not None:
            check_picture(picture)
    if degrade and "bicubic" not in model and not uncertainty:
        model = [*model, "bicubic"]
    sets = [open_data(one, split, missing) for one in data]
    how = choose_protocol(protocol, [opened for _, opened in sets])
    options = Options(noise=parse_noise(noise), robust=robust, footprint=footprint, align=align)
    named = zip(labels(model), map(load, model), strict=True)
    loaded = [(options.label(name, each), each) for name, each in named]
    if uncertainty:
        say("protocol", f"{how.name}: {how.description}")
        with status_line("reading") as update:
            found = _trust(
                loaded, sets, how, factor, degradation=degradation, options=options, most=pairs, progress=update
            )
        _report_trust(*found, output, plot, sheet)
        return

    rows: list[Evaluation] = []
    examples: list[Example] = []

    def keep(name: str, example: Example) -> None:
        same = not examples or example.case.factor == examples[0].case.factor
        if name == loaded[0][0] and same and len(examples) < _EXAMPLES:
            examples.append(example)

    with status_line("reading") as update:
        for name, opened in sets:
            rows += run(
                loaded,
                name,
                opened,
                how,
                factor,
                degradation=degradation,
                options=options,
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


def _trust(
    models: list[tuple[str, Model]],
    sets: list[tuple[str, PairList]],
    how: Protocol,
    factors: list[float],
    **options: Any,
) -> tuple[list[TrustEvaluation], list[tuple[Case, Upsampled]]]:
    """Return the evaluations, and some results of the first model at the first factor."""
    from graphsr.evaluation.uncertainty import evaluate_uncertainty

    rows: list[TrustEvaluation] = []
    examples: list[tuple[Case, Upsampled]] = []

    def keep(name: str, case: Case, result: Upsampled) -> None:
        same = not examples or case.factor == examples[0][0].factor
        if name == models[0][0] and same and len(examples) < _EXAMPLES:
            examples.append((case, result))

    for name, opened in sets:
        rows += evaluate_uncertainty(models, name, opened, how, factors, keep=keep, **options)
    return rows, examples


def _report_trust(
    rows: list[TrustEvaluation],
    examples: list[tuple[Case, Upsampled]],
    output: Path | None,
    plot: Path | None,
    sheet: Path | None,
) -> None:
    from graphsr.evaluation import uncertainty_report as report
    from graphsr.files import write_image

    table(report.HEADINGS, map(report.cells, rows), words=2)
    say("legend", report.LEGEND)
    if output is not None:
        report.write_uncertainty_table(output, rows)
        say("table", str(output))
    if plot is not None:
        write_image(plot, report.uncertainty_plot(rows))
        say("plot", str(plot))
    if sheet is not None:
        title = f"{rows[0].model}, x{examples[0][0].factor:.3g}"
        write_image(sheet, report.uncertainty_sheet(examples, title))
        say("pictures", str(sheet))


def open_data(name: str, split: str, missing: float | None) -> tuple[str, PairList]:
    """Open what --data names, and return what it is called in tables with it."""
    from graphsr.data import kinds, open_pairs

    kind, colon, folder = name.partition(":")
    if not colon and name != "synthetic":
        if not Path(name).exists():  # else it is a folder, whatever it is called
            if name in kinds():
                raise InputError(f"--data {name}: a data set has a folder; give {name}:FOLDER")
            if hint := did_you_mean(name, ["synthetic"]):
                raise InputError(f"--data {name}: no such folder; {hint}")
        kind, folder = "folder", name
    return Path(folder).name if kind == "folder" else kind, open_pairs(kind, folder, split, missing=missing)


def _print(rows: list[Evaluation]) -> None:
    from graphsr.evaluation import tables

    table(tables.HEADINGS, map(tables.cells, rows), words=2)
    peak = max(row.peak_memory_mb for row in rows)
    say("memory", f"{peak:.0f} MB at the peak of this process")
    say("legend", tables.LEGEND)
