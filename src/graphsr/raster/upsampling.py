"""Files in, file out: `graphsr raster`."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from graphsr.errors import InputError
from graphsr.files.atomic import check_folder
from graphsr.models.base import Model, load, models
from graphsr.raster import run
from graphsr.raster.cog import assemble
from graphsr.raster.files import RasterPair, common_type, dataset, has_mask, open_pair
from graphsr.raster.frame import Frame
from graphsr.raster.parts import Parts, Plan
from graphsr.raster.tile_solve import Settings, locality_of
from graphsr.raster.tiles import default_side, halo

_STORABLE = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64")


@dataclass(frozen=True)
class RasterReport:
    """How a run went."""

    plan: Plan
    tiles_done: int  # in this run; the others had been finished before
    tile_seconds: float  # from the first tile to the last
    seconds: float

    @property
    def unread_bands(self) -> int:
        """How many of the guide's bands the model leaves aside."""
        count = len(self.plan.pair.guide_bands)
        return count - load(self.plan.model).seen(torch.zeros(1, count, 1, 1)).shape[1]

    @property
    def pixels_per_second(self) -> float:
        done = [tile.core.size for tile in self.plan.tiles][: self.tiles_done]
        return sum(height * width for height, width in done) / max(self.tile_seconds, 1e-9)


def upsample_files(
    guide: str | os.PathLike[str],
    source: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    model: str | os.PathLike[str] = "default",
    exact: bool = False,
    fill: bool = False,
    nodata: float | None = None,
    bands: Sequence[int] | None = None,
    guide_bands: Sequence[int] | None = None,
    tile: int | None = None,
    around: int | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    resume: bool = False,
    progress: run.Progress = lambda done, total: None,
) -> RasterReport:
    """Upsample a georeferenced source to the grid of a guide; the result is a Cloud-Optimised GeoTIFF.

    bands, guide_bands  which bands to use, counted from 1; default all
    fill                also give values where the source has holes; beyond the source there are none
    nodata              the value of pixels without one, in the result and, beside what the file itself says, in the
                        source; default that of the source, or NaN in floats
    tile, around        side of a tile and width of what is read around it, in guide pixels; default by model and factor
    workers, scheduler  run on a local Dask cluster of so many processes, or on the one at that address
    resume              go on with a run that did not finish
    """
    began = time.perf_counter()
    if workers is not None and (workers < 1 or scheduler is not None):
        raise InputError("workers: must be 1 or more, and cannot be given together with a scheduler")
    pair = open_pair(guide, source, guide_bands=guide_bands, source_bands=bands, source_nodata=nodata)
    output = Path(output)
    _check_output(output, pair)
    chosen = load(model)
    plan = planned(pair, model, chosen, Settings(exact, fill), nodata, tile, around)
    with run.cluster(workers, scheduler) as client:
        parts = prepared(plan, chosen, output, resume=resume)
        numbers = parts.missing(plan)
        started = time.perf_counter()
        if client is None:
            run.run_here(parts, numbers, progress)
        else:
            run.run_on_cluster(parts, numbers, client, progress)
    tiled = time.perf_counter()
    assemble(plan, parts, output)
    parts.remove()
    return RasterReport(plan, len(numbers), tiled - started, time.perf_counter() - began)


def prepared(plan: Plan, model: Model, output: Path, *, resume: bool = False) -> Parts:
    """All that comes before the first tile: the folder beside the output with the plan and the frame."""
    parts = Parts.beside(output)
    if resume and parts.folder.exists():
        parts.check_same(plan)
    else:
        parts.begin(plan)
    try:
        if parts.frame() is None:
            whole = run.measure(plan, model)
            _check_nodata(plan, whole)
            parts.keep_frame(whole)
    except Exception:
        if not resume:
            parts.remove()  # nothing is lost, and the next try should not be told of it
        raise
    return parts


def planned(
    pair: RasterPair,
    name: str | os.PathLike[str],
    model: Model,
    settings: Settings,
    nodata: float | None = None,
    tile: int | None = None,
    around: int | None = None,
) -> Plan:
    """How a run goes, with what the user left open chosen; `model` is what `name` stands for."""
    locality = locality_of(model)
    margin = halo(pair.grid, locality) if around is None else (around, around)
    if tile is None:
        tile = default_side(pair.grid, margin, model.bytes_per_pixel(len(pair.source_bands)), settings.exact)
    if tile < 1 or min(margin) < 0:
        raise InputError(f"a tile must be at least 1 pixel with a halo of 0 or more, not {tile} with {min(margin)}")
    stored = common_type(dataset(pair.source_path), pair.source_bands)
    if stored.name not in _STORABLE:
        raise InputError(f"{pair.source_path}: holds {stored}; one of {', '.join(_STORABLE)} is needed")
    name = os.fspath(name)
    if name not in models() and os.path.exists(name):  # as `load` looks for it
        name = os.path.abspath(name)
    return Plan(
        pair=pair,
        model=name,
        weights=model.digest(),
        settings=settings,
        side=tile,
        around=margin,
        multiple=locality.multiple,
        dtype=stored.name,
        nodata=_nodata(pair, stored, nodata),
    )


def _nodata(pair: RasterPair, dtype: np.dtype, wanted: float | None) -> float | None:
    """The value of pixels without one: as asked for, as in the source, or NaN in floats."""
    value = dataset(pair.source_path).nodatavals[pair.source_bands[0] - 1] if wanted is None else wanted
    if dtype.kind == "f":
        value = float("nan") if value is None else float(value)
        with np.errstate(over="ignore"):
            stored = float(dtype.type(value))
        if np.isinf(stored) and np.isfinite(value):
            raise InputError(f"nodata {value:g} does not fit {dtype}, the source's type; choose another by --nodata")
        return stored
    limits = np.iinfo(dtype)
    fits = value is not None and float(value).is_integer() and limits.min <= value <= limits.max
    if wanted is not None and not fits:
        raise InputError(f"nodata {wanted:g} does not fit {dtype} ({limits.min} to {limits.max}), the source's type")
    return float(value) if fits and value is not None else None


def _check_nodata(plan: Plan, whole: Frame) -> None:
    """That there is a value for pixels without one, if there may be any."""
    pair = plan.pair
    some_missing = pair.grid.covered != pair.grid.cells or (not plan.settings.fill and not whole.whole)
    if plan.nodata is None and (some_missing or has_mask(pair.guide_path, pair.guide_bands)):
        raise InputError(
            f"{pair.source_path}: some pixels of the result have no value (the guide reaches beyond the source, or one "
            f"of them has holes), and {plan.dtype} has no value for that; choose one by --nodata VALUE"
        )


def _check_output(output: Path, pair: RasterPair) -> None:
    if output.suffix.lower() not in (".tif", ".tiff"):
        raise InputError(f"{output}: the result is a GeoTIFF; give it the suffix .tif")
    check_folder(output)
    if os.path.realpath(output) in [os.path.realpath(path) for path in (pair.guide_path, pair.source_path)]:
        raise InputError(f"{output}: --output would overwrite an input; give another name")
