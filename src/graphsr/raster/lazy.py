"""Dask arrays in, a Dask array out, nothing computed yet: `graphsr.raster.upsample`."""

from __future__ import annotations

import os
from functools import lru_cache
from typing import Any

import numpy as np
import torch

from graphsr.errors import InputError, missing_extra
from graphsr.models.base import Model, load
from graphsr.raster import tile_solve
from graphsr.raster.frame import Frame, Piece, frame, pieces, samples, summary, surrounded
from graphsr.raster.grid import Box, Grid
from graphsr.raster.run import solved
from graphsr.raster.tile_solve import Settings, locality_of
from graphsr.raster.tiles import Tile, cut, default_side, halo
from graphsr.threads import on_threads


def upsample(
    guide: Any,
    source: Any,
    *,
    model: str | os.PathLike[str] | Model = "default",
    exact: bool = False,
    fill: bool = False,
    origin: tuple[float, float] | None = None,
    step: tuple[float, float] | None = None,
    tile: int | None = None,
    around: int | None = None,
) -> Any:
    """Upsample a source to the resolution of a guide, lazily: the target is a Dask array, one chunk a tile.

    guide         Dask (or NumPy) array (H, W) or (C, H, W), or an xarray DataArray with coordinates; NaN = no value
    source        the same, (h, w) or (K, h, w); bands share one graph
    model         a name of graphsr.models(), a path that all workers can read, or a loaded model
    fill          also give values where the source has holes; beyond the source there are none
    origin, step  where source pixel (0, 0) begins, and what one measures, in guide pixels (down, right); default edge
                  to edge, and with DataArrays what their coordinates say
    tile, around  side of a tile and width of what is read around it, in guide pixels; default by model and factor

    Returns (H, W) or (K, H, W) float32, NaN where there is no value; a DataArray if both inputs are.
    """
    from graphsr.raster.labelled import is_labelled, unwrap

    if is_labelled(guide) or is_labelled(source):
        if not (is_labelled(guide) and is_labelled(source)):
            raise InputError("raster.upsample: give guide and source both as DataArrays, or both as plain arrays")
        if origin is not None or step is not None:
            raise InputError(
                "raster.upsample: DataArrays say by their coordinates where they lie; leave origin and step out"
            )
        labelled = unwrap(guide, source)
        target = _upsample(labelled.guide, labelled.source, labelled.grid, model, Settings(exact, fill), tile, around)
        return labelled.wrap(target)
    fine, coarse = bands_first("guide", guide), bands_first("source", source)
    size, source_size = fine.shape[1:], coarse.shape[1:]
    if (origin is None) != (step is None):
        raise InputError("raster.upsample: origin and step belong together; give both or neither")
    if origin is None or step is None:
        grid = Grid.edge_to_edge(size, source_size)
    else:
        grid = Grid.placed(size, source_size, origin, step)
    target = _upsample(fine, coarse, grid, model, Settings(exact, fill), tile, around)
    return target[0] if coarse.ndim > np.ndim(source) else target


def bands_first(name: str, values: Any) -> Any:
    """A Dask array (C, H, W)."""
    try:
        import dask.array as da
    except ImportError as error:
        raise missing_extra("raster.upsample needs Dask", "cluster") from error
    array = da.asarray(values)
    if array.dtype.kind not in "buif" or array.ndim not in (2, 3) or 0 in array.shape:
        raise InputError(f"{name}: must hold real numbers as (H, W) or (bands, H, W), not {array.dtype} {array.shape}")
    return array[None] if array.ndim == 2 else array


def _upsample(
    guide: Any,
    source: Any,
    grid: Grid,
    model: str | os.PathLike[str] | Model,
    settings: Settings,
    side: int | None,
    around: int | None,
) -> Any:
    import dask
    import dask.array as da

    chosen = model if isinstance(model, Model) else load(model)
    locality = locality_of(chosen)
    margin = halo(grid, locality) if around is None else (around, around)
    side = side or default_side(grid, margin, chosen.bytes_per_pixel(source.shape[0]), settings.exact)
    # A model by name is loaded where it runs; a loaded one travels once.
    known_by = dask.delayed(model.eval()) if isinstance(model, Model) else os.fspath(model)
    summaries = [dask.delayed(_summary)(source[_cut(box & grid.covered)], box, grid) for box in pieces(grid)]
    whole = dask.delayed(_frame)(grid, known_by, [guide[_cut(box)] for box in samples(grid)], summaries)

    def block(tile: Tile) -> Any:
        # Whether there are holes is not known before the frame is, so the most that can be needed is handed over.
        at = surrounded(tile.cells) & grid.covered
        at = Box(0, 0, 0, 0) if at.empty else at
        values = dask.delayed(_tile)(
            tile, guide[_cut(tile.window)], source[_cut(at)], at, grid, whole, known_by, settings
        )
        return da.from_delayed(values, (source.shape[0], *tile.core.size), dtype=np.float32)

    rows: dict[int, list[Any]] = {}
    for each in cut(grid, side, margin, locality.multiple):
        rows.setdefault(each.core.top, []).append(block(each))
    return da.block(list(rows.values()))


def _cut(box: Box) -> tuple[slice, slice, slice]:
    return (slice(None), *box.slices())


def _summary(values: np.ndarray, box: Box, grid: Grid) -> Piece:
    return summary(_placed(values, box & grid.covered, box), box, grid)


def _frame(grid: Grid, model: Model | str, guide_samples: list[np.ndarray], summaries: list[Piece]) -> Frame:
    seen = _loaded(model).seen
    floats = (seen(torch.from_numpy(_floats(part))[None])[0].numpy() for part in guide_samples)
    return frame(grid, floats, summaries)


def _tile(
    tile: Tile,
    guide: np.ndarray,
    source: np.ndarray,
    at: Box,
    grid: Grid,
    whole: Frame,
    model: Model | str,
    settings: Settings,
) -> np.ndarray:
    box = whole.needed(tile.cells)
    values = _placed(source, at, box)
    with on_threads(1):  # Dask is what shares out the cores
        return solved(tile_solve.pose(tile, _floats(guide), values, grid, whole, _loaded(model), settings))


def _placed(values: np.ndarray, at: Box, box: Box) -> np.ndarray:
    """What lies at the box `at`, in an array for `box`, NaN around it."""
    out = np.full((values.shape[0], *box.size), np.nan, np.float32)
    both = at & box
    if not both.empty:
        out[(slice(None), *both.slices(box))] = _floats(values)[(slice(None), *both.slices(at))]
    return out


def _floats(values: np.ndarray) -> np.ndarray:
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(np.float32), np.nan)
    floats = np.array(values, dtype=np.float32)
    floats[~np.isfinite(floats)] = np.nan
    return floats


def _loaded(model: Model | str) -> Model:
    return model if isinstance(model, Model) else _by_name(model)


@lru_cache(maxsize=2)
def _by_name(name: str) -> Model:
    return load(name).eval()
