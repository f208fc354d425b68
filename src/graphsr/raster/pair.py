"""Guide and source as georeferenced files: whether they fit together, and where the source lies under the guide."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from shlex import quote
from typing import Any

import numpy as np

from graphsr.errors import InputError
from graphsr.raster.drivers import is_local
from graphsr.raster.files import dataset, read, require_rasterio
from graphsr.raster.grid import Box, Grid

_SKEW = 1e-9


@dataclass(frozen=True)
class RasterPair:
    """Two georeferenced files that fit together. Holds no open file, so that it can be sent to other processes.

    Attributes:
        guide_path: The guide.
        source_path: The source.
        guide_bands: Which bands of the guide are read, counted from 1.
        source_bands: Which bands of the source are read, counted from 1.
        size: (H, W) of the guide.
        source_size: (h, w) of the source.
        origin: Where source pixel (0, 0) begins, in guide pixels down and right.
        step: What a source pixel measures, in guide pixels down and right.
        source_nodata: Source pixels of this value are missing, beside those that the file declares so.
        confidence_path: Confidences of the source pixels; None: none are given.
        confidence_range: The least confidence above 0 in that file, and the number that stands for 1.
    """

    guide_path: str
    source_path: str
    guide_bands: tuple[int, ...]
    source_bands: tuple[int, ...]
    size: tuple[int, int]
    source_size: tuple[int, int]
    origin: tuple[float, float]
    step: tuple[float, float]
    source_nodata: float | None = None
    confidence_path: str | None = None
    confidence_range: tuple[float, float] = (1.0, 1.0)

    @cached_property
    def grid(self) -> Grid:
        """Return where the source pixels lie under the guide pixels."""
        return Grid.placed(self.size, self.source_size, self.origin, self.step)

    @property
    def paths(self) -> tuple[str, ...]:
        """Return all its files."""
        given = () if self.confidence_path is None else (self.confidence_path,)
        return (self.guide_path, self.source_path, *given)

    def guide(self, box: Box) -> np.ndarray:
        """Read a box of the guide: (C, h, w) float32, NaN where there is no value."""
        return read(self.guide_path, self.guide_bands, box).astype(np.float32, copy=False)

    def source(self, box: Box) -> np.ndarray:
        """Read a box of the source: (K, h, w) float64, NaN where it is missing, and beyond source and guide."""
        values = np.full((len(self.source_bands), *box.size), np.nan)
        inside = box & self.grid.covered
        if not inside.empty:
            found = read(self.source_path, self.source_bands, inside, self.source_nodata)
            confidence = self.confidence(inside)
            if confidence is not None:
                found[:, confidence == 0] = np.nan
            values[(slice(None), *inside.slices(box))] = found
        return values

    def confidence(self, box: Box) -> np.ndarray | None:
        """Read the confidences in a box of source pixels: (h, w), 1 beyond source and guide; None if none are given."""
        if self.confidence_path is None:
            return None
        values = np.ones(box.size)
        inside = box & self.grid.covered
        if not inside.empty:
            found = np.nan_to_num(read(self.confidence_path, (1,), inside)[0])
            values[inside.slices(box)] = found / self.confidence_range[1]
        return values


def open_pair(
    guide: str | os.PathLike[str],
    source: str | os.PathLike[str],
    *,
    guide_bands: Sequence[int] | None = None,
    source_bands: Sequence[int] | None = None,
    source_nodata: float | None = None,
) -> RasterPair:
    """Open two files and check that they fit together.

    Args:
        guide: The raster with the detail.
        source: The coarse raster.
        guide_bands: Counted from 1; default all that are not masks.
        source_bands: Counted from 1; default all that are not masks.
        source_nodata: Source pixels of this value are missing, beside those that the file declares so.

    Raises:
        InputError: If a file cannot be read, or the two do not fit together.
    """
    fine, coarse = dataset(os.fspath(guide)), dataset(os.fspath(source))
    for each in (fine, coarse):
        _check_placed(each)
        _check_upright(each)
    _check_crs(fine, coarse)
    a, b = fine.transform, coarse.transform
    step = b.e / a.e, b.a / a.a
    if min(step) <= 0:
        raise InputError(
            f"{coarse.name}: runs the other way than {fine.name} (one is flipped); bring it to the usual order: "
            f"rio warp {quote(coarse.name)} upright.tif --dst-crs {_crs_name(coarse)}"
        )
    pair = RasterPair(
        _absolute(fine.name),
        _absolute(coarse.name),
        _bands(fine, guide_bands),
        _bands(coarse, source_bands),
        (fine.height, fine.width),
        (coarse.height, coarse.width),
        ((b.f - a.f) / a.e, (b.c - a.c) / a.a),
        step,
        source_nodata,
    )
    try:
        pair.grid  # noqa: B018 (checks itself)
    except InputError as error:
        raise InputError(f"{fine.name}, {coarse.name}: {error}") from error
    return pair


def _check_placed(opened: Any) -> None:
    if opened.transform == require_rasterio().Affine.identity():
        raise InputError(
            f"{opened.name}: does not say where it lies (no geotransform); two images of the same view are for "
            "graphsr upsample"
        )


def _check_upright(opened: Any) -> None:
    place = opened.transform
    if abs(place.b) > _SKEW * abs(place.a) or abs(place.d) > _SKEW * abs(place.e):
        raise InputError(
            f"{opened.name}: its grid is rotated; bring it upright first: "
            f"rio warp {quote(opened.name)} upright.tif --dst-crs {_crs_name(opened)}"
        )


def _check_crs(fine: Any, coarse: Any) -> None:
    if fine.crs and coarse.crs and fine.crs != coarse.crs:
        stem, suffix = os.path.splitext(os.path.basename(coarse.name))
        warped = quote(f"{stem}_warped{suffix}")
        raise InputError(
            f"{coarse.name}: is in {_crs_name(coarse)}, but {fine.name} in {_crs_name(fine)}; bring it there first: "
            f"rio warp {quote(coarse.name)} {warped} --dst-crs {_crs_name(fine)} --resampling bilinear"
        )


def _crs_name(opened: Any) -> str:
    if not opened.crs:
        return "EPSG:..."
    name = str(opened.crs.to_string())
    return name if " " not in name else f"'{name}'"


def _absolute(path: str) -> str:
    return os.path.abspath(path) if is_local(path) else path


def _bands(opened: Any, wanted: Sequence[int] | None) -> tuple[int, ...]:
    if wanted is None:
        kinds = [interpretation.name for interpretation in opened.colorinterp]
        return tuple(n for n, kind in enumerate(kinds, 1) if kind != "alpha") or (1,)
    for band in wanted:
        if not 1 <= band <= opened.count:
            raise InputError(f"{opened.name}: has no band {band}; its bands are 1 to {opened.count}")
    if not wanted:
        raise InputError(f"{opened.name}: at least one band is needed")
    return tuple(wanted)
