"""graphsr benchmark speed, graphsr benchmark shared: how long calls take, alone and beside other work."""

from __future__ import annotations

from typing import Annotated

import typer

from graphsr.cli.console import new_table, note, say, show, status_line

Models = Annotated[
    list[str] | None,
    typer.Option("--model", metavar="M", help="A model's name or file; repeatable.", show_default="default and colour"),
]
_BOTH = ["default", "colour"]
_VERDICT = {True: "[green]yes[/]", False: "[bold red]no[/]"}
# What is asked of the commands: times as long beside other work, and the part that costs on a free machine.
_MOST_SLOWDOWN, _MOST_COST = 3.0, 0.05


def speed(
    model: Models = None,
    side: Annotated[
        list[int] | None,
        typer.Option("--side", min=32, help="Side of the guide in pixels; repeatable.", show_default="256 and 1024"),
    ] = None,
    factor: Annotated[int, typer.Option("--factor", min=1, help="Upsampling factor.")] = 8,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Calls of which the median counts.")] = 11,
    first_call: Annotated[
        bool, typer.Option("--first-call", help="Measure the command itself too, before any kernel is compiled.")
    ] = False,
) -> None:
    """Measure whole calls of graphsr.upsample, arrays in and arrays out, on rendered scenes.

    All kinds of calls take turns in one process, on all cores. Goals are for two cores of a free machine.

    \b
    Examples:
      graphsr benchmark speed
      graphsr benchmark speed --model colour --side 4096 --repeats 3
      graphsr benchmark speed --first-call
    """
    from graphsr.errors import InputError
    from graphsr.experiments.benchmarks.whole_call import FIRST_CALL_GOAL, measure, measure_first_call

    sides = side or [256, 1024]
    wrong = next((each for each in sides if each % factor), None)
    if wrong is not None:
        raise InputError(f"benchmark speed: --side {wrong} must be a multiple of --factor {factor}")
    models = model or _BOTH
    with status_line("starting") as update:
        rows = measure(models, sides, factor, repeats, update)
        first = []
        for name in models if first_call else ():
            update(f"the first call with {name}")
            first.append(measure_first_call(name))
    headings = ("model", "guide", "ms", "least", "CPU ms", "solve ms", "iterations", "goal", "met")
    table = new_table(headings, words=2, title=f"Whole calls at x{factor}, medians of {repeats}")
    for row in rows:
        times = map(_milliseconds, (row.seconds, row.least, row.cpu_seconds, row.solve_seconds))
        goal = ("", "") if row.goal is None else (f"{1e3 * row.goal:g}", _VERDICT[row.seconds <= row.goal])
        table.add_row(row.model, f"{row.side} x {row.side}", *times, str(row.iterations), *goal)
    show(table)
    if first:
        table = new_table(
            ("model", "first call s", "again s", "goal", "met"),
            words=1,
            title="graphsr upsample, 256 x 256, with no kernel compiled",
        )
        for call in first:
            met = _VERDICT[call.seconds <= FIRST_CALL_GOAL]
            table.add_row(call.model, f"{call.seconds:.1f}", f"{call.again_seconds:.1f}", f"{FIRST_CALL_GOAL:g}", met)
        show(table)
    _say_machine()


def shared(
    model: Models = None,
    side: Annotated[
        list[int] | None,
        typer.Option("--side", min=64, help="Side of the guide in pixels; repeatable.", show_default="256 and 512"),
    ] = None,
    repeats: Annotated[int, typer.Option("--repeats", min=1, help="Calls of which the median counts.")] = 9,
) -> None:
    """Measure what other work on all cores does to graphsr.upsample.

    The commands let their threads sleep while they wait for each other; libraries by themselves let them spin. Both are
    measured, on the machine as it is and beside a busy process on every core.

    \b
    Example:
      graphsr benchmark shared --model colour
    """
    from graphsr.errors import InputError
    from graphsr.experiments.benchmarks.shared import FACTOR, measure

    sides = side or [256, 512]
    wrong = next((each for each in sides if each % FACTOR), None)
    if wrong is not None:
        raise InputError(f"benchmark shared: --side must be a multiple of {FACTOR}, not {wrong}")
    headings = ("model", "guide", "free", "spinning", "cost", "met", "loaded", "spinning", "slower", "met")
    table = new_table(headings, words=2, title=f"Milliseconds of a call, medians of {repeats}")
    with status_line("starting") as update:
        for row in measure(model or _BOTH, sides, repeats, update):
            free, free_spinning, loaded, loaded_spinning = map(
                _milliseconds, (row.free, row.free_spinning, row.loaded, row.loaded_spinning)
            )
            cost = f"{row.cost:+.1%}", _VERDICT[row.cost <= _MOST_COST]
            slower = f"{row.slowdown:.2f}", _VERDICT[row.slowdown <= _MOST_SLOWDOWN]
            size = f"{row.side} x {row.side}"
            table.add_row(row.model, size, free, free_spinning, *cost, loaded, loaded_spinning, *slower)
    show(table)
    _say_machine()


def _milliseconds(seconds: float) -> str:
    return f"{1e3 * seconds:.0f}" if seconds >= 0.1 else f"{1e3 * seconds:.3g}"


def _say_machine() -> None:
    import os

    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    say("machine", f"{os.cpu_count()} cores; load {load:.1f} in the last minute, with this program")
    if load > 1.5 * (os.cpu_count() or 1):
        note("other programs were using this machine, so the times may be off")
