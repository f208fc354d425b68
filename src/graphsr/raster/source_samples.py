"""What is said of the errors of a raster's source, resolved on samples of it before the first tile."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch

from graphsr.files.missing import suspected_missing
from graphsr.measurements.noise import noise_levels, stated_confidence, told_noise
from graphsr.measurements.outliers import soft_confidence
from graphsr.measurements.source_errors import SourceErrors
from graphsr.models.base import Model
from graphsr.raster.files import has_mask, read_stored
from graphsr.raster.grid import Box, Grid
from graphsr.raster.pair import RasterPair
from graphsr.raster.statistics import evenly_spaced

# The source is sampled by so many squares of this side along each axis: all of a small raster.
_SAMPLES = 6
_SAMPLE_SIDE = 256


@dataclass(frozen=True)
class RasterErrors:
    """The errors of a raster's source, the same for all tiles.

    Attributes:
        noise: Standard deviation of each band's noise, in the units of the source; None: nothing is said of it.
        robust: Whether to switch outliers off; a number is the error from which on a pixel is one.
        level: With `robust`, the noise that outliers are told from, of each band.
        confidence: The least of the confidences that follow from it, for the halo of tiles.
    """

    noise: tuple[float, ...] | None = None
    robust: bool | float = False
    level: tuple[float, ...] = ()
    confidence: float = 1.0

    @property
    def said(self) -> bool:
        """Return whether anything is said."""
        return self.noise is not None or self.robust is not False


def resolve_errors(read: Callable[[Box], np.ndarray], grid: Grid, model: Model, errors: SourceErrors) -> RasterErrors:
    """Resolve what is said of the errors of a source.

    Args:
        read: Reads a box of the source, (K, h, w), NaN is missing.
        grid: Of the raster.
        model: Whose graph it is.
        errors: What is said.
    """
    if not errors.said:
        return RasterErrors()
    assert model.noise_unit is not None
    samples = [torch.from_numpy(read(box).astype(np.float64))[None] for box in _source_samples(grid)]
    std = np.array([_std(torch.cat([each[0, k].flatten() for each in samples])) for k in range(samples[0].shape[1])])
    # Samples without enough known pixels do not count.
    found = torch.cat([noise_levels(each)[..., 0, 0] for each in samples]).nanmedian(0).values
    estimated = (told_noise(found) if errors.noise == "auto" else torch.nan_to_num(found)).numpy()
    noise = None
    if errors.noise is not None:
        noise = estimated if errors.noise == "auto" else np.full_like(std, errors.noise)
    relative = torch.from_numpy((estimated if noise is None else noise) / std)
    confidence = 1.0 if noise is None else float(stated_confidence(relative, model.noise_unit, grid.step).min())
    if errors.robust is not False:
        confidence = min(confidence, soft_confidence(model.noise_unit, grid.step))
    return RasterErrors(
        noise=None if noise is None else tuple(noise.tolist()),
        robust=errors.robust,
        level=() if errors.robust is False else tuple((estimated if noise is None else noise).tolist()),
        confidence=confidence,
    )


def suspected_holes(pair: RasterPair) -> float:
    """Return the share of zeros in samples of the source if they look like pixels without a value, else 0."""
    path, bands = pair.source_path, pair.source_bands
    if pair.source_nodata is not None or has_mask(path, bands):
        return 0.0
    samples = [read_stored(path, bands, box).reshape(len(bands), -1) for box in _source_samples(pair.grid)]
    return max(suspected_missing(band) for band in np.concatenate(samples, 1))


def _std(values: torch.Tensor) -> float:
    known = values[torch.isfinite(values)]
    return max(float(known.std(correction=0)) if known.numel() else 0.0, 1e-30)


def _source_samples(grid: Grid) -> list[Box]:
    """Return the boxes of source pixels that are looked at before a run."""
    area = grid.covered
    rows, columns = (evenly_spaced(size, _SAMPLE_SIDE, _SAMPLES) for size in area.size)
    return [
        Box(area.top + top, area.left + left, area.top + bottom, area.left + right)
        for top, bottom in rows
        for left, right in columns
    ]
