"""graphsr upsample: one pair of files in, one file out; or folders of them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphsr.cli.console import complain, counting, note, say, working
from graphsr.cli.options import Confidence, Exact, Guide, Missing, Model, Output, Preview, Source
from graphsr.errors import InputError

if TYPE_CHECKING:
    from graphsr.files.batch import Outcome
    from graphsr.files.pair import Choices, FileReport

SOME_FAILED = 1
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", min=1, help="Pairs of a batch at the same time.", show_default="one a core"),
]


def upsample(
    guide: Guide,
    source: Source,
    output: Output,
    model: Model = "default",
    confidence: Confidence = None,
    exact: Exact = False,
    missing: Missing = None,
    preview: Preview = None,
    jobs: Jobs = None,
) -> None:
    """Upsample SOURCE to the resolution of GUIDE.

    Both show the same view, upright; the factor between them can be any number.
    Formats: PNG, JPEG, TIFF, NPY, NPZ, PFM, and EXR with the extra graphsr\\[exr].
    Two folders, or two patterns in quotes, are matched by the names of their files; OUT is then a folder, and so are
    the other files named. A bad pair is reported and skipped, and the exit code is 1.

    \b
    Examples:
      graphsr upsample photo.jpg lidar.png -o depth.png --preview look.png
      graphsr upsample colour.png kinect.png -o depth.png --missing 0
      graphsr upsample orthophoto.tif heights.tif -o fine.tif --missing -9999
      graphsr upsample photos/ depths/ -o large/
      graphsr upsample 'photos/*.jpg' 'depths/*.png' -o large/ --jobs 4
    """
    # Imported here, as torch and numba take seconds that `graphsr --help` should not.
    from graphsr.files.batch import is_batch
    from graphsr.files.pair import Choices, PairFiles, upsample_pair

    choices = Choices(model, exact, missing)
    if is_batch(guide, source):
        _upsample_all(guide, source, output, confidence, preview, choices, jobs)
        return
    if is_batch(guide) or is_batch(source):
        many, one = (guide, source) if is_batch(guide) else (source, guide)
        raise InputError(
            f"{many}: is a folder or a pattern, but {one} is one file; give two files, or for many pairs two folders"
        )
    with working(f"upsampling {source.name}"):
        report = upsample_pair(PairFiles(guide, source, output, confidence, preview), choices, note)
    _tell(report)


def _tell(report: FileReport) -> None:
    files = report.files
    say("guide", f"{files.guide}, {report.guide}")
    say("source", f"{files.source}, {report.source}{f', {report.holes:,} missing' if report.holes else ''}")
    say("factor", "{:.4g} x {:.4g}".format(*report.factors))
    say("time", f"{report.solved.seconds:.1f} s")
    say("fidelity", f"the target averages back to the source within {report.solved.fidelity:.3g} (RMS)")
    say("written", f"{files.output}, {report.size}, {report.stored_type}", *report.written.remarks())
    if files.preview is not None:
        say("preview", str(files.preview))


def _upsample_all(
    guides: Path,
    sources: Path,
    output: Path,
    confidences: Path | None,
    previews: Path | None,
    choices: Choices,
    jobs: int | None,
) -> None:
    from graphsr import load
    from graphsr.files import batch as batches

    if confidences is not None and not batches.is_batch(confidences):
        raise InputError(f"{confidences}: with many pairs --confidence is a folder, or a pattern in quotes")
    batch = batches.matched(guides, sources, output, confidences=confidences, previews=previews)
    load(choices.model)  # what is wrong with it is wrong for every pair
    for folder in (output, previews):
        if folder is not None:
            _make_folder(folder)
    total = len(batch.pairs) + len(batch.unmatched)
    outcomes: list[Outcome] = []
    with counting(f"upsampling {total} pairs") as progress:
        for outcome in batches.run(batch, choices, jobs or os.cpu_count() or 1):
            outcomes.append(outcome)
            progress(len(outcomes), total)
    _summarise(sorted(outcomes, key=lambda outcome: outcome.name), output)


def _make_folder(folder: Path) -> None:
    try:
        folder.mkdir(exist_ok=True)
    except FileExistsError as error:
        raise InputError(f"{folder}: is a file, but many pairs need a folder to write to") from error
    except OSError as error:
        raise InputError(f"{folder}: cannot be made ({error.strerror})") from error


def _summarise(outcomes: list[Outcome], output: Path) -> None:
    for outcome in outcomes:
        for remark in outcome.remarks:
            note(remark)
    done = [outcome.report for outcome in outcomes if outcome.report is not None]
    for report in done:
        rms = f"averages back within {report.solved.fidelity:.3g} (RMS)"
        say("written", f"{report.files.output}, {report.size}, {report.stored_type}; {rms}")
    failed = [outcome for outcome in outcomes if outcome.report is None]
    say("pairs", f"{len(done)} of {len(outcomes)} written to {output}{f', {len(failed)} failed' if failed else ''}")
    for outcome in failed:
        complain(outcome.error if outcome.name in outcome.error else f"{outcome.name}: {outcome.error}")
    if failed:
        raise typer.Exit(SOME_FAILED)
