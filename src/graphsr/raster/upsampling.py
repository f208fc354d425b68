"""Files in, file out: `graphsr raster`."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import torch

from graphsr.errors import InputError
from graphsr.files.atomic import check_folder, remove_leftovers
from graphsr.measurements.uncertainty import calibration_of
from graphsr.models.base import Model
from graphsr.models.registry import load
from graphsr.options import UpsamplingOptions
from graphsr.raster import executor
from graphsr.raster.cog import assemble
from graphsr.raster.confidence import with_confidence
from graphsr.raster.files import has_mask
from graphsr.raster.lock import locked
from graphsr.raster.pair import RasterPair, open_pair
from graphsr.raster.plan import Plan, make_plan
from graphsr.raster.source_samples import resolve_errors
from graphsr.raster.statistics import Statistics
from graphsr.raster.store import TileStore
from graphsr.raster.tile import Settings, checked_confidence


@dataclass(frozen=True)
class RasterReport:
    """How a run went.

    Attributes:
        plan: What was run.
        tiles_done: How many tiles were computed; the others had been finished before.
        tile_seconds: From the first tile to the last.
        seconds: All together.
        switched_off: How many source pixels were switched off as outliers; None if that was not asked for.
    """

    plan: Plan
    tiles_done: int
    tile_seconds: float
    seconds: float
    switched_off: int | None = None

    @property
    def unread_bands(self) -> int:
        """Return how many of the guide's bands the model does not read."""
        count = len(self.plan.pair.guide_bands)
        return count - int(load(self.plan.model).select_channels(torch.zeros(1, count, 1, 1)).shape[1])

    @property
    def pixels_per_second(self) -> float:
        """Return how many target pixels were computed in a second, on average."""
        done = [tile.core.size for tile in self.plan.tiles][: self.tiles_done]
        return sum(height * width for height, width in done) / max(self.tile_seconds, 1e-9)


def upsample_files(
    guide: str | os.PathLike[str],
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    model: str | os.PathLike[str] = "default",
    confidence: float | str | os.PathLike[str] = 1.0,
    noise: float | Literal["auto"] | None = None,
    robust: bool | float = False,
    exact: bool = False,
    fill: bool = False,
    uncertainty: bool = False,
    footprint: str = "box",
    nodata: float | None = None,
    bands: Sequence[int] | None = None,
    guide_bands: Sequence[int] | None = None,
    tile: int | None = None,
    halo: int | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    resume: bool = False,
    progress: executor.Progress = lambda done, total: None,
) -> RasterReport:
    """Upsample a georeferenced source to the grid of a guide; the result is a Cloud-Optimised GeoTIFF.

    Args:
        guide: The raster with the detail.
        source: The coarse raster.
        output: The file to write, .tif.
        model: A name of `graphsr.models()`, or a path that all workers can read.
        confidence: Of all source pixels, above 0 and at most 1, see `graphsr.upsample`; or a raster with that of each,
            on the grid of the source.
        noise: Standard deviation of the source's noise, in its units and the same for all bands, or "auto" to estimate
            each band's from samples.
        robust: Whether source pixels that neither their neighbours nor the graph can explain are switched off. A number
            is the error, in the source's units, from which on a pixel counts as wrong.
        exact: Whether the target has to average back to the source exactly.
        fill: Whether holes of the source get values too; beyond the source there are none.
        uncertainty: Whether to write the standard deviations of the target, and not the target itself.
        footprint: What a source pixel averages over, see `graphsr.upsample`.
        nodata: The value of pixels without one, in the result and, beside what the file itself declares, in the source;
            default that of the source, or NaN in floats.
        bands: Which bands of the source to use, counted from 1; default all.
        guide_bands: Which bands of the guide to use, counted from 1; default all.
        tile: Side of a tile in guide pixels; default by model and factor.
        halo: How many guide pixels are read around a tile; default by model and factor.
        workers: Run on a local Dask cluster of so many processes.
        scheduler: Run on the Dask cluster at this address.
        resume: Whether to continue a run that did not finish.
        progress: Called after every tile with how many are done, and of how many.

    Returns:
        How the run went.

    Raises:
        InputError: If the files do not fit together, or an argument is not valid.

    Example:
        >>> graphsr.raster.upsample_files("ortho.tif", "heights.tif", "fine.tif", model="colour")  # doctest: +SKIP
    """
    began = time.perf_counter()
    options = UpsamplingOptions(
        model, exact=exact, noise=noise, robust=robust, footprint=footprint, uncertainty=uncertainty
    )
    if workers is not None and (workers < 1 or scheduler is not None):
        raise InputError("workers: must be 1 or more, and cannot be given together with a scheduler")
    pair = open_pair(guide, source, guide_bands=guide_bands, source_bands=bands, source_nodata=nodata)
    if isinstance(confidence, str | os.PathLike):
        pair, confidence = with_confidence(pair, confidence), 1.0
    output = Path(output)
    _check_output(output, pair)
    loaded = options.load_model()
    options.check_model(loaded)
    if uncertainty:
        calibration_of(loaded)  # says once, before the tiles, if it is not the model's own
    errors = resolve_errors(pair.source, pair.grid, loaded, options.errors)
    number, least = checked_confidence(confidence), pair.confidence_range[0]
    settings = Settings(exact, fill, errors, number, least, uncertainty, footprint)
    plan = make_plan(pair, model, loaded, settings, nodata, tile, halo)
    with ExitStack() as until_the_end:
        with executor.cluster(workers, scheduler) as client:
            store = open_store(plan, output, resume=resume)
            until_the_end.enter_context(locked(store.folder))
            remove_leftovers(store.folder)
            measure_once(store, plan, loaded, resume=resume)
            numbers = store.unfinished(plan)
            started = time.perf_counter()
            if client is None:
                executor.run_locally(store, numbers, progress)
            else:
                executor.run_on_cluster(store, numbers, client, progress)
        tiled = time.perf_counter()
        assemble(plan, store, output)
        switched_off = None if errors.robust is False else store.count_switched_off()
        store.remove()
    return RasterReport(plan, len(numbers), tiled - started, time.perf_counter() - began, switched_off)


def prepare_store(plan: Plan, model: Model, output: Path, *, resume: bool = False) -> TileStore:
    """Do all that comes before the first tile: write plan and statistics into the tile store beside the output.

    Args:
        plan: Of the run.
        model: What the plan's name of it stands for.
        output: The file that the run is to write.
        resume: Whether to continue a run that did not finish, if there is one.
    """
    store = open_store(plan, output, resume=resume)
    measure_once(store, plan, model, resume=resume)
    return store


def open_store(plan: Plan, output: Path, *, resume: bool) -> TileStore:
    """Make the tile store beside the output, with the plan in it; or open that of the run to continue."""
    store = TileStore.beside(output)
    if resume and store.folder.exists():
        store.check_same(plan)
    else:
        store.create(plan)
    return store


def measure_once(store: TileStore, plan: Plan, model: Model, *, resume: bool) -> None:
    """Write the statistics of the raster into the tile store, unless they are there."""
    try:
        if store.read_statistics() is None:
            statistics = executor.measure(plan, model)
            _check_nodata(plan, statistics)
            store.write_statistics(plan.settings.with_holes(statistics))
    except Exception:
        if not resume:
            store.remove()  # nothing is lost, and the next try must not find a run to continue
        raise


def _check_nodata(plan: Plan, statistics: Statistics) -> None:
    """Check that there is a value for pixels without one, if there may be any."""
    pair = plan.pair
    some_missing = pair.grid.covered != pair.grid.source_extent or not (plan.settings.fill or statistics.complete)
    if plan.nodata is None and (some_missing or has_mask(pair.guide_path, pair.guide_bands)):
        raise InputError(
            f"{pair.source_path}: some pixels of the result have no value (the guide reaches beyond the source, or one "
            f"of them has holes), and {plan.dtype} has no value for that; choose one by --nodata VALUE"
        )


def check_geotiff(output: Path) -> None:
    """Check, before anything is computed, that a result can be written."""
    if output.suffix.lower() not in (".tif", ".tiff"):
        raise InputError(f"{output}: the result is a GeoTIFF; give it the suffix .tif")
    check_folder(output)


def _check_output(output: Path, pair: RasterPair) -> None:
    check_geotiff(output)
    if os.path.realpath(output) in map(os.path.realpath, pair.paths):
        raise InputError(f"{output}: --output would overwrite an input; give another name")
