"""graphsr upsample: one pair of files in, one file out; or folders of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphsr.cli.console import note, print_error, progress_bar, say, solve_bar, switched_off
from graphsr.cli.options import (
    Align,
    Baseline,
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
    Output,
    Overwrite,
    Ply,
    Preview,
    Robust,
    Rtol,
    Source,
    Uncertainty,
    Unit,
    View,
)
from graphsr.cli.view import view_result
from graphsr.errors import InputError

if TYPE_CHECKING:
    from graphsr.files.batch import Outcome
    from graphsr.files.pair import PairFiles, PairOptions, PairReport
    from graphsr.upsampling import Upsampled

SOME_FAILED = 1
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", metavar="N", min=1, help="Pairs of a batch at the same time.", show_default="one a core"),
]

# A mean confidence below this is worth a line.
_DOUBTED = 0.95


def upsample(
    guide: Guide,
    source: Source,
    output: Output,
    model: Model = "default",
    confidence: Confidence = None,
    noise: Noise = None,
    robust: Robust = False,
    exact: Exact = False,
    footprint: Footprint = "box",
    align: Align = None,
    missing: Missing = None,
    preview: Preview = None,
    uncertainty: Uncertainty = None,
    ply: Ply = None,
    focal: Focal = None,
    intrinsics: Intrinsics = None,
    baseline: Baseline = None,
    overwrite: Overwrite = False,
    jobs: Jobs = None,
    kind: Kind = "values",
    view: View = False,
    unit: Unit = "",
    rtol: Rtol = None,
) -> None:
    """Upsample SOURCE to the resolution of GUIDE.

    Both show the same view, upright; the factor between them can be any number.
    Formats: PNG, JPEG, TIFF, NPY, NPZ, PFM, and EXR with the extra graphsr\\[exr]; WebP, BMP, PGM and PPM as inputs.
    Two folders, or two patterns in quotes, are matched by the names of their files; OUT is then a folder, and so are
    the other files named. A pair that fails is reported and skipped, and the exit code is 1.

    \b
    Examples:
      graphsr upsample photo.jpg lidar.png -o depth.png --preview look.png
      graphsr upsample colour.png kinect.png -o depth.png --missing 0
      graphsr upsample photo.jpg tof.png -o depth.png --noise auto --robust
      graphsr upsample orthophoto.tif heights.tif -o fine.tif --missing -9999
      graphsr upsample photo.jpg lidar.png -o depth.png --uncertainty std.tif
      graphsr upsample photo.jpg lidar.png -o depth.png --ply room.ply --focal 900
      graphsr upsample photo.jpg thermal.tif -o fine.tif --align shift
      graphsr upsample photo.jpg lidar.png -o depth.png --view --unit mm
      graphsr upsample photos/ depths/ -o large/
      graphsr upsample 'photos/*.jpg' 'depths/*.png' -o large/ --jobs 4
      graphsr upsample photo.jpg scores.npy -o fine.npy --kind probabilities
    """
    # Imported here, as torch and numba take seconds that `graphsr --help` should not.
    from graphsr.files.batch import is_batch
    from graphsr.files.camera import parse_camera
    from graphsr.files.confidence import confidence_number
    from graphsr.files.pair import PairFiles, PairOptions, upsample_pair
    from graphsr.measurements.noise import parse_noise

    if unit and not view:
        raise InputError("--unit: is shown where the result is looked at; add --view")
    number = confidence_number(confidence)
    files = PairFiles(guide, source, output, confidence if number is None else None, preview, uncertainty, ply)
    options = PairOptions(
        model,
        number,
        exact,
        parse_noise(noise),
        robust,
        footprint,
        kind,
        uncertainty=uncertainty is not None,
        align=align,
        rtol=rtol,
        missing=missing,
        overwrite=overwrite,
        camera=parse_camera(focal, intrinsics, baseline, wanted=ply is not None or view),
        suspect_misalignment=not is_batch(guide, source),  # a look takes about as long as upsampling a small pair
    )
    if is_batch(guide, source):
        if view:
            raise InputError("--view: shows one pair, and these are many; look at one with graphsr view GUIDE SOURCE")
        _upsample_all(files, options, jobs or os.cpu_count() or 1)
        return
    if is_batch(guide) or is_batch(source):
        many, one = (guide, source) if is_batch(guide) else (source, guide)
        raise InputError(
            f"{many}: is a folder or a pattern, but {one} is one file; give two files, or for many pairs two folders"
        )
    kept: list[Upsampled] = []
    with solve_bar(f"upsampling {source.name}"):
        report = upsample_pair(files, options, note, keep=kept.append if view else None)
    _print_report(report)
    for result in kept:
        view_result(files, options, result, unit)


def _print_report(report: PairReport) -> None:
    files = report.files
    say("guide", f"{files.guide}, {report.guide}")
    say("source", f"{files.source}, {report.source}{f', {report.missing:,} missing' if report.missing else ''}")
    say("factor", "{1:.4g} x {0:.4g}".format(*report.factors))
    if report.solve.alignment:
        say("alignment", report.solve.alignment)
    say("time", f"{report.solve.seconds:.1f} s")
    say("fidelity", f"the target averages back to the source within {report.solve.fidelity:.3g} (RMS)")
    if report.solve.noise is not None:
        say("noise", _noise(report))
    if report.options.robust:
        say("outliers", switched_off(report.solve.switched_off))
    if report.solve.confidence < _DOUBTED:
        say("confidence", f"{report.solve.confidence:.2g} in the mean of the source pixels; 1 would keep them all")
    say("written", f"{files.output}, {report.size}, {report.stored_type}", *report.written.notes())
    if files.preview is not None:
        say("preview", str(files.preview))
    if report.written_uncertainty is not None:
        stored = report.written_uncertainty
        say("std", f"{files.uncertainty}, {report.size}, {stored.dtype}", *stored.notes())
    if report.point_cloud is not None:
        say("cloud", str(report.point_cloud))


def _in_short(report: PairReport) -> Iterator[str]:
    """Yield how the solve of one pair of many went."""
    solve = report.solve
    yield f"averages back within {solve.fidelity:.3g} (RMS)"
    if solve.noise is not None:
        yield f"noise {_noise(report)}"
    if report.options.robust:
        yield switched_off(report.solve.switched_off)
    if solve.alignment:
        yield solve.alignment


def _noise(report: PairReport) -> str:
    return f"{report.solve.noise:.3g} (standard deviation){', estimated' if report.options.noise == 'auto' else ''}"


def _upsample_all(folders: PairFiles, options: PairOptions, jobs: int) -> None:
    """Upsample the pairs of two folders or patterns; outputs and previews are folders too."""
    from graphsr.cli.compilation import compile_kernels
    from graphsr.files import make_folder
    from graphsr.files.batch import is_batch, match_pairs, run_batch

    if folders.confidence is not None and not is_batch(folders.confidence):
        raise InputError(f"{folders.confidence}: with many pairs --confidence is a folder, or a pattern in quotes")
    batch = match_pairs(
        folders.guide,
        folders.source,
        folders.output,
        confidences=folders.confidence,
        previews=folders.preview,
        uncertainties=folders.uncertainty,
        clouds=folders.ply,
    )
    model = options.load_model()
    options.check_model(model)  # what is wrong with it is wrong for every pair
    for folder in (folders.output, folders.preview, folders.uncertainty, folders.ply):
        if folder is not None:
            make_folder(folder)
    total = len(batch.pairs) + len(batch.unmatched)
    outcomes: list[Outcome] = []
    with progress_bar(f"upsampling {total} pairs") as progress:
        if jobs > 1 and model.locality is not None:
            compile_kernels(
                model, exact=options.exact, footprint=options.footprint
            )  # once here, rather than in every process
        for outcome in run_batch(batch, options, jobs):
            outcomes.append(outcome)
            progress(len(outcomes), total)
    _summarise(sorted(outcomes, key=lambda outcome: outcome.name), folders.output)


def _summarise(outcomes: list[Outcome], output: Path) -> None:
    for outcome in outcomes:
        for sentence in outcome.notes:
            note(sentence)
    done = [outcome.report for outcome in outcomes if outcome.report is not None]
    for report in done:
        about = "; ".join(_in_short(report))
        say("written", f"{report.files.output}, {report.size}, {report.stored_type}; {about}")
    failed = [outcome for outcome in outcomes if outcome.report is None]
    say("pairs", f"{len(done)} of {len(outcomes)} written to {output}{f', {len(failed)} failed' if failed else ''}")
    for outcome in failed:
        print_error(outcome.error if outcome.name in outcome.error else f"{outcome.name}: {outcome.error}")
    if failed:
        raise typer.Exit(SOME_FAILED)
