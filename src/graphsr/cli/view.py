"""graphsr view: a pair and its target in the browser."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphsr.cli.console import note, results, say, share_bar, spinner
from graphsr.cli.options import (
    Align,
    Confidence,
    Exact,
    Focal,
    Footprint,
    Guide,
    Intrinsics,
    Kind,
    Missing,
    Model,
    Noise,
    Overwrite,
    Robust,
    Source,
    Unit,
)
from graphsr.errors import InputError

if TYPE_CHECKING:
    from graphsr.files.pair import PairFiles, PairOptions
    from graphsr.upsampling import Upsampled
    from graphsr.viewer import Session, ViewedPair

Target = Annotated[Path | None, typer.Argument(metavar="TARGET", help="A target to look at, instead of solving first.")]
Truth = Annotated[Path | None, typer.Option("--truth", metavar="FILE", help="The true target, to compare with.")]
Page = Annotated[
    Path | None,
    typer.Option(
        "-o",
        "--output",
        metavar="PAGE.html",
        help="Write the page into one file that can be sent to somebody, instead of opening it.",
    ),
]
Port = Annotated[
    int, typer.Option("--port", metavar="N", min=0, max=65535, help="The port to serve at.", show_default="any")
]
NoBrowser = Annotated[bool, typer.Option("--no-browser", help="Print the address, and open no browser.")]

_LOOK_EVERY = 0.1  # seconds


def view(
    guide: Guide,
    source: Source,
    target: Target = None,
    output: Page = None,
    truth: Truth = None,
    unit: Unit = "",
    focal: Focal = None,
    intrinsics: Intrinsics = None,
    model: Model = "default",
    confidence: Confidence = None,
    noise: Noise = None,
    robust: Robust = False,
    exact: Exact = False,
    footprint: Footprint = "box",
    align: Align = None,
    missing: Missing = None,
    kind: Kind = "values",
    uncertainty: Annotated[bool, typer.Option("--uncertainty", help="Also find how sure the target is.")] = False,
    port: Port = 0,
    no_browser: NoBrowser = False,
    overwrite: Overwrite = False,
) -> None:
    """Look at GUIDE, SOURCE and the target in the browser: compare, zoom, read values, solve again.

    The page is served to this machine alone, at an address with a random token; nothing is fetched from or sent to the
    internet. Ctrl-C ends it.

    \b
    Examples:
      graphsr view photo.jpg lidar.png --unit mm
      graphsr view photo.jpg lidar.png depth.png --focal 1450
      graphsr view photo.jpg tof.png --truth laser.png --noise auto --uncertainty
      graphsr view photo.jpg lidar.png -o page.html
    """
    # Imported here, as torch and numba take seconds that `graphsr --help` should not.
    from graphsr.files.camera import parse_camera
    from graphsr.files.confidence import confidence_number
    from graphsr.files.outputs import check_outputs
    from graphsr.files.pair import PairOptions
    from graphsr.measurements.noise import parse_noise
    from graphsr.viewer import Session, read_viewed_pair
    from graphsr.viewer.export import check_page

    camera = parse_camera(focal, intrinsics, None)
    number = confidence_number(confidence)
    inputs = [guide, source, target, truth, confidence if number is None else None]
    if output is not None:
        check_outputs({"--output": output}, inputs=inputs, overwrite=overwrite)
        check_page(output)
    sigma = parse_noise(noise)
    options = PairOptions(
        model, number, exact, sigma, robust, footprint, kind, uncertainty, align, missing=missing, camera=camera
    )
    with spinner(f"reading {source.name}"):
        pair = read_viewed_pair(
            guide, source, model=model, target=target, truth=truth, confidence=inputs[-1], missing=missing
        )
        try:
            session = Session(pair, options, unit=unit, explain=_sentence)
        except InputError as error:
            raise InputError(f"{guide}, {source}: {error}") from error
    _print_notes(pair, missing)
    if output is not None:
        _write(session, output, source)
        return
    if not session.has_target:
        session.solve()
    _serve(session, port, open_browser=not no_browser)


def view_result(files: PairFiles, options: PairOptions, result: Upsampled, unit: str) -> None:
    """Show what `graphsr upsample` has just computed."""
    from graphsr.viewer import Session, read_viewed_pair

    pair = read_viewed_pair(
        files.guide, files.source, model=options.model, confidence=files.confidence, missing=options.missing
    )
    session = Session(pair, options, result=result, unit=unit, explain=_sentence)
    _serve(session, 0, open_browser=True)


def _serve(session: Session, port: int, *, open_browser: bool) -> None:
    import webbrowser

    from graphsr.viewer import ViewServer

    with ViewServer(session, port) as server:
        say("page", server.address, "for this machine alone; Ctrl-C ends it")
        results.file.flush()
        if open_browser and not webbrowser.open(server.address):
            note("no browser could be opened; open the address above in one on this machine")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            session.cancel()


def _write(session: Session, output: Path, source: Path) -> None:
    from graphsr.viewer import write_page

    if not session.has_target:
        with share_bar(f"upsampling {source.name}") as show:
            session.solve()
            while not session.wait(_LOOK_EVERY):
                solving = session.progress()["solving"]
                if solving is not None:
                    show(solving["message"], solving["fraction"] or 0.0)
        if session.error:
            raise InputError(session.error)
    with spinner(f"writing {output.name}"):
        size = write_page(session, output)
    say("written", f"{output}, {size / 1e6:.1f} MB")


def _print_notes(pair: ViewedPair, missing: float | None) -> None:
    import numpy as np

    from graphsr.files.pair import pair_notes

    holes = int(np.isnan(pair.source_values(missing)).sum())
    for sentence in pair_notes(pair.guide, pair.source, missing, holes):
        note(sentence)


def _sentence(error: Exception) -> str:
    from graphsr.cli.errors import explain

    return explain(error)[1]
