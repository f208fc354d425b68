"""One tile: arrays in, its pixels out. A pure function of what it is given, wherever it runs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from graphsr.errors import ConvergenceError, InputError
from graphsr.models.base import Bicubic, GraphModel, Model, Posed
from graphsr.models.window import Locality, Part
from graphsr.raster.frame import Frame
from graphsr.raster.grid import Box, Grid
from graphsr.raster.tiles import Tile

# RMS error of a tile's solve, in standard deviations of the whole source. The largest error of a pixel is ten times
# the RMS, so that this keeps it below 1e-3 with a margin (docs/raster.md).
TOLERANCE = 1e-5
_LOOSEST = 0.1


@dataclass(frozen=True)
class Settings:
    """What the user chose about the result."""

    exact: bool = False
    fill: bool = False


@dataclass(frozen=True)
class Pending:
    """A tile before its solve: the part of the work that can be done while another tile is being solved."""

    tile: Tile
    posed: Posed | None  # None: nothing to solve
    target: torch.Tensor | None  # (1, K, H, W) of the window, where the model does not solve
    valid: np.ndarray  # (K, h, w) which pixels of the core get a value


def locality_of(model: Model) -> Locality:
    """Of a model that can run in tiles; asked before anything is read."""
    locality = model.locality
    if locality is None:
        raise InputError(
            f"model {type(model).__name__}: has to see the whole image at once, so it cannot run on tiles of a raster; "
            "use 'colour', 'bicubic' or a GraphSR model with a U-Net on Lite or ResNet encoders"
        )
    return locality


def pose(
    tile: Tile, guide: np.ndarray, source: np.ndarray, grid: Grid, frame: Frame, model: Model, settings: Settings
) -> Pending:
    """guide (C, H, W) of tile.window, source (K, h, w) of frame.needed(tile.cells); NaN where there is no value."""
    box = frame.needed(tile.cells)
    seen = model.seen(torch.from_numpy(np.ascontiguousarray(guide, dtype=np.float32))[None])
    valid = _valid(tile, seen, source, box, grid, settings)
    if not valid.any():
        return Pending(tile, None, None, valid)
    values = frame.filled(np.ascontiguousarray(source, dtype=np.float32), box, tile.cells)
    known = torch.from_numpy(np.isfinite(source[(slice(None), *tile.cells.slices(box))]))[None]
    scale = frame.scale()
    seen = torch.where(torch.isfinite(seen), seen, scale.guide_mean)
    part = Part(grid.sampling(tile.window, tile.cells), scale, known, _tolerance(values, frame))
    with torch.no_grad():
        if isinstance(model, GraphModel):
            weights = _confidence(grid.visible(tile.window, tile.cells), known, locality_of(model).weight)
            posed = model.pose(seen, values, confidence=weights, exact=settings.exact, part=part)
            return Pending(tile, posed, None, valid)
        assert isinstance(model, Bicubic)
        return Pending(tile, None, model.run(seen, values, exact=settings.exact, part=part)[0], valid)


def finish(pending: Pending) -> np.ndarray:
    """The pixels of the tile's core, (K, h, w) float32, NaN where there is no value."""
    with torch.no_grad():
        target = pending.target if pending.posed is None else _solved(pending.posed)
    if target is None:
        return np.full(pending.valid.shape, np.nan, np.float32)
    core = target[0].numpy()[(slice(None), *pending.tile.core.slices(pending.tile.window))]
    return np.where(pending.valid, core, np.float32(np.nan))


def _solved(posed: Posed) -> torch.Tensor:
    try:
        return posed.solve()[0]
    except ConvergenceError:  # a run of hours should not end at a tile whose graph is too sharp for single precision
        return posed.in_double_precision().solve()[0].float()


def _valid(tile: Tile, guide: torch.Tensor, source: np.ndarray, box: Box, grid: Grid, settings: Settings) -> np.ndarray:
    """(K, h, w): pixels of the core whose source pixel has a value (or, if filled, exists), and that have a guide."""
    rows, columns = grid.homes(tile.core)
    rows = np.clip(rows, grid.cells.top, grid.cells.bottom - 1)
    columns = np.clip(columns, grid.cells.left, grid.cells.right - 1)
    if settings.fill:
        inside = grid.covered
        down = (rows >= inside.top) & (rows < inside.bottom)
        right = (columns >= inside.left) & (columns < inside.right)
        there = np.broadcast_to(down[:, None] & right, (source.shape[0], *tile.core.size))
    else:
        there = np.isfinite(source)[:, rows[:, None] - box.top, columns - box.left]
    seen = torch.isfinite(guide).all(1)[0].numpy()[tile.core.slices(tile.window)]
    return np.asarray(there & seen)


def _confidence(visible: np.ndarray, known: torch.Tensor, weight: float) -> torch.Tensor | None:
    """(1, 1 or K, h, w) by how much of a source pixel is visible, and next to nothing for one that was filled.

    Held by lambda, a filled pixel gives way to data, and yet what happens at one end of a large hole is forgotten
    within a few of its pixels: a tile need not see the other end.
    """
    share = torch.from_numpy(visible).float()[None, None]
    if bool(known.all()):
        return None if bool((share == 1).all()) else share
    if bool((known == known[:, :1]).all()):
        known = known[:, :1]
    return share * torch.where(known, 1.0, weight)


def _tolerance(values: torch.Tensor, frame: Frame) -> float:
    """rtol is in standard deviations of the window; the same error everywhere needs it in those of the whole."""
    spread = values[0].double().std((-2, -1), correction=0).numpy()
    return float(np.clip(TOLERANCE * (frame.source_std / np.maximum(spread, 1e-30)).min(), TOLERANCE / 10, _LOOSEST))
