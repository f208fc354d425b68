"""xarray DataArrays: their coordinates say where they lie, and the target gets those of the guide."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphsr.errors import InputError, missing_extra
from graphsr.raster.grid import Grid

_UNEVEN = 1e-3  # of a pixel
_MISSING = ("_FillValue", "missing_value", "nodata")


@dataclass(frozen=True)
class UnwrappedPair:
    """Two DataArrays, or plain arrays, as Dask arrays (bands, y, x), and the way back.

    Attributes:
        guide: Dask array (C, H, W).
        source: Dask array (K, h, w).
        grid: Where they lie.
        guide_array: The guide as it was given.
        source_array: The source as it was given.
    """

    guide: Any
    source: Any
    grid: Grid
    guide_array: Any
    source_array: Any

    def wrap(self, target: Any) -> Any:
        """Return the target (K, H, W) with the guide's coordinates y and x, and all else as in the source."""
        if not is_data_array(self.source_array):
            return target if np.ndim(self.source_array) == 3 else target[0]
        fine, coarse = self.guide_array, self.source_array
        down, right = fine.dims[-2:]
        bands = coarse.dims[:-2]
        coords = {name: value for name, value in fine.coords.items() if set(value.dims) <= {down, right}}
        own = {name: value for name, value in coarse.coords.items() if value.dims == bands and bands}
        attrs = {key: value for key, value in coarse.attrs.items() if key not in _MISSING}
        data = target if bands else target[0]
        kind = type(coarse)
        return kind(data, dims=(*bands, down, right), coords={**coords, **own}, name=coarse.name, attrs=attrs)


def is_data_array(values: Any) -> bool:
    """Return whether it is a DataArray, without importing xarray."""
    xarray = sys.modules.get("xarray")
    return xarray is not None and isinstance(values, xarray.DataArray)


def unwrap(guide: Any, source: Any) -> UnwrappedPair:
    """Return the plain arrays of two DataArrays, and by their coordinates where the source lies under the guide."""
    _check_crs(guide, source)
    fine, coarse = _ordered("guide", guide), _ordered("source", source)
    rows, columns = ((_position("guide", fine, n), _position("source", coarse, n)) for n in (-2, -1))
    origin, step = [], []
    for (begin, pixel), (source_begin, source_pixel) in (rows, columns):
        origin.append((source_begin - begin) / pixel)
        step.append(source_pixel / pixel)
    if min(step) < 0:
        raise InputError("source: a coordinate runs the other way than the guide's; sort it: source.sortby(...)")
    sizes = fine.shape[-2:], coarse.shape[-2:]
    grid = Grid.placed(*sizes, (origin[0], origin[1]), (step[0], step[1]))
    return UnwrappedPair(_plain(fine), _plain(coarse), grid, fine, coarse)


def bands_first(name: str, values: Any) -> Any:
    """Return an array (H, W) or (bands, H, W) as a Dask array (bands, H, W); `name` is for messages."""
    try:
        import dask.array as da
    except ImportError as error:
        raise missing_extra("raster.upsample needs Dask", "cluster") from error
    array: Any = da.asarray(values)  # type: ignore[no-untyped-call]
    if array.dtype.kind not in "buif" or array.ndim not in (2, 3) or 0 in array.shape:
        raise InputError(f"{name}: must hold real numbers as (H, W) or (bands, H, W), not {array.dtype} {array.shape}")
    return array[None] if array.ndim == 2 else array


def _ordered(name: str, values: Any) -> Any:
    """Return it with its dimensions in the order (bands, y, x) or (y, x)."""
    if values.ndim not in (2, 3):
        raise InputError(f"{name}: must have the dimensions y and x, and perhaps one of bands before them")
    for down, right in (("y", "x"), ("lat", "lon"), ("latitude", "longitude")):
        if down in values.dims and right in values.dims:
            return values.transpose(..., down, right)
    return values


def _position(name: str, values: Any, n: int) -> tuple[float, float]:
    """Return where the first pixel begins along a dimension, and what one measures."""
    dim = values.dims[n]
    if dim not in values.coords or values.sizes[dim] < 2:
        raise InputError(f"{name}: needs coordinates along {dim!r}, at least two, to say where it lies")
    at = np.asarray(values.coords[dim].values, np.float64)
    pixel = float(at[-1] - at[0]) / (at.size - 1)
    if pixel == 0 or np.abs(at - (at[0] + pixel * np.arange(at.size))).max() > _UNEVEN * abs(pixel) * at.size**0.5:
        raise InputError(f"{name}: its coordinates along {dim!r} are not evenly spaced")
    return float(at[0]) - pixel / 2, pixel


def _plain(values: Any) -> Any:
    """Return a Dask array (bands, y, x), NaN for the value that the attributes declare as missing."""
    array = bands_first(str(values.name or "array"), values.data)
    marker = next((values.attrs[key] for key in _MISSING if key in values.attrs), None)
    if marker is None or np.isnan(marker):
        return array
    import dask.array as da

    return da.where(array == marker, np.nan, array.astype(np.result_type(array.dtype, np.float32)))


def _check_crs(guide: Any, source: Any) -> None:
    one, other = _crs(guide), _crs(source)
    if None not in (one, other) and one != other and not _same(one, other):
        raise InputError(
            "source: is in another coordinate reference system than the guide; bring it there first: "
            "source.rio.reproject(guide.rio.crs)"
        )


def _crs(values: Any) -> Any:
    """Return the coordinate reference system as rioxarray stores it."""
    return values.coords["spatial_ref"].attrs.get("crs_wkt") if "spatial_ref" in values.coords else None


def _same(one: Any, other: Any) -> bool:
    try:
        from rasterio.crs import CRS
    except ImportError:
        return False
    return bool(CRS.from_wkt(one) == CRS.from_wkt(other))
