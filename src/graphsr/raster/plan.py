"""The plan of a run: all that the pixels of its tiles depend on."""

from __future__ import annotations

import os
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from graphsr import __version__
from graphsr.errors import InputError
from graphsr.models.base import Model
from graphsr.models.registry import names as model_names
from graphsr.raster.files import common_type, dataset, fingerprint
from graphsr.raster.pair import RasterPair
from graphsr.raster.source_samples import RasterErrors
from graphsr.raster.tile import Settings, locality_of
from graphsr.raster.tiling import Tile, cut_tiles

_STORABLE = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32", "float64")
# What messages call the entries of a description.
_WORDS = {
    "version": "version of graphsr",
    "files": "guide or source (size or time of the file differs)",
    "weights": "model (its weights differ)",
    "pair": "pair of files or bands",
    "settings": "choice of --confidence, --noise, --robust, --exact, --footprint, --fill or --uncertainty",
    "nodata": "--nodata",
    "side": "--tile",
    "halo": "--halo",
}


@dataclass(frozen=True)
class Plan:
    """All that a tile's pixels depend on beside the two files, and how they are stored.

    Attributes:
        pair: The two files.
        model: Name or path of the model.
        weights: Its digest, so that no other model of that name continues a run.
        settings: What the user chose.
        side: About how many pixels a tile has each way.
        halo: Guide pixels read around a tile, down and right.
        multiple: Windows begin at multiples of so many pixels.
        dtype: The type of the output.
        nodata: The value of pixels without one; None: there is none.
    """

    pair: RasterPair
    model: str
    weights: str
    settings: Settings
    side: int
    halo: tuple[int, int]
    multiple: int
    dtype: str
    nodata: float | None

    @cached_property
    def tiles(self) -> list[Tile]:
        """Return all tiles, row by row."""
        return cut_tiles(self.pair.grid, self.side, self.halo, self.multiple)

    def description(self) -> dict[str, Any]:
        """Return the plan as JSON can hold it, with the version and the state of the files."""
        files = {path: fingerprint(path) for path in self.pair.paths}
        nodata = None if self.nodata is None else str(self.nodata)
        return {"version": __version__, "files": files, **asdict(self), "nodata": nodata}

    @classmethod
    def of_description(cls, content: dict[str, Any]) -> Plan:
        """Return the plan that a description, read from JSON, is of."""
        own = {name: _as_tuple(content[name]) for name in cls.__dataclass_fields__}
        own["pair"] = RasterPair(**{name: _as_tuple(value) for name, value in content["pair"].items()})
        settings = dict(content["settings"])
        errors = {name: _as_tuple(value) for name, value in settings.pop("errors").items()}
        own["settings"] = Settings(**settings, errors=RasterErrors(**errors))
        own["nodata"] = None if content["nodata"] is None else float(content["nodata"])
        return cls(**own)


def make_plan(
    pair: RasterPair,
    name: str | os.PathLike[str],
    model: Model,
    settings: Settings,
    nodata: float | None = None,
    side: int | None = None,
    halo: int | None = None,
) -> Plan:
    """Make the plan of a run, and choose what the user left open.

    Args:
        pair: The two files.
        name: Name or path of the model.
        model: What `name` stands for.
        settings: What the user chose.
        nodata: The value of pixels without one; default that of the source, or NaN in floats.
        side: Side of a tile in guide pixels; default by model and factor.
        halo: Guide pixels read around a tile; default by model and factor.

    Raises:
        InputError: If the model cannot run on tiles, or a number is not valid.
    """
    locality = locality_of(model)
    side, margin = settings.tile_sizes(pair.grid, model, len(pair.source_bands), side, halo)
    dtype = common_type(dataset(pair.source_path), pair.source_bands)
    if settings.uncertainty:  # fractions of the source's steps
        dtype, nodata = np.dtype(np.float32), np.nan
    if dtype.name not in _STORABLE:
        raise InputError(f"{pair.source_path}: holds {dtype}; one of {', '.join(_STORABLE)} is needed")
    name = os.fspath(name)
    if name not in model_names() and os.path.exists(name):  # as `load` looks for it
        name = os.path.abspath(name)
    return Plan(
        pair=pair,
        model=name,
        weights=model.digest(),
        settings=settings,
        side=side,
        halo=margin,
        multiple=locality.multiple,
        dtype=dtype.name,
        nodata=_nodata(pair, dtype, nodata),
    )


def first_difference(one: dict[str, Any], other: dict[str, Any]) -> str | None:
    """Return in words what differs between two descriptions; None if nothing does."""
    # A value for nodata also changes the pair, but is what the user can change.
    names = sorted(other, key=lambda name: name != "nodata")
    return next((_WORDS.get(name, name) for name in names if one.get(name) != other[name]), None)


def _nodata(pair: RasterPair, dtype: np.dtype[Any], wanted: float | None) -> float | None:
    """Return the value of pixels without one: as asked for, as in the source, or NaN in floats."""
    value = dataset(pair.source_path).nodatavals[pair.source_bands[0] - 1] if wanted is None else wanted
    if dtype.kind == "f":
        value = float("nan") if value is None else float(value)
        with np.errstate(over="ignore"):
            stored = float(dtype.type(value))
        if np.isinf(stored) and np.isfinite(value):
            raise InputError(f"nodata {value:g} does not fit {dtype}, the source's type; choose another by --nodata")
        return stored
    limits = np.iinfo(dtype)
    fits = value is not None and float(value).is_integer() and limits.min <= value <= limits.max
    if wanted is not None and not fits:
        raise InputError(f"nodata {wanted:g} does not fit {dtype} ({limits.min} to {limits.max}), the source's type")
    return float(value) if fits and value is not None else None


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
