"""xarray DataArrays: where they lie is in their coordinates, and the target gets those of the guide."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from graphsr.errors import InputError
from graphsr.raster.grid import Grid

_UNEVEN = 1e-3  # of a pixel
_MISSING = ("_FillValue", "missing_value", "nodata")


@dataclass(frozen=True)
class Labelled:
    """Two DataArrays as plain arrays (bands, y, x), and the way back."""

    guide: Any
    source: Any
    grid: Grid
    fine: Any
    coarse: Any

    def wrap(self, target: Any) -> Any:
        """The target (K, H, W) with the guide's coordinates y and x, and the rest as in the source."""
        down, right = self.fine.dims[-2:]
        bands = self.coarse.dims[:-2]
        coords = {name: value for name, value in self.fine.coords.items() if set(value.dims) <= {down, right}}
        own = {name: value for name, value in self.coarse.coords.items() if value.dims == bands and bands}
        attrs = {key: value for key, value in self.coarse.attrs.items() if key not in _MISSING}
        data = target if bands else target[0]
        kind = type(self.coarse)
        return kind(data, dims=(*bands, down, right), coords={**coords, **own}, name=self.coarse.name, attrs=attrs)


def is_labelled(values: Any) -> bool:
    """Whether it is a DataArray; xarray is not imported for the question."""
    xarray = sys.modules.get("xarray")
    return xarray is not None and isinstance(values, xarray.DataArray)


def unwrap(guide: Any, source: Any) -> Labelled:
    """The plain arrays, and where the source lies under the guide by their coordinates."""
    _check_crs(guide, source)
    fine, coarse = _ordered("guide", guide), _ordered("source", source)
    rows, columns = ((_place("guide", fine, n), _place("source", coarse, n)) for n in (-2, -1))
    origin, step = [], []
    for (begin, pixel), (source_begin, source_pixel) in (rows, columns):
        origin.append((source_begin - begin) / pixel)
        step.append(source_pixel / pixel)
    if min(step) < 0:
        raise InputError("source: a coordinate runs the other way than the guide's; sort it: source.sortby(...)")
    sizes = fine.shape[-2:], coarse.shape[-2:]
    grid = Grid.placed(*sizes, (origin[0], origin[1]), (step[0], step[1]))
    return Labelled(_plain(fine), _plain(coarse), grid, fine, coarse)


def _ordered(name: str, values: Any) -> Any:
    """With the dimensions (bands, y, x) or (y, x)."""
    if values.ndim not in (2, 3):
        raise InputError(f"{name}: must have the dimensions y and x, and perhaps one of bands before them")
    for down, right in (("y", "x"), ("lat", "lon"), ("latitude", "longitude")):
        if down in values.dims and right in values.dims:
            return values.transpose(..., down, right)
    return values


def _place(name: str, values: Any, n: int) -> tuple[float, float]:
    """Where the first pixel begins along a dimension, and what one measures."""
    dim = values.dims[n]
    if dim not in values.coords or values.sizes[dim] < 2:
        raise InputError(f"{name}: needs coordinates along {dim!r}, at least two, to say where it lies")
    at = np.asarray(values.coords[dim].values, np.float64)
    pixel = float(at[-1] - at[0]) / (at.size - 1)
    if pixel == 0 or np.abs(at - (at[0] + pixel * np.arange(at.size))).max() > _UNEVEN * abs(pixel) * at.size**0.5:
        raise InputError(f"{name}: its coordinates along {dim!r} are not evenly spaced")
    return float(at[0]) - pixel / 2, pixel


def _plain(values: Any) -> Any:
    """A Dask array (bands, y, x), NaN for the value that the attributes declare as missing."""
    from graphsr.raster.lazy import bands_first

    array = bands_first(str(values.name or "array"), values.data)
    marker = next((values.attrs[key] for key in _MISSING if key in values.attrs), None)
    if marker is None or np.isnan(marker):
        return array
    import dask.array as da

    return da.where(array == marker, np.float32(np.nan), array.astype(np.float32))


def _check_crs(guide: Any, source: Any) -> None:
    there = [_crs(values) for values in (guide, source)]
    if None not in there and there[0] != there[1] and not _same(*there):
        raise InputError(
            "source: is in another coordinate reference system than the guide; bring it there first: "
            "source.rio.reproject(guide.rio.crs)"
        )


def _crs(values: Any) -> Any:
    """What rioxarray keeps of the coordinate reference system."""
    return values.coords["spatial_ref"].attrs.get("crs_wkt") if "spatial_ref" in values.coords else None


def _same(one: Any, other: Any) -> bool:
    try:
        from rasterio.crs import CRS
    except ImportError:
        return False
    return bool(CRS.from_wkt(one) == CRS.from_wkt(other))
