"""Dask arrays in, a Dask array out, nothing computed yet: `graphsr.raster.upsample`."""

from __future__ import annotations

import os
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import torch

from graphsr.errors import InputError
from graphsr.measurements.uncertainty import calibration_of
from graphsr.models.base import Model
from graphsr.models.registry import load
from graphsr.options import UpsamplingOptions
from graphsr.raster.data_arrays import UnwrappedPair, bands_first, is_data_array, unwrap
from graphsr.raster.grid import Box, Grid
from graphsr.raster.source_samples import resolve_errors
from graphsr.raster.statistics import (
    ChunkSummary,
    Statistics,
    combine,
    guide_samples,
    source_chunks,
    summarise,
    with_surroundings,
)
from graphsr.raster.tile import Settings, checked_confidence, finish_tile, locality_of, prepare_tile
from graphsr.raster.tiling import Tile, cut_tiles
from graphsr.threads import on_threads


def upsample(
    guide: Any,
    source: Any,
    *,
    model: str | os.PathLike[str] | Model = "default",
    confidence: Any = 1.0,
    noise: float | Literal["auto"] | None = None,
    robust: bool | float = False,
    exact: bool = False,
    fill: bool = False,
    uncertainty: bool = False,
    footprint: str = "box",
    origin: tuple[float, float] | None = None,
    step: tuple[float, float] | None = None,
    tile: int | None = None,
    halo: int | None = None,
) -> Any:
    """Upsample a source to the resolution of a guide, lazily: the target is a Dask array, one chunk a tile.

    Args:
        guide: Dask (or NumPy) array (H, W) or (C, H, W), or an xarray DataArray with coordinates; NaN is missing.
        source: The same, (h, w) or (K, h, w); bands share one graph.
        model: A name of `graphsr.models()`, a path that all workers can read, or a loaded model.
        confidence: Of all source pixels, above 0 and at most 1, see `graphsr.upsample`; or an array (h, w) with that of
            each, whose least and largest are computed at once.
        noise: Standard deviation of the source's noise, in its units and the same for all bands, or "auto" to estimate
            each band's. With it or `robust` samples of the source are computed at once.
        robust: Whether source pixels that neither their neighbours nor the graph can explain are switched off. A number
            is the error, in the source's units, from which on a pixel counts as wrong.
        exact: Whether the target has to average back to the source exactly.
        fill: Whether holes of the source get values too; beyond the source there are none.
        uncertainty: Whether to return the standard deviations of the target, and not the target itself.
        footprint: What a source pixel averages over, see `graphsr.upsample`.
        origin: Where source pixel (0, 0) begins, in guide pixels (down, right); default edge to edge, and with
            DataArrays what their coordinates say.
        step: What a source pixel measures, in guide pixels (down, right); goes with `origin`.
        tile: Side of a tile in guide pixels; default by model and factor.
        halo: How many guide pixels are read around a tile; default by model and factor.

    Returns:
        (H, W) or (K, H, W), NaN where there is no value; a DataArray if both inputs are. float32, or float64 where the
        source's type has more digits.

    Raises:
        InputError: If guide and source do not fit together, or an argument is not valid.

    Example:
        >>> import numpy as np
        >>> import graphsr
        >>> target = graphsr.raster.upsample(np.random.rand(3, 64, 64), np.random.rand(8, 8), model="bicubic")
        >>> target.compute().shape
        (64, 64)
    """
    options = UpsamplingOptions(
        model, exact=exact, noise=noise, robust=robust, footprint=footprint, uncertainty=uncertainty
    )
    loaded = options.load_model()
    options.check_model(loaded)
    own = None if np.ndim(confidence) == 0 else bands_first("confidence", confidence)
    shared = checked_confidence(confidence) if own is None else 1.0
    settings = Settings(exact, fill, confidence=shared, uncertainty=uncertainty, footprint=footprint)
    pair = _pair(guide, source, origin, step)
    return pair.wrap(_upsample(pair, own, options, loaded, settings, tile, halo))


def _pair(
    guide: Any, source: Any, origin: tuple[float, float] | None, step: tuple[float, float] | None
) -> UnwrappedPair:
    """Return both arrays as Dask arrays, and where they lie: edge to edge, as said, or as DataArrays say."""
    if is_data_array(guide) or is_data_array(source):
        if not (is_data_array(guide) and is_data_array(source)):
            raise InputError("raster.upsample: give guide and source both as DataArrays, or both as plain arrays")
        if origin is not None or step is not None:
            raise InputError(
                "raster.upsample: DataArrays say by their coordinates where they lie; leave origin and step out"
            )
        return unwrap(guide, source)
    fine, coarse = bands_first("guide", guide), bands_first("source", source)
    sizes = fine.shape[1:], coarse.shape[1:]
    if (origin is None) != (step is None):
        raise InputError("raster.upsample: origin and step belong together; give both or neither")
    grid = Grid.edge_to_edge(*sizes) if origin is None or step is None else Grid.placed(*sizes, origin, step)
    return UnwrappedPair(fine, coarse, grid, guide, source)


def _upsample(
    pair: UnwrappedPair,
    confidence: Any,
    options: UpsamplingOptions,
    loaded: Model,
    settings: Settings,
    side: int | None,
    halo: int | None,
) -> Any:
    """Return the target of a pair as a Dask array (K, H, W)."""
    import dask.array as da
    from dask.delayed import delayed

    guide, source, grid = pair.guide, pair.source, pair.grid
    locality = locality_of(loaded)
    if settings.uncertainty:
        calibration_of(loaded)  # says once, before the tiles, if it is not the model's own
    if confidence is not None:
        settings = replace(settings, least_confidence=_least_confidence(confidence, source.shape[1:]))
        source = da.where(confidence > 0, source, np.nan)
    errors = resolve_errors(lambda box: _floats(source[_cut(box)].compute()), grid, loaded, options.errors)
    settings = replace(settings, errors=errors)
    side, margin = settings.tile_sizes(grid, loaded, source.shape[0], side, halo)
    # A model by name is loaded where it runs; a loaded one is sent once.
    model = options.model
    sent = delayed(model.eval()) if isinstance(model, Model) else os.fspath(model)
    summaries = [delayed(_summarise)(source[_cut(box & grid.covered)], box, grid) for box in source_chunks(grid)]
    samples = [guide[_cut(box)] for box in guide_samples(grid)]
    statistics = delayed(_combine)(grid, sent, samples, summaries, settings)

    dtype = np.result_type(source.dtype, np.float32)

    def block(tile: Tile) -> Any:
        # Whether there are holes is not known before the statistics are, so the most that can be needed is passed.
        at = with_surroundings(tile.source_window) & grid.covered
        at = Box(0, 0, 0, 0) if at.empty else at
        values = delayed(_tile)(
            tile,
            guide[_cut(tile.window)],
            source[_cut(at)],
            None if confidence is None else confidence[_cut(at)],
            at,
            grid,
            statistics,
            sent,
            settings,
            dtype,
        )
        shape = (source.shape[0], *tile.core.size)
        return da.from_delayed(values, shape, dtype=dtype)  # type: ignore[no-untyped-call]

    rows: dict[int, list[Any]] = {}
    for each in cut_tiles(grid, side, margin, locality.multiple):
        rows.setdefault(each.core.top, []).append(block(each))
    return da.block(list(rows.values()))  # type: ignore[no-untyped-call]


def _least_confidence(confidence: Any, size: tuple[int, int]) -> float:
    """Check confidences (1, h, w) of a source of (h, w); return the least above 0."""
    if confidence.shape != (1, *size):
        raise InputError(
            f"confidence: must be one number or have the source's shape {size}, not {confidence.shape[1:]}"
        )
    import dask.array as da

    finite = da.isfinite(confidence).all()
    low, high, least = (
        each.compute() for each in (confidence.min(), confidence.max(), da.where(confidence > 0, confidence, 1).min())
    )
    if not (finite.compute() and 0 <= low <= high <= 1):
        raise InputError(f"confidence: must lie between 0 (missing) and 1, but holds {low if low < 0 else high:g}")
    if high == 0:
        raise InputError("confidence: is 0 everywhere; at least one source pixel must be known")
    return float(least)


def _cut(box: Box) -> tuple[slice, slice, slice]:
    return (slice(None), *box.slices())


def _summarise(values: np.ndarray, box: Box, grid: Grid) -> ChunkSummary:
    return summarise(_placed(values, box & grid.covered, box), box, grid)


def _combine(
    grid: Grid, model: Model | str, samples: list[np.ndarray], summaries: list[ChunkSummary], settings: Settings
) -> Statistics:
    select = _loaded(model).select_channels
    selected = (select(torch.from_numpy(_floats(each))[None])[0].numpy() for each in samples)
    return settings.with_holes(combine(grid, selected, summaries))


def _tile(
    tile: Tile,
    guide: np.ndarray,
    source: np.ndarray,
    confidence: np.ndarray | None,
    at: Box,
    grid: Grid,
    statistics: Statistics,
    model: Model | str,
    settings: Settings,
    dtype: np.dtype[Any],
) -> np.ndarray:
    values = _placed(source, at, statistics.source_needed(tile.source_window))
    own = None if confidence is None else np.nan_to_num(_placed(confidence, at, tile.source_window)[0], nan=1.0)
    with on_threads(1):  # Dask shares out the cores
        prepared = prepare_tile(tile, _floats(guide), values, grid, statistics, _loaded(model), settings, own)
        return finish_tile(prepared).values.astype(dtype)


def _placed(values: np.ndarray, at: Box, box: Box) -> np.ndarray:
    """Return values (K, h, w) that lie at the box `at` in an array for `box`, NaN around them."""
    out = np.full((values.shape[0], *box.size), np.nan)
    both = at & box
    if not both.empty:
        out[(slice(None), *both.slices(box))] = _floats(values)[(slice(None), *both.slices(at))]
    return out


def _floats(values: np.ndarray) -> np.ndarray:
    """Return values in floats of at least single precision, NaN where there is none."""
    dtype = np.result_type(values.dtype, np.float32)
    if isinstance(values, np.ma.MaskedArray):
        values = np.ma.filled(values.astype(dtype), np.nan)
    floats = np.array(values, dtype=dtype)
    floats[~np.isfinite(floats)] = np.nan
    return floats


def _loaded(model: Model | str) -> Model:
    return model if isinstance(model, Model) else _by_name(model)


@lru_cache(maxsize=2)
def _by_name(name: str) -> Model:
    return load(name).eval()
