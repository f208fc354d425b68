"""Raster files: opened once for each thread, and windows of them read."""

from __future__ import annotations

import os
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from shlex import quote
from typing import Any

import numpy as np

from graphsr.errors import InputError, missing_extra
from graphsr.files.limits import check_regular_file
from graphsr.raster.drivers import drivers_for, is_local
from graphsr.raster.grid import Box

# GDAL's cache of blocks, in megabytes; its own default grows with the machine.
CACHE_MB = 128
_LARGEST = float(np.finfo(np.float32).max) ** 0.5  # room for squares


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


def read(path: str, bands: Sequence[int], box: Box, nodata: float | None = None) -> np.ndarray:
    """Read bands of a box as floats (K, h, w), NaN where the file declares no value, and where it is `nodata`."""
    opened = dataset(path)
    masked = has_mask(path, bands)
    with _reading(path):
        values = _values(opened, bands, box, masked)
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


def read_stored(path: str, bands: Sequence[int], box: Box) -> np.ndarray:
    """Read bands of a box (K, h, w) as they are stored."""
    with _reading(path):
        return np.asarray(_values(dataset(path), bands, box, masked=False))


@contextmanager
def _reading(path: str) -> Iterator[None]:
    """Say of GDAL's errors within what they mean."""
    rasterio = require_rasterio()
    try:
        with rasterio.Env(GDAL_CACHEMAX=CACHE_MB):
            yield
    except rasterio.errors.RasterioIOError as error:
        _forget(path)
        raise InputError(f"{path}: cannot be read; the file may be damaged ({str(error).splitlines()[0]})") from error


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
