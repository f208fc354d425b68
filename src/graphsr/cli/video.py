"""graphsr video: the frames of a video, each begun from the one before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphsr.cli.console import note, print_error, progress_bar, say
from graphsr.cli.options import Exact, Missing, Model, Overwrite
from graphsr.cli.upsample import SOME_FAILED

Guides = Annotated[
    Path,
    typer.Argument(
        metavar="GUIDES",
        help="The folder of guides, matched with the sources by name; or a video file, its frames in order.",
        show_default=False,
    ),
]
Sources = Annotated[Path, typer.Argument(metavar="SOURCES", help="The folder of sources.", show_default=False)]
Output = Annotated[
    Path, typer.Option("-o", "--output", metavar="OUT", help="The folder to write to.", show_default=False)
]
Steady = Annotated[
    bool, typer.Option("--steady", help="Average over time where nothing moves: takes flicker away from noisy sources.")
]


def video(
    guides: Guides,
    sources: Sources,
    output: Output,
    model: Model = "default",
    steady: Steady = False,
    exact: Exact = False,
    missing: Missing = None,
    overwrite: Overwrite = False,
) -> None:
    """Upsample the frames of a video in the order of their names; targets are called like their sources.

    A frame that fails is reported and skipped, and the exit code is 1. Video files need the extra graphsr\\[video].

    \b
    Examples:
      graphsr video photos/ depths/ -o large/ --steady
      graphsr video film.mp4 depths/ -o large/ --missing 0
    """
    import time

    from graphsr.files.frames import count_frames, upsample_video
    from graphsr.files.pair import PairOptions

    options = PairOptions(model, exact, missing, overwrite)
    total = count_frames(sources)
    began, done, iterations, failed, noted = time.perf_counter(), 0, 0, 0, set[str]()
    with progress_bar(f"upsampling {total} frames") as progress:
        for outcome in upsample_video(guides, sources, output, options, steady=steady):
            for sentence in outcome.notes:
                about = sentence.partition(": ")[2]
                if about not in noted:  # once, not for every frame
                    note(sentence)
                noted.add(about)
            if outcome.report is None:
                failed += 1
                print_error(outcome.error if outcome.name in outcome.error else f"{outcome.name}: {outcome.error}")
            else:
                done += 1
                iterations += outcome.report.solve.iterations
            progress(done + failed, total)
    seconds = time.perf_counter() - began
    say("frames", f"{done} of {total} written to {output}{f', {failed} failed' if failed else ''}")
    if done:
        say("time", f"{seconds:.1f} s, {done / seconds:.2g} frames a second, {iterations / done:.0f} iterations each")
    if failed:
        raise typer.Exit(SOME_FAILED)
