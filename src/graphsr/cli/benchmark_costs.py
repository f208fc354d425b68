"""graphsr benchmark channels, footprints, holes: what a source out of the ordinary costs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from graphsr.cli.console import new_table, show, status_line
from graphsr.cli.verbosity import with_verbosity
from graphsr.errors import InputError

if TYPE_CHECKING:
    from graphsr.experiments.benchmarks.costs import Cost

Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="M", help="A model's name or file; repeatable.", show_default="colour, default"),
]
Repeats = Annotated[int, typer.Option("--repeats", min=1, help="Runs of each case; the fastest counts.")]
_MODELS = ("colour", "default")


@with_verbosity
def channels(
    model: Models = None,
    count: Annotated[list[int], typer.Option("--channels", min=2, help="How many; repeatable.")] = [64],  # noqa: B006
    factor: Annotated[int, typer.Option("--factor", min=2, help="Upsampling factor.")] = 14,
    rows: Annotated[int, typer.Option("--rows", min=2, help="Rows of the source.")] = 34,
    columns: Annotated[int, typer.Option("--columns", min=2, help="Columns of the source.")] = 45,
    repeats: Repeats = 3,
) -> None:
    """Measure what a source of many channels costs, beside its first channel: the whole call of graphsr.upsample.

    \b
    Examples:
      graphsr benchmark channels
      graphsr benchmark channels --model colour --channels 16 --channels 384 --factor 16
    """
    from graphsr.experiments.benchmarks.costs import of_channels
    from graphsr.models.registry import load

    size = rows * factor, columns * factor
    for name in model or _MODELS:
        with status_line(name):
            costs = of_channels(load(name), tuple(count), size, factor, repeats)
        _show(f"{name}, {size[0]} x {size[1]} pixels, x{factor}: beside one channel (goal for 64: 12)", costs)


@with_verbosity
def footprints(
    model: Models = None,
    footprint: Annotated[list[str], typer.Option("--footprint", help="As in graphsr upsample; repeatable.")] = [  # noqa: B006
        "bicubic",
        "gaussian:0.5",
        "point",
    ],
    factors: Annotated[str, typer.Option("--factors", metavar="A,B", help="Upsampling factors.")] = "4,8",
    side: Annotated[int, typer.Option("--side", min=64, help="Side of the target, in pixels.")] = 256,
    repeats: Repeats = 3,
) -> None:
    """Measure the solves for wide footprints beside that for the box.

    \b
    Example:
      graphsr benchmark footprints --model colour --footprint bicubic --factors 4,8,16
    """
    from graphsr.experiments.benchmarks.costs import of_footprints
    from graphsr.footprints import check_footprint
    from graphsr.models.registry import load

    for each in footprint:
        check_footprint(each)
    chosen = tuple(int(word) if word.isdecimal() else 0 for word in factors.split(","))
    if min(chosen) < 2 or any(side % each for each in chosen):
        raise InputError(f"--factors {factors!r}: must be whole numbers from 2 on that divide --side {side}, as in 4,8")
    for name in model or _MODELS:
        with status_line(name):
            costs = list(of_footprints(load(name), tuple(footprint), side, chosen, repeats))
        _show(f"{name}, {side} x {side} pixels, the solve: beside the box (goal: 3)", costs)


@with_verbosity
def holes(
    model: Models = None,
    hole: Annotated[list[int], typer.Option("--hole", min=8, help="Its side, in target pixels; repeatable.")] = [  # noqa: B006
        50,
        100,
        200,
        400,
    ],
    factor: Annotated[int, typer.Option("--factor", min=2, help="Upsampling factor.")] = 8,
    rows: Annotated[int, typer.Option("--rows", min=2, help="Rows of the source.")] = 60,
    columns: Annotated[int, typer.Option("--columns", min=2, help="Columns of the source.")] = 80,
    repeats: Repeats = 3,
) -> None:
    """Measure the solves for sources with a square hole beside that without.

    \b
    Example:
      graphsr benchmark holes --model colour --hole 400
    """
    from graphsr.experiments.benchmarks.costs import of_holes
    from graphsr.models.registry import load

    size = rows * factor, columns * factor
    if max(hole) > min(size) - factor:
        raise InputError(f"--hole {max(hole)}: must leave some of the {size[0]} x {size[1]} target pixels")
    for name in model or _MODELS:
        with status_line(name):
            costs = of_holes(load(name), tuple(hole), size, factor, repeats)
        _show(f"{name}, {size[0]} x {size[1]} pixels, x{factor}, the solve: beside no hole (goal for 400: 3)", costs)


def _show(title: str, costs: Iterable[Cost]) -> None:
    table = new_table(("case", "CPU s", "iterations", "base CPU s", "iterations", "ratio"), words=1, title=title)
    for cost in costs:
        measured = f"{cost.seconds:.3f}", str(cost.iterations)
        base = f"{cost.base_seconds:.3f}", str(cost.base_iterations)
        table.add_row(cost.case, *measured, *base, f"{cost.ratio:.1f}")
    show(table)
