"""Arguments and options that commands share, so that each reads and means the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Guide = Annotated[Path, typer.Argument(metavar="GUIDE", help="The image with the detail: a photo, an orthophoto.")]
Source = Annotated[
    Path, typer.Argument(metavar="SOURCE", help="The coarse map of the same view: depth, height, temperature.")
]
Output = Annotated[
    Path,
    typer.Option(
        "-o",
        "--output",
        metavar="OUT",
        help="The file to write, in the units of SOURCE and, where the format allows, its type.",
    ),
]
Model = Annotated[str, typer.Option("--model", metavar="M", help="A model's name or file.")]
Confidence = Annotated[
    Path | None,
    typer.Option(
        "--confidence",
        metavar="FILE|NUMBER",
        help="How much source pixels count, from 0 (missing) to 1 (or 255 in 8 bits): an image of the size of SOURCE, "
        "or one number.",
    ),
]
Noise = Annotated[
    str | None,
    typer.Option(
        "--noise",
        metavar="SIGMA|auto",
        help="Standard deviation of the noise of SOURCE, in its units; auto estimates it.",
    ),
]
Robust = Annotated[bool, typer.Option("--robust", help="Switch off single source pixels that are wrong.")]
Exact = Annotated[bool, typer.Option("--exact", help="Make the target average back to SOURCE exactly, noise and all.")]
Footprint = Annotated[
    str,
    typer.Option(
        "--footprint",
        metavar="F",
        help="What a source pixel averages over: box (its area), bicubic (as image libraries reduce), gaussian:SIGMA "
        "(a lens, SIGMA in source pixels) or point (its middle).",
    ),
]
Align = Annotated[
    str | None,
    typer.Option(
        "--align",
        metavar="none|shift|affine",
        help="Find from the edges of both how SOURCE lies on GUIDE (affine: also scale and rotation), and solve so; "
        "none: edge to edge. Without it, learned models correct a shift that is certain.",
    ),
]
Rtol = Annotated[
    float | None,
    typer.Option(
        "--rtol",
        metavar="ERROR",
        help="RMS error allowed of the solve, in standard deviations of the source; 1e-4 for ten times the precision.",
        show_default="1e-3",
    ),
]
Missing = Annotated[
    float | None,
    typer.Option(
        "--missing",
        metavar="VALUE",
        help="The value that marks a source pixel without a measurement; nan and infinity always do.",
    ),
]
Preview = Annotated[
    Path | None,
    typer.Option(
        "--preview",
        metavar="PNG",
        help="Also write a picture of guide, source, interpolated source, target and edge weights.",
    ),
]
Kind = Annotated[
    str,
    typer.Option(
        "--kind",
        metavar="values|probabilities",
        help="What SOURCE holds; probabilities of classes stay in 0..1 and sum to 1.",
    ),
]
Uncertainty = Annotated[
    Path | None,
    typer.Option(
        "--uncertainty",
        metavar="FILE",
        help="Also write how sure the target is: a standard deviation for every pixel, in the units of SOURCE.",
    ),
]
Ply = Annotated[
    Path | None,
    typer.Option(
        "--ply",
        metavar="FILE",
        help="Also write the target as a point cloud with the guide's colours, .ply, in the units of the depth.",
    ),
]
Focal = Annotated[
    float | None,
    typer.Option(
        "--focal",
        metavar="PX",
        help="For point clouds: the focal length of the guide's camera, in pixels of the guide. Otherwise that in the "
        "guide's EXIF data, or a guess.",
    ),
]
Intrinsics = Annotated[
    str | None,
    typer.Option(
        "--intrinsics",
        metavar="FX,FY,CX,CY|FILE",
        help="Instead of --focal: also where the optical axis meets the guide, in pixels from its corner; "
        "or a file with these four numbers or a camera matrix.",
    ),
]
Baseline = Annotated[
    float | None,
    typer.Option(
        "--baseline",
        metavar="B",
        help="For --ply: the source is no depth but a disparity in pixels of the guide, of two cameras so far apart.",
    ),
]
View = Annotated[bool, typer.Option("--view", help="Then look at the result in the browser (graphsr view).")]
Unit = Annotated[str, typer.Option("--unit", metavar="TEXT", help="The unit of the values to look at, such as mm.")]
Overwrite = Annotated[bool, typer.Option("--overwrite", help="Replace output files that exist already.")]
