"""graphsr benchmark, the commands on real measurements: alignment, noise, outliers, points, frames."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphsr.cli.console import new_table, say, show, status_line
from graphsr.cli.options import Model
from graphsr.errors import InputError

Sets = Annotated[Path, typer.Option("--data", metavar="FOLDER", help="Folder of the data sets, as in docs/data.md.")]
Pairs = Annotated[int, typer.Option("--pairs", min=1, help="Pairs of each data set.")]
Factors = Annotated[str, typer.Option("--factors", metavar="A,B", help="Upsampling factors.")]
Side = Annotated[int, typer.Option("--side", min=64, help="Side of the crop of each pair, in pixels.")]


def points(
    data: Annotated[str, typer.Option("--data", metavar="KIND:FOLDER", help="A data set, as in graphsr evaluate.")],
    model: Model = "default",
    count: Annotated[list[int], typer.Option("--points", min=4, help="Points on each pair; repeatable.")] = [500],  # noqa: B006
    pairs: Annotated[int | None, typer.Option("--pairs", min=1, help="At most so many pairs, evenly chosen.")] = None,
    split: Annotated[str, typer.Option(help="train, val or test.")] = "val",
) -> None:
    """Measure graphsr complete beside linear interpolation, on points drawn from true maps.

    \b
    Example:
      graphsr benchmark points --data hci:light-fields --points 100 --points 500
    """
    from graphsr.data import open_pairs
    from graphsr.experiments.benchmarks.points import measure
    from graphsr.models.registry import load

    kind, _, folder = data.partition(":")
    found = open_pairs(kind, folder, split)
    chosen = found[:: max(1, len(found) // pairs) if pairs else 1][:pairs]
    headings = ("points", "pairs", "RMSE", "linear", "by linear", "mean ratio", "spots", "iterations", "s")
    grid = new_table(headings, words=0, title=f"{model} on {kind}")
    with status_line("starting") as update:
        for row in measure(load(model), chosen, count, update):
            errors = f"{row.rmse:.4g}", f"{row.linear_rmse:.4g}", f"{row.rmse / row.linear_rmse:.3f}"
            costs = f"{row.iterations:.0f}", f"{row.seconds:.2f}"
            grid.add_row(str(row.points), str(row.pairs), *errors, f"{row.ratio:.3f}", f"{row.spots:.2f}", *costs)
    show(grid)


def frames(
    model: Model = "default",
    count: Annotated[int, typer.Option("--frames", min=5, help="How many frames a film has.")] = 12,
    side: Annotated[int, typer.Option("--side", min=64, help="Side of the frames, in pixels.")] = 256,
    noise: Annotated[float, typer.Option("--noise", min=0, help="Of the sources, in metres.")] = 0.03,
    seed: Annotated[int, typer.Option("--seed", help="Which scene.")] = 7,
) -> None:
    """Measure graphsr video on rendered films, x8: a still one, one with a moving thing, one with a moving camera.

    \b
    Example:
      graphsr benchmark frames --model colour
    """
    from graphsr.experiments.benchmarks.frames import measure
    from graphsr.models.registry import load

    headings = ("moves", "upsampled", "iterations", "frames/s", "flicker cm", "RMSE still cm", "RMSE moving cm")
    grid = new_table(headings, words=2, title=f"{model}, {side} x {side} pixels, noise of {100 * noise:g} cm")
    size = side // 8 * 8, side // 8 * 8
    with status_line("starting") as update:
        for row in measure(load(model), seed=seed, frames=count, size=size, noise=noise, progress=update):
            lengths = (f"{100 * value:.2f}" for value in (row.flicker, row.still_error, row.moving_error))
            grid.add_row(row.film, row.way, f"{row.iterations:.0f}", f"{row.frames_per_second:.2g}", *lengths)
    show(grid)


def alignment(
    data: Annotated[
        Path | None, typer.Option("--data", metavar="FOLDER", help="Also pairs of the data sets in it.")
    ] = None,
    pairs: Pairs = 4,
    scenes: Annotated[int, typer.Option("--scenes", min=0, help="How many rendered scenes.")] = 8,
    factors: Factors = "4,8,16",
    model: Model = "default",
    solve: Annotated[bool, typer.Option("--solve/--no-solve", help="Also compare targets.")] = True,
) -> None:
    """Measure how well known shifts of sources are found, and what that does to the target.

    Sources are shifted by 0.5 to 6 guide pixels. Rendered scenes are aligned by construction. Maps of data sets may lie
    a little beside their guides, so there the shift found is also compared with the true one plus how the map itself
    lies, which is found at x2.

    \b
    Examples:
      graphsr benchmark alignment
      graphsr benchmark alignment --data data/ --pairs 10 --factors 4,8 --model colour --no-solve
    """
    from itertools import chain

    from graphsr.experiments.benchmarks import alignment as measure
    from graphsr.experiments.benchmarks.validation_pairs import read_pairs
    from graphsr.models.registry import load

    chosen = _checked(data, factors)
    if data is None and not scenes:
        raise InputError("nothing to measure: --scenes must be above 0, or --data name a folder")
    with status_line("starting") as update:
        found = chain(measure.rendered_pairs(scenes), () if data is None else read_pairs(data, pairs))
        cases = measure.run(found, chosen, model=load(model).eval(), solve=solve, update=update)
    headings = ("set", "factor", "pairs", "aligned", "within 0.25", "of own", "median", "RMSE ratio", "within 10 %")
    table = new_table(headings, words=1, title="Shifts of 0.5 to 6 guide pixels")
    for name in (*dict.fromkeys(case.set for case in cases), "all"):
        for factor in chosen:
            row = measure.summarise([case for case in cases if name in (case.set, "all") and case.factor == factor])
            shares = (f"{share:.0%}" for share in (row.aligned, row.close, row.close_to_own))
            ratios = (f"{row.rmse_ratio:.2f}", f"{row.rmse_within:.0%}") if solve else ("", "")
            table.add_row(name, f"x{factor}", str(row.cases), *shares, f"{row.error:.2f}", *ratios)
    show(table)


def noise(
    data: Sets,
    model: Model = "default",
    pairs: Pairs = 2,
    factors: Factors = "4,8,16",
    noises: Annotated[
        list[float], typer.Option("--noise", min=0, max=1, help="Of the range of the source; repeatable.")
    ] = [0.01, 0.04],  # noqa: B006 (typer reads it)
    side: Side = 192,
) -> None:
    """Measure how a stated noise is turned into a confidence: RMSE above that of the best of 13 confidences.

    \b
    Example:
      graphsr benchmark noise --data data/ --model colour --noise 0.02
    """
    from graphsr.experiments.benchmarks import noise as measure
    from graphsr.models.registry import load

    chosen = _checked(data, factors)
    with status_line("starting") as update:
        cases = measure.run(data, load(model), factors=chosen, noises=noises, pairs=pairs, side=side, update=update)
    headings = ("noise", "in the mean", "at most", "by at most 5 % in")
    table = new_table(headings, words=1, title=f"{model}, {len(cases)} cases: RMSE above the best confidence's")
    for row in measure.summarise(cases):
        table.add_row(row.way, *(f"{100 * part:.1f} %" for part in (row.mean, row.largest, row.close)))
    show(table)


def outliers(
    data: Sets,
    model: Model = "default",
    pairs: Pairs = 2,
    factors: Factors = "8,16",
    share: Annotated[float, typer.Option("--outliers", min=0, max=1, help="Part of the source pixels.")] = 0.05,
    side: Side = 192,
) -> None:
    """Measure how outliers are found; RMSE is relative to bicubic interpolation of the source without them.

    \b
    Example:
      graphsr benchmark outliers --data data/ --model colour --outliers 0.1
    """
    from graphsr.experiments.benchmarks import outliers as measure
    from graphsr.models.registry import load

    chosen = _checked(data, factors)
    with status_line("starting") as update:
        cases = measure.run(data, load(model), factors=chosen, share=share, pairs=pairs, side=side, update=update)
    headings = (
        "set",
        "pair",
        "factor",
        "wrong",
        "found",
        "lost",
        "nothing",
        "robust",
        "known",
        "clean",
        "clean robust",
    )
    table = new_table(headings, words=2, title=f"{model}, {100 * share:g} % of the source pixels are anything")
    for case in cases:
        counts = f"x{case.factor}", str(case.wrong), str(case.found), str(case.lost)
        errors = case.nothing, case.robust, case.known, case.clean, case.clean_robust
        table.add_row(case.set, case.pair, *counts, *(f"{error:.3f}" for error in errors))
    show(table)
    for factor in chosen:
        some = [case for case in cases if case.factor == factor]
        if some:
            means = (sum(getattr(case, n) for case in some) / len(some) for n in ("nothing", "robust", "known"))
            say(f"x{factor}", "in the mean {:.3f} with nothing done, {:.3f} robust, {:.3f} known".format(*means))


def _checked(data: Path | None, factors: str) -> tuple[int, ...]:
    """Return the factors that a text names; raise InputError if it names none, or if the folder is not there."""
    if data is not None and not data.is_dir():
        raise InputError(f"{data}: no such folder; --data is the folder that holds the data sets")
    try:
        chosen = tuple(int(word) for word in factors.split(","))
    except ValueError:
        chosen = ()
    if not chosen or min(chosen) < 2:
        raise InputError(f"--factors {factors!r}: must be whole numbers of at least 2, such as 4,8,16")
    return chosen
