"""One tile: arrays in, its pixels out. A pure function of what it is given, wherever it runs."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from numbers import Real
from typing import Any

import numpy as np
import torch

from graphsr.errors import InputError
from graphsr.measurements.outliers import REACH
from graphsr.measurements.posterior import bytes_per_pixel as bytes_of_draws
from graphsr.measurements.source_errors import SourceErrors, weigh, with_noise
from graphsr.measurements.uncertainty import DRAWS, calibration_of, uncertainty
from graphsr.models.base import Model, finish
from graphsr.models.calibration import Calibration
from graphsr.models.window import Locality, Window
from graphsr.raster.grid import Box, Grid
from graphsr.raster.source_samples import RasterErrors
from graphsr.raster.statistics import Statistics
from graphsr.raster.tiling import Tile, default_halo, default_side
from graphsr.scaling import all_finite
from graphsr.solver import Problem

# RMS error of a tile's solve, in standard deviations of the whole source. The largest error of a pixel is ten times
# the RMS, so that this keeps it below 1e-3 with a margin (docs/raster.md).
RTOL = 1e-5
_LARGEST_RTOL = 0.1


@dataclass(frozen=True)
class Settings:
    """What the user chose about the result.

    Attributes:
        exact: Whether the target has to average back to the source exactly.
        fill: Whether holes of the source get values too.
        errors: What is known of the errors of the source.
        confidence: Of all source pixels.
        least_confidence: Of any source pixel that has one of its own.
        uncertainty: Whether the values are the standard deviations of the target, and not the target itself.
        footprint: What a source pixel averages over, one of `graphsr.footprints.FOOTPRINTS`.
    """

    exact: bool = False
    fill: bool = False
    errors: RasterErrors = field(default_factory=RasterErrors)
    confidence: float = 1.0
    least_confidence: float = 1.0
    uncertainty: bool = False
    footprint: str = "box"

    def tile_sizes(
        self, grid: Grid, model: Model, bands: int, side: int | None = None, halo: int | None = None
    ) -> tuple[int, tuple[int, int]]:
        """Return the side of a tile, and how many guide pixels are read around it, down and right.

        Args:
            grid: Of the raster.
            model: One that has a locality.
            bands: Of the source.
            side: What the user wants; default as large as fits into memory.
            halo: What the user wants; default as wide as the model and the factor need it.

        Raises:
            InputError: If what the user wants cannot be.
        """
        if (side is not None and side < 1) or (halo is not None and halo < 0):
            wanted = f"{'default' if side is None else side} with {'default' if halo is None else halo}"
            raise InputError(f"a tile must be at least 1 pixel with a halo of 0 or more, not {wanted}")
        around = self._halo(grid, locality_of(model)) if halo is None else (halo, halo)
        if side is None:
            needed = model.bytes_per_pixel(bands) + (bytes_of_draws((1, 1), DRAWS) if self.uncertainty else 0)
            side = default_side(grid, around, needed, double=self.exact or self.footprint != "box")
        return side, around

    def _halo(self, grid: Grid, locality: Locality) -> tuple[int, int]:
        confidence = self.confidence * self.least_confidence * self.errors.confidence
        down, right = default_halo(grid, locality.weighed(confidence), self.footprint)
        if self.errors.robust is False:
            return down, right
        return max(down, math.ceil(REACH * grid.step[0])), max(right, math.ceil(REACH * grid.step[1]))

    def with_holes(self, statistics: Statistics) -> Statistics:
        """Return the statistics with room for the holes that outliers leave."""
        return statistics if self.errors.robust is False else replace(statistics, complete=False)


@dataclass(frozen=True)
class PreparedTile:
    """A tile before its solve: what can be done while another tile is being solved.

    Attributes:
        tile: Which one.
        prepared: What `Model.prepare` returned for its window; None: no pixel of the core gets a value. Where outliers
            are switched off, which takes solves, a function that returns the problem and their number.
        rtol: RMS error allowed of the solve, in standard deviations of the window's source.
        valid: (K, h, w) which pixels of the core get a value.
        mean: (K,) of the whole source, about which the tile is solved.
        calibration: Of the model, if the standard deviations of the target are wanted instead of it.
        std: (1, K, 1, 1) standard deviation of the whole source; needed for those.
    """

    tile: Tile
    prepared: Problem | torch.Tensor | Callable[[], tuple[Problem, int]] | None
    rtol: float
    valid: np.ndarray
    mean: np.ndarray
    calibration: Calibration | None = None
    std: torch.Tensor | None = None


@dataclass(frozen=True, eq=False)
class FinishedTile:
    """A tile after its solve.

    Attributes:
        values: (K, h, w) float64: the target in its core, or its standard deviations; NaN where there is no value.
        switched_off: How many source pixels whose middle lies in the core were taken for outliers.
    """

    values: np.ndarray
    switched_off: int = 0


def checked_confidence(confidence: float) -> float:
    """Return the confidence of all source pixels if it is one; else raise InputError."""
    number = float(confidence) if isinstance(confidence, Real) else math.nan
    if not 0 < number <= 1:
        raise InputError(f"confidence: of all source pixels must be above 0 and at most 1, not {confidence!r}")
    return number


def locality_of(model: Model) -> Locality:
    """Return the locality of a model; raise InputError if it cannot run on tiles."""
    locality = model.locality
    if locality is None:
        raise InputError(
            f"model {type(model).__name__}: has to see the whole image at once, so it cannot run on tiles of a raster; "
            "use 'colour', 'bicubic' or a GraphSR model with a U-Net on Lite or ResNet encoders"
        )
    return locality


def prepare_tile(
    tile: Tile,
    guide: np.ndarray,
    source: np.ndarray,
    grid: Grid,
    statistics: Statistics,
    model: Model,
    settings: Settings,
    confidence: np.ndarray | None = None,
) -> PreparedTile:
    """Do all that comes before the solve of a tile.

    Args:
        tile: Which one.
        guide: (C, H, W) of its window; NaN is missing.
        source: (K, h, w) of `statistics.source_needed(tile.source_window)`; NaN is missing.
        grid: Of the raster.
        statistics: Of the raster.
        model: One that has a locality.
        settings: What the user chose.
        confidence: (h, w) of the source pixels of its window; where it is 0 the source is missing.
    """
    box = statistics.source_needed(tile.source_window)
    channels = model.select_channels(torch.from_numpy(np.ascontiguousarray(guide, dtype=np.float32))[None])
    valid = _valid(tile, channels, source, box, grid, settings)
    if not valid.any():
        return PreparedTile(tile, None, RTOL, valid, statistics.source_mean)
    if not all_finite(channels):
        channels = torch.where(torch.isfinite(channels), channels, statistics.scale().guide_mean)
    rtol = _rtol(statistics.filled(source, box, tile.source_window), statistics)
    # What a model solves before it predicts must not show the window either.
    chosen = model.with_rtol(rtol)
    if settings.errors.said:
        chosen = chosen.without_restoration()
    pair = _WindowPair(tile, channels, source, grid, statistics, chosen, settings, confidence)
    with torch.no_grad():
        prepared = pair.prepare() if settings.errors.robust is False else pair.without_outliers
    done = PreparedTile(tile, prepared, rtol, valid, statistics.source_mean)
    if not settings.uncertainty:
        return done
    return replace(done, calibration=calibration_of(model, quiet=True), std=statistics.scale().source_std)


@dataclass(frozen=True, eq=False)
class _WindowPair:
    """The window of a tile: guide (1, C, H, W) without holes, source (K, h, w); the rest as in `prepare_tile`."""

    tile: Tile
    guide: torch.Tensor
    source: np.ndarray
    grid: Grid
    statistics: Statistics
    model: Model
    settings: Settings
    confidence: np.ndarray | None

    def prepare(self, weights: torch.Tensor | None = None) -> Any:
        """Prepare it with weights (1, K, h, w) of the source pixels; those of weight 0 are holes."""
        tile, statistics, errors = self.tile, self.statistics, self.settings.errors
        box = statistics.source_needed(tile.source_window)
        source = self.source
        if weights is not None:
            source = source.copy()
            source[self._inside][weights[0].numpy() == 0] = np.nan
        filled = statistics.filled(source, box, tile.source_window)
        known = torch.from_numpy(np.isfinite(source[self._inside]))[None]
        visible = self.grid.visible_shares(tile.window, tile.source_window)
        if self.confidence is not None:
            visible = visible * np.where(self.confidence > 0, self.confidence, 1.0)
        confidence = _confidence(visible, known, locality_of(self.model).edge_weight, self.settings.confidence)
        if weights is not None:
            some = torch.where(weights > 0, weights, 1.0)
            confidence = some if confidence is None else confidence * some
        scale = statistics.scale()
        window = Window(self.grid.sampling(tile.window, tile.source_window, self.settings.footprint), scale, known)
        problem = self.model.prepare(
            self.guide, filled, confidence=confidence, exact=self.settings.exact, window=window
        )
        if errors.noise is None or not isinstance(problem, Problem):
            return problem
        given = torch.ones_like(filled[:, :1]) if confidence is None else confidence
        return with_noise(problem, given, _of_bands(errors.noise) / scale.source_std, self.model)

    def without_outliers(self) -> tuple[Problem, int]:
        """Prepare it with outliers switched off, which takes solves; return how many have their middle in the core."""
        errors, statistics = self.settings.errors, self.statistics
        about_mean = self.source[self._inside] - statistics.source_mean.reshape(-1, 1, 1)
        weighed = weigh(
            self.prepare,
            torch.from_numpy(about_mean)[None].float(),
            statistics.scale().source_std,
            _of_bands(errors.level),
            self.model,
            SourceErrors(robust=errors.robust),
        )
        own = self.grid.has_middle_in(self.tile.core, self.tile.source_window)
        return weighed.problem, int((weighed.outliers[0].numpy() & own).sum())

    @property
    def _inside(self) -> tuple[slice, ...]:
        """Return where the source pixels of the window are in the source that was read."""
        window = self.tile.source_window
        return (slice(None), *window.slices(self.statistics.source_needed(window)))


def _of_bands(numbers: tuple[float, ...]) -> torch.Tensor:
    """Return one number for each band as (1, K, 1, 1)."""
    return torch.tensor(numbers, dtype=torch.float32).reshape(1, -1, 1, 1)


def finish_tile(tile: PreparedTile) -> FinishedTile:
    """Solve a prepared tile."""
    if tile.prepared is None:
        return FinishedTile(np.full(tile.valid.shape, np.nan))
    switched_off = 0
    with torch.no_grad():
        prepared = tile.prepared
        if callable(prepared):
            prepared, switched_off = prepared()
        result = finish(prepared, rtol=tile.rtol)
        values, mean = result.target, tile.mean.reshape(-1, 1, 1)
        if tile.calibration is not None and result.problem is not None:
            values, mean = _uncertainty(tile, tile.calibration, result.problem, values), np.zeros_like(mean)
    core = values[0].numpy()[(slice(None), *tile.tile.core.slices(tile.tile.window))]
    return FinishedTile(np.where(tile.valid, core + mean, np.nan), switched_off)


def _uncertainty(tile: PreparedTile, calibration: Calibration, problem: Problem, target: torch.Tensor) -> torch.Tensor:
    """Return the standard deviations (1, K, H, W) of a tile's target, with the perturbations of the whole."""
    window, source_window = tile.tile.window, tile.tile.source_window
    return uncertainty(
        problem,
        target,
        calibration,
        std=tile.std,
        origin=(window.top, window.left),
        source_origin=(source_window.top, source_window.left),
    )


def _valid(tile: Tile, guide: torch.Tensor, source: np.ndarray, box: Box, grid: Grid, settings: Settings) -> np.ndarray:
    """Return which core pixels (K, h, w) have a guide and a source pixel that is known (or, if filled, exists)."""
    rows, columns = grid.source_indices(tile.core)
    rows = np.clip(rows, grid.source_extent.top, grid.source_extent.bottom - 1)
    columns = np.clip(columns, grid.source_extent.left, grid.source_extent.right - 1)
    if settings.fill:
        inside = grid.covered
        down = (rows >= inside.top) & (rows < inside.bottom)
        right = (columns >= inside.left) & (columns < inside.right)
        has_source = np.broadcast_to(down[:, None] & right, (source.shape[0], *tile.core.size))
    else:
        has_source = np.isfinite(source)[:, rows[:, None] - box.top, columns - box.left]
    core = guide[(..., *tile.core.slices(tile.window))]
    return np.asarray(has_source if all_finite(core) else has_source & torch.isfinite(core).all(1)[0].numpy())


def _confidence(visible: np.ndarray, known: torch.Tensor, edge_weight: float, confidence: float) -> torch.Tensor | None:
    """Return the confidence of source pixels (1, 1 or K, h, w): that of all times their visible share.

    Of filled ones, lambda times it. So a filled pixel gives way to data, and yet the values at one end of a large hole
    have no effect a few of its pixels further: a tile need not read the other end.
    """
    share = confidence * torch.from_numpy(visible).float()[None, None]
    if bool(known.all()):
        return None if bool((share == 1).all()) else share
    if bool((known == known[:, :1]).all()):
        known = known[:, :1]
    return share * torch.where(known, 1.0, edge_weight)


def _rtol(source: torch.Tensor, statistics: Statistics) -> float:
    """Return RTOL in standard deviations of a window's source (1, K, h, w), so that all tiles have the same error."""
    std = source[0].double().std((-2, -1), correction=0).numpy()
    return float(np.clip(RTOL * (statistics.source_std / np.maximum(std, 1e-30)).min(), RTOL / 10, _LARGEST_RTOL))
