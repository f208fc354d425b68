"""graphsr raster: georeferenced files of any size."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from graphsr.cli.console import note, progress_bar, say, switched_off
from graphsr.cli.options import Confidence, Exact, Footprint, Model, Noise, Overwrite, Robust, Uncertainty
from graphsr.errors import InputError

if TYPE_CHECKING:
    from graphsr.raster import RasterReport

GuideRaster = Annotated[
    str, typer.Argument(metavar="GUIDE", help="The raster with the detail: an orthophoto, 10 m bands.")
]
SourceRaster = Annotated[
    str, typer.Argument(metavar="SOURCE", help="The coarse raster: heights, temperature, 20 m bands.")
]
Output = Annotated[
    Path,
    typer.Option(
        "-o",
        "--output",
        metavar="OUT",
        help="The Cloud-Optimised GeoTIFF to write, on the grid of GUIDE and in the units and type of SOURCE.",
    ),
]
Bands = Annotated[
    list[int] | None,
    typer.Option("--band", metavar="N", help="A band of SOURCE to upsample; may be repeated.", show_default="all"),
]
GuideBands = Annotated[
    list[int] | None,
    typer.Option("--guide-band", metavar="N", help="A band of GUIDE to use; may be repeated.", show_default="all"),
]
Fill = Annotated[
    bool, typer.Option("--fill", help="Also give values in holes of SOURCE (never beyond it) instead of nodata.")
]
Nodata = Annotated[
    float | None,
    typer.Option(
        "--nodata",
        metavar="VALUE",
        help="Marks pixels without a value, in the result and in SOURCE (beside what SOURCE itself says).",
        show_default="as in SOURCE",
    ),
]
Tile = Annotated[
    int | None,
    typer.Option("--tile", metavar="PIXELS", min=16, help="Side of a tile.", show_default="by the model's memory"),
]
Halo = Annotated[
    int | None,
    typer.Option(
        "--halo", metavar="PIXELS", min=0, help="How much is read around a tile.", show_default="by model and factor"
    ),
]
Workers = Annotated[
    int | None, typer.Option("--workers", metavar="N", min=1, help="Run on a local Dask cluster of N processes.")
]
Scheduler = Annotated[str | None, typer.Option("--scheduler", metavar="ADDRESS", help="Run on the Dask cluster there.")]
Resume = Annotated[bool, typer.Option("--resume", help="Continue a run that was stopped.")]


def raster(
    guide: GuideRaster,
    source: SourceRaster,
    output: Output,
    model: Model = "default",
    bands: Bands = None,
    guide_bands: GuideBands = None,
    confidence: Confidence = None,
    noise: Noise = None,
    robust: Robust = False,
    exact: Exact = False,
    footprint: Footprint = "box",
    fill: Fill = False,
    nodata: Nodata = None,
    tile: Tile = None,
    halo: Halo = None,
    uncertainty: Uncertainty = None,
    workers: Workers = None,
    scheduler: Scheduler = None,
    resume: Resume = False,
    overwrite: Overwrite = False,
    align: Annotated[str | None, typer.Option("--align", hidden=True)] = None,
) -> None:
    """Upsample georeferenced rasters of any size, tile by tile.

    Where SOURCE lies under GUIDE is read from their geotransforms: corners need not meet, factors need not be whole.
    All bands of SOURCE share one graph. Needs the extra graphsr\\[geo], and graphsr\\[cluster] for Dask.

    \b
    Examples:
      graphsr raster orthophoto.tif heights.tif -o fine.tif --uncertainty std.tif
      graphsr raster bands_10m.tif bands_20m.tif -o bands.tif --model colour --workers 8
      graphsr raster orthophoto.tif lidar.tif -o fine.tif --noise auto --robust
      graphsr raster guide.tif thermal.tif -o out.tif --scheduler tcp://head:8786 --resume
    """
    if align is not None:
        raise InputError(
            "--align: not in tiles, as each would find another place; the geotransform says where SOURCE lies, so "
            "correct that one (graphsr upsample --align on a part of the pair says by how much)"
        )
    if workers is not None and scheduler is not None:
        raise InputError("--workers starts a cluster and --scheduler names one; give one of the two")
    # Imported here, as torch and numba take seconds that `graphsr --help` should not.
    from graphsr.files import check_outputs
    from graphsr.files.confidence import confidence_number
    from graphsr.measurements.noise import parse_noise
    from graphsr.measurements.uncertainty import check_uncertainty
    from graphsr.models.registry import load
    from graphsr.raster import upsample_files
    from graphsr.raster.pair import open_pair
    from graphsr.raster.source_samples import suspected_holes
    from graphsr.raster.store import TileStore
    from graphsr.raster.upsampling import check_geotiff

    # A run that was stopped in its second half has written the target.
    finished = resume and uncertainty is not None and output.exists() and TileStore.beside(uncertainty).folder.exists()
    number = confidence_number(confidence)
    check_outputs(
        {"--output": None if finished else output, "--uncertainty": uncertainty},
        inputs=(guide, source, confidence if number is None else None, output if finished else None),
        overwrite=overwrite,
    )
    if uncertainty is not None:  # before the target is computed
        check_geotiff(uncertainty)
        check_uncertainty(load(model))
    share = suspected_holes(open_pair(guide, source, guide_bands=guide_bands, source_bands=bands, source_nodata=nodata))
    if share:
        note(f"{source}: {share:.1%} of the values are 0; if 0 means no measurement, add --nodata 0")
    wanted = [(path, what) for path, what in ((output, False), (uncertainty, True)) if path is not None]
    for path, of_uncertainty in wanted[1:] if finished else wanted:
        doing = f"{'uncertainty of' if of_uncertainty else 'upsampling'} {Path(source).name}"
        try:
            with progress_bar(doing) as progress:
                report = upsample_files(
                    guide,
                    source,
                    path,
                    model=model,
                    confidence=1.0 if confidence is None else number or confidence,
                    noise=parse_noise(noise),
                    robust=robust,
                    exact=exact,
                    footprint=footprint,
                    fill=fill,
                    uncertainty=of_uncertainty,
                    nodata=nodata,
                    bands=bands,
                    guide_bands=guide_bands,
                    tile=tile,
                    halo=halo,
                    workers=workers,
                    scheduler=scheduler,
                    resume=resume,
                    progress=progress,
                )
        except KeyboardInterrupt:
            if TileStore.beside(path).folder.exists():
                note("finished tiles are kept; the same command with --resume continues from there")
            raise
        _print_report(report, path, noise_estimated=noise == "auto")


def _print_report(report: RasterReport, output: Path, *, noise_estimated: bool) -> None:
    plan = report.plan
    pair, (down, right) = plan.pair, plan.pair.grid.step
    height, width = pair.size
    rows, columns = pair.source_size
    say("guide", f"{pair.guide_path}, {width} x {height}, {_bands(pair.guide_bands)}")
    say("source", f"{pair.source_path}, {columns} x {rows}, {_bands(pair.source_bands)}, {plan.dtype}")
    if report.unread_bands > 0:
        note(
            f"the model reads the first {len(pair.guide_bands) - report.unread_bands} bands of the guide; choose "
            "others by --guide-band, or --model colour, which reads all"
        )
    say("factor", f"{right:.4g} x {down:.4g}")
    if plan.settings.errors.noise is not None:
        bands = ", ".join(f"{sigma:.3g}" for sigma in plan.settings.errors.noise)
        say("noise", f"{bands} (standard deviation){', estimated' if noise_estimated else ''}")
    if report.switched_off is not None:
        say("outliers", switched_off(report.switched_off))
    total = len(plan.tiles)
    before = "" if report.tiles_done == total else f", {total - report.tiles_done} of them finished before"
    say("tiles", f"{total} of about {plan.side} pixels, {max(plan.halo)} read around each{before}")
    speed = f", {report.pixels_per_second / 1e6:.2f} megapixels a second" if report.tiles_done else ""
    say("time", f"{report.seconds:.1f} s{speed}")
    say("written", f"{output}, Cloud-Optimised GeoTIFF, {output.stat().st_size / 1e6:.1f} MB")


def _bands(numbers: tuple[int, ...]) -> str:
    return "1 band" if len(numbers) == 1 else f"{len(numbers)} bands"
