"""graphsr video: the frames of a video, each begun from the one before."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphsr.cli.console import note, print_error, progress_bar, say
from graphsr.cli.options import Exact, Missing, Model, Noise, Overwrite, Robust, Rtol
from graphsr.cli.upsample import SOME_FAILED

Guides = Annotated[
    Path,
    typer.Argument(
        metavar="GUIDES",
        help="The folder of guides, matched with the sources by name; or a video file, its frames in order.",
    ),
]
Sources = Annotated[Path, typer.Argument(metavar="SOURCES", help="The folder of sources.")]
Output = Annotated[Path, typer.Option("-o", "--output", metavar="OUT", help="The folder to write to.")]
Confidence = Annotated[
    Path | None,
    typer.Option(
        "--confidence",
        metavar="FOLDER|FILE|NUMBER",
        help="How much source pixels count, from 0 (missing) to 1 (or 255 in 8 bits): a folder of images called like "
        "the sources, one image for all, or one number.",
    ),
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
    confidence: Confidence = None,
    noise: Noise = None,
    robust: Robust = False,
    exact: Exact = False,
    missing: Missing = None,
    overwrite: Overwrite = False,
    rtol: Rtol = None,
) -> None:
    """Upsample the frames of a video in the order of their names; targets are called like their sources.

    A frame that fails is reported and skipped, and the exit code is 1. Video files need the extra graphsr\\[video].

    \b
    Examples:
      graphsr video photos/ depths/ -o large/ --steady
      graphsr video photos/ depths/ -o large/ --steady --noise auto --robust
      graphsr video film.mp4 depths/ -o large/ --missing 0
    """
    from graphsr.files.confidence import confidence_number
    from graphsr.files.frames import VideoFiles, upsample_video
    from graphsr.files.pair import PairOptions
    from graphsr.measurements.noise import parse_noise

    number = confidence_number(confidence)
    files = VideoFiles(guides, sources, output, confidence if number is None else None)
    options = PairOptions(
        model, number, exact, parse_noise(noise), robust, rtol=rtol, missing=missing, overwrite=overwrite
    )
    with progress_bar(f"upsampling {sources}") as progress:
        report = upsample_video(files, options, steady=steady, note=note, failed=print_error, progress=progress)
    failed = report.frames - report.written
    say("frames", f"{report.written} of {report.frames} written to {output}{f', {failed} failed' if failed else ''}")
    if report.written:
        rate = f"{report.written / report.seconds:.2g} frames a second, {report.iterations:.0f} iterations each"
        say("time", f"{report.seconds:.1f} s, {rate}")
        if report.noise is not None:
            how = ", estimated, in the mean of the frames" if options.noise == "auto" else ""
            say("noise", f"{report.noise:.3g} (standard deviation){how}")
        if robust:
            say("outliers", f"{report.switched_off:.3g} source pixels of a frame switched off, in the mean")
    if failed:
        raise typer.Exit(SOME_FAILED)
