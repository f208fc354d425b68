"""Rasters in tiles: how far the effect of a border reaches, whether seams show, and what tiles cost."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from graphsr.models.colour import Colour
from graphsr.models.registry import load
from graphsr.models.window import Window
from graphsr.raster.executor import run_tile
from graphsr.raster.files import require_rasterio
from graphsr.raster.grid import Grid
from graphsr.raster.pair import open_pair
from graphsr.raster.plan import make_plan
from graphsr.raster.tile import Settings
from graphsr.raster.tiling import default_halo
from graphsr.raster.upsampling import prepare_store, upsample_files
from graphsr.sampling import Sampling
from graphsr.scaling import Scale, known_pixels
from graphsr.scenes import scene
from graphsr.solver import solve_problem
from graphsr.threads import on_threads

Progress = Callable[[str], None]
# Effects are negligible below the first, in standard deviations of the target; the second shows how they decay.
LIMITS = (1e-3, 1e-4)
_MOSAIC_TILE = 1024


@dataclass(frozen=True)
class BorderRow:
    """How many pixels from an artificial border the target differs from that of the whole image."""

    graph: str
    factor: int
    weight: float
    reach: tuple[int, ...]  # for each of LIMITS
    halo: int  # what tiles are given


@dataclass(frozen=True)
class RunRow:
    """The time of one raster, beside that of its tiles alone."""

    side: int
    tiles: int
    seconds: float
    cpu_seconds: float  # processor time of the run, the output included
    alone_seconds: float  # the sum of its tiles read, prepared and solved one by one
    seams: float  # largest difference to other tiles, in standard deviations of the target
    workers: dict[int, tuple[float, float]]  # seconds for the tiles and for all, with so many processes


def guide_and_truth(graph: str, side: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return (1, 3, H, W) and (1, 1, H, W): a rendered scene, wires across the border, or noise."""
    generator = np.random.default_rng(1)
    guide: np.ndarray
    if graph == "scene":
        rendered = scene(1, (side, side))
        guide, truth = np.moveaxis(rendered.guide, 2, 0), rendered.depth
    elif graph == "wires":
        widths = generator.integers(1, 12, side)
        rows = np.repeat(generator.random((side, 3)), widths, 0)[:side] * 3
        guide = np.broadcast_to(rows.T[:, :, None], (3, side, side))
        truth = guide.mean(0) + np.cumsum(generator.normal(size=(side, side)), 1) * 0.05
    else:
        guide = generator.random((3, side, side))
        truth = np.cumsum(np.cumsum(generator.normal(size=(side, side)), 0), 1)
    images = (np.ascontiguousarray(image, dtype=np.float32) for image in (guide, np.asarray(truth)[None]))
    fine, coarse = (torch.from_numpy(image)[None] for image in images)
    return fine, coarse


def border(graph: str, factor: int, weight: float, side: int = 0) -> BorderRow:
    """Cut an image at two places, solve the windows in double precision, and measure how far the cut has an effect."""
    side = side or max(384, 256 + 32 * factor)  # much wider than the halo
    guide, truth = guide_and_truth(graph, side)
    source = Sampling((side, side), (side // factor, side // factor))(truth)
    model = Colour(weight=weight)
    scale = Scale.of(guide, source, known_pixels(source, None))
    whole = _from(model, guide, source, scale, factor, 0)
    worst = np.zeros(side)
    for column in (side // factor // 5, side // factor // 3):
        window = _from(model, guide, source, scale, factor, column)
        difference = (window - whole[..., column * factor :]).abs()[0, 0].amax(0).numpy() / float(whole.std())
        worst[: difference.size] = np.maximum(worst[: difference.size], difference)
    reach = tuple(int(np.max(np.flatnonzero(worst >= limit), initial=-1)) + 1 for limit in LIMITS)
    halo, _ = default_halo(Grid.edge_to_edge((side, side), (source.shape[-2], source.shape[-1])), model.locality)
    return BorderRow(graph, factor, weight, reach, halo)


def _from(
    model: Colour, guide: torch.Tensor, source: torch.Tensor, scale: Scale, factor: int, column: int
) -> torch.Tensor:
    """Return the target of the window that begins at a column of source pixels."""
    fine, coarse = guide[..., column * factor :], source[..., column:]
    sampling = Sampling((fine.shape[-2], fine.shape[-1]), (coarse.shape[-2], coarse.shape[-1]))
    problem = model.prepare(fine, coarse, window=Window(sampling, scale, known_pixels(coarse, None)))
    return solve_problem(problem.to(torch.float64), rtol=1e-6).target


def write_mosaic(folder: Path, side: int, factor: int = 8) -> tuple[Path, Path]:
    """Write rendered scenes side by side, as a guide of three bytes a pixel and a source of floats."""
    rasterio = require_rasterio()
    generator = np.random.default_rng(0)
    piece = min(_MOSAIC_TILE, -(-side // factor) * factor)
    scenes = [scene(seed, (piece, piece)) for seed in range(4)]
    profile = {"driver": "GTiff", "crs": "EPSG:32633", "tiled": True, "blockxsize": 512, "blockysize": 512}
    paths = folder / "guide.tif", folder / "source.tif"
    fine_place = rasterio.transform.from_origin(5e5, 4e6, 1, 1)
    coarse_place = rasterio.transform.from_origin(5e5, 4e6, factor, factor)
    count = -(-side // factor)
    fine = {"height": side, "width": side, "count": 3, "dtype": "uint8", "transform": fine_place}
    coarse = {"height": count, "width": count, "count": 1, "dtype": "float32", "transform": coarse_place}
    with (
        rasterio.open(paths[0], "w", **fine, **profile) as guide,
        rasterio.open(paths[1], "w", **coarse, **profile) as source,
    ):
        for top in range(0, side, piece):
            for left in range(0, side, piece):
                chosen = scenes[generator.integers(len(scenes))]
                height, width = min(piece, side - top), min(piece, side - left)
                image = np.moveaxis(_bytes(chosen.guide), 2, 0)[:, :height, :width]
                guide.write(image, window=rasterio.windows.Window(left, top, width, height))
                rows, columns = -(-height // factor), -(-width // factor)
                means = chosen.depth.reshape(piece // factor, factor, -1, factor).mean((1, 3))
                place = rasterio.windows.Window(left // factor, top // factor, columns, rows)
                source.write(means[None, :rows, :columns].astype(np.float32), window=place)
    return paths


def _bytes(image: np.ndarray) -> np.ndarray:
    return image if image.dtype == np.uint8 else (np.clip(image, 0, 1) * 255).astype(np.uint8)


def measure_run(
    folder: Path, side: int, worker_counts: tuple[int, ...], progress: Progress, model: str = "colour"
) -> RunRow:
    """Measure a run, on one thread throughout, so that the run and its tiles alone are alike."""
    with on_threads(1):
        return _measure_run(folder, side, worker_counts, progress, model)


def _measure_run(folder: Path, side: int, worker_counts: tuple[int, ...], progress: Progress, model: str) -> RunRow:
    progress(f"making a raster of {side} x {side}")
    guide, source = write_mosaic(folder, side)
    progress(f"{side} x {side}: its tiles alone")
    chosen = load(model)
    plan = make_plan(open_pair(guide, source), model, chosen, Settings())
    store = prepare_store(plan, chosen, folder / "alone.tif")
    numbers = [tile.number for tile in plan.tiles]
    run_tile(str(store.folder), 0)  # loads and compiles
    began = time.perf_counter()
    for number in numbers:
        run_tile(str(store.folder), number)
    alone = time.perf_counter() - began
    store.remove()
    progress(f"{side} x {side}: the run")
    began, cpu = time.perf_counter(), time.process_time()
    upsample_files(guide, source, folder / "run.tif", model=model)
    seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
    progress(f"{side} x {side}: with other tiles")
    upsample_files(guide, source, folder / "other.tif", model=model, tile=max(min(plan.side, side) * 5 // 8, 64))
    seams = _largest_difference(folder / "run.tif", folder / "other.tif")
    workers = {}
    for count in worker_counts:
        progress(f"{side} x {side}: {count} workers")
        report = upsample_files(guide, source, folder / "w.tif", model=model, workers=count)
        workers[count] = report.tile_seconds, report.seconds
    return RunRow(side, len(numbers), seconds, cpu, alone, seams, workers)


def _largest_difference(one: Path, other: Path) -> float:
    """Return the largest difference in standard deviations of the first, read by blocks of rows."""
    rasterio = require_rasterio()
    worst, count, total, squares = 0.0, 0, 0.0, 0.0
    with rasterio.open(one) as first, rasterio.open(other) as second:
        for top in range(0, first.height, 512):
            window = rasterio.windows.Window(0, top, first.width, min(512, first.height - top))
            values = first.read(1, window=window).astype(np.float64)
            worst = max(worst, float(np.abs(values - second.read(1, window=window)).max()))
            count, total, squares = count + values.size, total + values.sum(), squares + np.square(values).sum()
    return worst / float(np.sqrt(squares / count - (total / count) ** 2))
