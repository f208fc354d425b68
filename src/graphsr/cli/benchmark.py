"""graphsr benchmark: speed and accuracy on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphsr.cli import benchmark_costs, benchmark_measurements, benchmark_speed
from graphsr.cli.console import new_table, note, say, show, status_line
from graphsr.cli.options import Overwrite
from graphsr.cli.verbosity import with_verbosity
from graphsr.errors import InputError

if TYPE_CHECKING:
    from rich.table import Table

    from graphsr.experiments.benchmarks.solver import Goal, SolverBenchmark

app = typer.Typer(no_args_is_help=True)

_VERDICT = {True: "[green]yes[/]", False: "[bold red]no[/]", None: "not measured"}


@app.callback()
def benchmark() -> None:
    """Measure speed and accuracy on this machine."""


@app.command()
@with_verbosity
def solver(
    pairs: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[GUIDE TRUTH]...",
            help="Real pairs to measure on as well: an image, and the map of its view at the same resolution.",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="One lambda, and a large image of 2048 pixels.")] = False,
    scenes: Annotated[int, typer.Option("--scenes", min=1, help="How many synthetic scenes.")] = 1,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", help="Also write every figure to this file.")
    ] = None,
    overwrite: Overwrite = False,
    size: Annotated[int, typer.Option("--size", hidden=True, min=32)] = 256,
    repeats: Annotated[int, typer.Option("--repeats", hidden=True, min=1)] = 7,
) -> None:
    """Measure the solve beside the published recipe, and against its goals.

    Times are the best of several. The recipe's matrix is built in advance and not counted, our set-up is; and the
    recipe is charged only the time it had a core for, so that a busy machine does not flatter us. Sources are
    averages of the maps. The whole takes a quarter of an hour, most of it for the recipe; --quick a few minutes.

    \b
    Examples:
      graphsr benchmark solver --quick
      graphsr benchmark solver color.png disparity.pfm --json figures.json
    """
    files = pairs or []
    if len(files) % 2:
        raise InputError("benchmark solver: files come in pairs, GUIDE TRUTH; the last guide has no truth")
    if size % 32:
        raise InputError(f"benchmark solver: --size must be a multiple of 32, not {size}")

    from graphsr.experiments.benchmarks import solver as solver_benchmark
    from graphsr.experiments.benchmarks.solver_problems import pair_from_files
    from graphsr.files import check_outputs
    from graphsr.files.atomic import check_folder

    check_outputs({"--json": json_file}, inputs=files, overwrite=overwrite)
    if json_file is not None:
        check_folder(json_file)
    make = solver_benchmark.Settings.quick if quick else solver_benchmark.Settings
    settings = make(side=size, scenes=scenes, repeats=repeats)
    real = [pair_from_files(guide, truth, (size, size)) for guide, truth in zip(files[::2], files[1::2], strict=True)]
    with status_line("starting", every=0) as update:
        measured = solver_benchmark.run(settings, real, update)
    _show(measured)
    if json_file is not None:
        _write(json_file, measured)


app.command()(with_verbosity(benchmark_speed.speed))
app.command()(with_verbosity(benchmark_speed.shared))


@app.command()
@with_verbosity
def raster(
    side: Annotated[int, typer.Option("--side", min=256, help="Side of the raster, in pixels.")] = 4096,
    workers: Annotated[
        list[int] | None,
        typer.Option("--workers", metavar="N", min=1, help="Also run on N processes; may be repeated."),
    ] = None,
    borders: Annotated[bool, typer.Option("--borders/--no-borders", help="Measure how far a border reaches.")] = True,
) -> None:
    """Measure tiles: how far the effect of a border reaches, whether seams show, and what tiles cost.

    The raster is made of rendered scenes, x8, and upsampled with the colour model on one thread. A run is compared with
    the sum of its tiles done alone. Needs the extra graphsr\\[geo].

    \b
    Examples:
      graphsr benchmark raster
      graphsr benchmark raster --side 8192 --no-borders --workers 1 --workers 2
    """
    import tempfile

    from graphsr.experiments.benchmarks import raster as measure

    with status_line("starting") as update:
        if borders:
            cases = [(g, f, w) for g in ("scene", "wires", "noise") for f in (2, 4, 8, 16) for w in (1e-4, 9e-4, 1e-1)]
            headings = ("graph", "factor", "lambda", *(f"{limit:g} std" for limit in measure.LIMITS), "halo")
            table = new_table(headings, words=1, title="Pixels from a border until its effect is less")
            for case in cases:
                update(f"border: {case[0]}, x{case[1]}, lambda {case[2]:g}")
                row = measure.border(*case)
                table.add_row(row.graph, f"x{row.factor}", f"{row.weight:g}", *map(str, row.reach), str(row.halo))
            show(table)
        with tempfile.TemporaryDirectory() as folder:
            done = measure.measure_run(Path(folder), side, tuple(workers or ()), update)
    say("raster", f"{side} x {side}, {done.tiles} tiles, one thread")
    say("time", f"{done.seconds:.1f} s, {done.seconds / done.alone_seconds:.2f} times its tiles alone (goal: 1.3)")
    say("processor", f"{done.cpu_seconds / (side * side / 1e6):.2f} s a megapixel, the output included (goal: 0.7)")
    say("seams", f"{done.seams:.1e} of the target's standard deviation at the most (goal: 1e-3)")
    for count, (tiles, seconds) in done.workers.items():
        fewest = min(done.workers)
        faster, in_all = (done.workers[fewest][n] / (tiles, seconds)[n] for n in range(2))
        beside = f"; {faster:.2f} and {in_all:.2f} times as fast as {fewest}" if count != fewest else ""
        say("workers", f"{count}: {tiles:.1f} s for the tiles, {seconds:.1f} s in all{beside}")


for command in ("points", "frames", "alignment", "noise", "outliers"):
    app.command()(with_verbosity(getattr(benchmark_measurements, command)))


for _command in (benchmark_costs.channels, benchmark_costs.footprints, benchmark_costs.holes):
    app.command()(_command)


def _show(measured: SolverBenchmark) -> None:
    for table in (_comparison_table(measured), _ratio_table(measured), _goal_table(measured.goals)):
        show(table)
    now = measured.conditions
    say("machine", f"{now.cores} cores, {now.threads} threads; load {now.load_before:.1f} to {now.load_after:.1f}")
    if now.load_before > 0.5:
        note("other programs were using this machine; the times may be off, those on all cores most of all")


def _comparison_table(measured: SolverBenchmark) -> Table:
    recipe, ours = ("recipe s", "iter.", "error"), ("ours s", "iter.", "error", "rtol")
    table = new_table(
        ("pair", "problem", *recipe, *ours, "faster", "1 thread", "goal", "met"),
        words=2,
        title="Beside the recipe (error: RMS against a direct solve, in standard deviations of the source)",
    )
    from graphsr.experiments.benchmarks.solver import SPEEDUPS

    for row in measured.comparisons:
        limit = SPEEDUPS[row.factor]
        table.add_row(
            *(row.pair, f"x{row.factor:g} {row.graph} {row.weight:g}"),
            *(f"{row.recipe_seconds:.3g}", f"{row.recipe_iterations}{'' if row.recipe_converged else '+'}"),
            *(f"{row.recipe_error:.1e}", f"{row.seconds:.4f}", str(row.iterations), f"{row.error:.1e}"),
            *(f"{row.rtol:.1e}", f"{row.speedup:.0f}x", f"{row.speedup_one_thread:.0f}x", f"{limit:.0f}x"),
            _VERDICT[row.no_less_accurate and row.speedup >= limit],
        )
    return table


def _ratio_table(measured: SolverBenchmark) -> Table:
    table = new_table(("of", "case", "seconds", "against", "ratio"), words=2, title="Ratios")
    for ratio in measured.ratios:
        seconds, base = f"{ratio.seconds:.4f}", f"{ratio.base_seconds:.4f}"
        table.add_row(ratio.name, ratio.case, seconds, base, f"{ratio.value:.2f}")
    return table


def _goal_table(goals: tuple[Goal, ...]) -> Table:
    headings = ("what", "worst case", "goal", "measured", "met")
    table = new_table(headings, words=2, title="Goals (the worst case counts)")
    for goal in goals:
        bound = f"{'at least' if goal.at_least else 'at most'} {goal.limit:g}{goal.unit}"
        figure = "" if goal.measured is None else f"{goal.measured:.3g}{goal.unit}"
        if goal.measured is not None and goal.measured >= 100:
            figure = f"{goal.measured:.0f}{goal.unit}"
        table.add_row(goal.name, goal.case, bound, figure, _VERDICT[goal.met])
    return table


def _write(path: Path, measured: SolverBenchmark) -> None:
    import json
    from dataclasses import asdict

    from graphsr.files.atomic import whole_file

    figures = asdict(measured)
    for entry, row in zip(figures["comparisons"], measured.comparisons, strict=True):
        entry["speedup"], entry["speedup_one_thread"] = row.speedup, row.speedup_one_thread
    for entry, goal in zip(figures["goals"], measured.goals, strict=True):
        entry["met"] = goal.met
    with whole_file(path) as temporary:
        temporary.write_text(json.dumps(figures, indent=2) + "\n")
