"""graphsr complete: points and a guide in, a whole map out."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from graphsr.cli.console import note, say, solve_bar
from graphsr.cli.options import (
    Baseline,
    Focal,
    Guide,
    Intrinsics,
    Model,
    Overwrite,
    Ply,
    Preview,
    Rtol,
)

Points = Annotated[
    Path,
    typer.Argument(
        metavar="POINTS",
        help="Rows of x, y, value as CSV, TXT or NPY; or an image of the guide's size, 0 where there is no point.",
    ),
]
Output = Annotated[
    Path,
    typer.Option(
        "-o",
        "--output",
        metavar="OUT",
        help="The file to write, in the units of POINTS: floats for rows, for an image its type where OUT allows.",
    ),
]
Exact = Annotated[bool, typer.Option("--exact", help="Make the target meet POINTS exactly, noise and all.")]
Missing = Annotated[
    float | None,
    typer.Option(
        "--missing",
        metavar="VALUE",
        help="The value of pixels of an image without a point; nan is always one.",
        show_default="what the file declares, or 0",
    ),
]
Noise = Annotated[
    str | None,
    typer.Option(
        "--noise",
        metavar="SIGMA|auto",
        help="Standard deviation of the noise of POINTS, in their units; auto estimates it from a map with few holes.",
    ),
]
Robust = Annotated[bool, typer.Option("--robust", help="Leave out points that those around them do not explain.")]
Confidence = Annotated[
    str | None,
    typer.Option(
        "--confidence",
        metavar="FILE|NUMBER",
        help="One number for all points, or for a map an image of its size; rows have theirs in a fourth column.",
    ),
]


def complete(
    guide: Guide,
    points: Points,
    output: Output,
    model: Model = "default",
    confidence: Confidence = None,
    noise: Noise = None,
    robust: Robust = False,
    exact: Exact = False,
    missing: Missing = None,
    preview: Preview = None,
    ply: Ply = None,
    focal: Focal = None,
    intrinsics: Intrinsics = None,
    baseline: Baseline = None,
    overwrite: Overwrite = False,
    rtol: Rtol = None,
) -> None:
    """Make a whole map of POINTS, along the surfaces that GUIDE shows.

    x and y are pixels of the guide, from its upper left corner: the centre of the first pixel is 0.5, 0.5.
    Rows are separated by commas, semicolons or blanks, with or without a header; a fourth column is a confidence.
    Several points in one pixel are averaged.

    \b
    Examples:
      graphsr complete photo.jpg points.csv -o depth.tif --preview look.png
      graphsr complete photo.jpg lidar.png -o depth.png
      graphsr complete photo.jpg lidar.png -o depth.png --ply all.ply --focal 721
      graphsr complete photo.jpg noisy.npy -o depth.npy --noise 0.05 --robust
    """
    # Imported here, as torch and numba take seconds that `graphsr --help` should not.
    from graphsr.files.camera import parse_camera
    from graphsr.files.completion import CompletionFiles, complete_file
    from graphsr.files.confidence import confidence_number
    from graphsr.files.pair import PairOptions
    from graphsr.measurements.noise import parse_noise

    camera = parse_camera(focal, intrinsics, baseline, wanted=ply is not None)
    sigma, number = parse_noise(noise), confidence_number(confidence)
    files = CompletionFiles(guide, points, output, confidence if number is None else None, preview, ply)
    options = PairOptions(
        model, number, exact, sigma, robust, rtol=rtol, missing=missing, overwrite=overwrite, camera=camera
    )
    with solve_bar(f"completing {points.name}"):
        report = complete_file(files, options, note)
    merged = f", in {report.pixels:,} pixels" if report.pixels != report.points else ""
    say("guide", f"{guide}, {report.size[1]} x {report.size[0]}")
    say("points", f"{points}, {report.points:,}{merged}")
    say("time", f"{report.solve.seconds:.1f} s")
    say("fidelity", f"the target meets the points within {report.solve.fidelity:.3g} (RMS)")
    if report.solve.noise is not None:
        say("noise", f"{report.solve.noise:.3g} (standard deviation){', estimated' if noise == 'auto' else ''}")
    if robust:
        say("outliers", f"{report.solve.switched_off:,} of the points left out")
    say("written", f"{output}, {report.size[1]} x {report.size[0]}, {report.written.dtype}", *report.written.notes())
    if preview is not None:
        say("preview", str(preview))
    if report.point_cloud is not None:
        say("cloud", str(report.point_cloud))
