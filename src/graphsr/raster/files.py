"""Guide and source rasters on disk: where they lie, and how windows of them are read."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from shlex import quote
from typing import Any

import numpy as np

from graphsr.errors import InputError, missing_extra
from graphsr.files.limits import check_regular_file
from graphsr.raster.drivers import drivers_for, is_local
from graphsr.raster.grid import Box, Grid

# GDAL's cache of blocks, in megabytes; its own default grows with the machine.
CACHE_MB = 128
_LARGEST = float(np.finfo(np.float32).max) ** 0.5  # room for squares
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
        return _read(self.guide_path, self.guide_bands, box).astype(np.float32, copy=False)

    def source(self, box: Box) -> np.ndarray:
        """Read a box of the source: (K, h, w) float64, NaN where it is missing, and beyond source and guide."""
        values = np.full((len(self.source_bands), *box.size), np.nan)
        inside = box & self.grid.covered
        if not inside.empty:
            read = _read(self.source_path, self.source_bands, inside, self.source_nodata)
            confidence = self.confidence(inside)
            if confidence is not None:
                read[:, confidence == 0] = np.nan
            values[(slice(None), *inside.slices(box))] = read
        return values

    def confidence(self, box: Box) -> np.ndarray | None:
        """Read the confidences in a box of source pixels: (h, w), 1 beyond source and guide; None if none are given."""
        if self.confidence_path is None:
            return None
        values = np.ones(box.size)
        inside = box & self.grid.covered
        if not inside.empty:
            read = np.nan_to_num(_read(self.confidence_path, (1,), inside)[0])
            values[inside.slices(box)] = read / self.confidence_range[1]
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


def fingerprint(path: str) -> list[Any]:
    """Return size and time of change of a local file; nothing of a remote one."""
    try:
        state = os.stat(path)
    except OSError:
        return []
    return [state.st_size, state.st_mtime_ns]


class _OpenFiles(threading.local):
    """The open datasets of a thread: GDAL's must not be shared between threads."""

    def __init__(self) -> None:
        self.by_path: dict[str, tuple[list[Any], Any]] = {}


_open_files = _OpenFiles()


def dataset(path: str) -> Any:
    """Open a file as a raster, once for each thread."""
    state = fingerprint(path)
    opened_before = _open_files.by_path.get(path)
    if opened_before is not None and opened_before[0] == state:
        return opened_before[1]
    rasterio = require_rasterio()
    if is_local(path):
        check_regular_file(path, "a raster file")
    try:
        with (
            rasterio.Env(GDAL_CACHEMAX=CACHE_MB, GDAL_DISABLE_READDIR_ON_OPEN="EMPTY_DIR"),
            warnings.catch_warnings(),
        ):
            # What does not say where it lies is refused later on, in words of ours.
            warnings.simplefilter("ignore", rasterio.errors.NotGeoreferencedWarning)
            opened = _open(path)
    except rasterio.errors.RasterioIOError as error:
        raise InputError(f"{path}: cannot be read as a raster ({str(error).splitlines()[0]})") from error
    if not opened.count:
        raise InputError(f"{path}: holds no raster band of its own; name one of its subdatasets")
    if any(kind.startswith("complex") for kind in opened.dtypes):
        raise InputError(f"{path}: holds complex numbers; integers or real numbers are needed")
    if opened_before is not None:
        opened_before[1].close()
    _open_files.by_path[path] = state, opened
    return opened


def _open(path: str) -> Any:
    """Open a file by the first driver that can, of those that its suffix names."""
    rasterio = require_rasterio()
    first: Exception | None = None
    for driver in drivers_for(path):
        try:
            return rasterio.open(path, driver=driver)
        except (rasterio.errors.RasterioIOError, rasterio.errors.DriverRegistrationError) as error:
            first = first or error
    raise rasterio.errors.RasterioIOError(str(first)) from first


def _forget(path: str) -> None:
    """Close a file after a failed read, whose error GDAL stores and would raise at the next call."""
    _, opened = _open_files.by_path.pop(path)
    with suppress(Exception):
        opened.colorinterp  # noqa: B018 (a call)
    opened.close()


def swallow_errors(path: str) -> None:
    """Clear the errors that GDAL still stores after a failed write, by calls until one succeeds."""
    opened = dataset(path)
    for _ in range(8):
        with suppress(Exception):
            opened.colorinterp  # noqa: B018 (a call)
            return


def require_rasterio() -> Any:
    """Import rasterio; raise InputError with the command that installs it if it is missing."""
    try:
        import rasterio
        import rasterio.errors
        import rasterio.shutil
        import rasterio.windows
    except ImportError as error:
        raise missing_extra("rasters need rasterio", "geo") from error
    return rasterio


def window_of(box: Box) -> Any:
    """Return a box as a window of rasterio."""
    height, width = box.size
    return require_rasterio().windows.Window(box.left, box.top, width, height)


def has_mask(path: str, bands: Sequence[int]) -> bool:
    """Return whether a file declares that pixels may have no value: by nodata, a mask or an alpha band."""
    flags = dataset(path).mask_flag_enums
    return any("all_valid" not in {flag.name for flag in flags[band - 1]} for band in bands)


def _read(path: str, bands: Sequence[int], box: Box, nodata: float | None = None) -> np.ndarray:
    rasterio = require_rasterio()
    opened = dataset(path)
    masked = has_mask(path, bands)
    try:
        with rasterio.Env(GDAL_CACHEMAX=CACHE_MB):
            values = _values(opened, bands, box, masked)
    except rasterio.errors.RasterioIOError as error:
        _forget(path)
        raise InputError(f"{path}: cannot be read; the file may be damaged ({str(error).splitlines()[0]})") from error
    floats = np.ma.getdata(values).astype(np.result_type(values.dtype, np.float32))
    if masked:
        floats[np.ma.getmaskarray(values)] = np.nan
    if nodata is not None:
        raw = np.ma.getdata(values)
        floats[raw == (raw.dtype.type(nodata) if raw.dtype.kind == "f" else nodata)] = np.nan
    # Integers of up to 32 bits are finite, and not as large.
    if (values.dtype.kind == "f" or values.dtype.itemsize > 4) and _largest(floats) > _LARGEST:
        raise InputError(
            f"{path}: holds numbers beyond {_LARGEST:.0e}; if they mark missing pixels, declare them: "
            f"rio edit-info {quote(path)} --nodata VALUE"
        )
    return floats


def _largest(floats: np.ndarray) -> float:
    """Make what is not finite NaN; return the largest magnitude of the rest."""
    low, high = np.min(floats, initial=0.0), np.max(floats, initial=0.0)
    if not (np.isfinite(low) and np.isfinite(high)):
        floats[~np.isfinite(floats)] = np.nan
        low, high = np.fmin.reduce(floats, None, initial=0.0), np.fmax.reduce(floats, None, initial=0.0)
    return float(max(-low, high))


def _values(opened: Any, bands: Sequence[int], box: Box, masked: bool) -> np.ndarray:
    """Read bands (K, h, w) in one type."""
    window, kind = window_of(box), common_type(opened, bands)
    if all(opened.dtypes[band - 1] == kind for band in bands):
        values: np.ndarray = opened.read(list(bands), window=window, masked=masked)
        return values
    stacked: np.ndarray = np.ma.stack([opened.read(n, window=window, masked=masked).astype(kind) for n in bands])
    return stacked


def common_type(opened: Any, bands: Sequence[int]) -> np.dtype[Any]:
    """Return the type that holds all of several bands."""
    return np.dtype(np.result_type(*(opened.dtypes[band - 1] for band in bands)))


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
