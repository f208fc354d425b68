"""The tile store: the folder beside the output that holds finished tiles and the plan they belong to.

A tile is written whole or not at all, and has a checksum in its name: one that is there and agrees with it is finished.
The output gets its name at the very end. While a run goes on it holds a lock, so that no other joins in.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import zlib
from functools import lru_cache
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from graphsr.errors import InputError
from graphsr.files.atomic import whole_file
from graphsr.files.conversion import convert_uncounted
from graphsr.raster.files import dataset, fingerprint, require_rasterio, window_of
from graphsr.raster.grid import Box
from graphsr.raster.lock import locked
from graphsr.raster.plan import Plan, first_difference
from graphsr.raster.statistics import Statistics
from graphsr.raster.tile import FinishedTile

_PLAN, _STATISTICS = "plan.json", "statistics.npz"
_STRIP = 256  # rows of a tile that are compressed together
_SWITCHED_OFF = "SWITCHED_OFF"  # the tag of a tile that says how many source pixels were
_TILE = re.compile(r"tile_(\d{6,})_([0-9a-f]{8})\.tif")


class TileStore:
    """The folder of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def beside(cls, output: Path) -> TileStore:
        """Return that of an output; if it is a link, beside the file it leads to, which may be on another disk."""
        real = Path(os.path.realpath(output))
        return cls(real.with_name(real.name + ".tiles"))

    def create(self, plan: Plan) -> None:
        """Create the folder, which must not exist yet, and write the plan."""
        try:
            self.folder.mkdir()
        except FileExistsError:
            with locked(self.folder):  # or the run goes on
                raise InputError(
                    f"{self.folder}: holds the tiles of a run that did not finish; continue it with --resume, or "
                    "remove it"
                ) from None
        except OSError as error:
            raise InputError(f"{self.folder}: cannot be created ({error.strerror})") from error
        try:
            self._write(_PLAN, json.dumps(plan.description(), indent=1).encode())
        except InputError:
            self.remove()  # a folder without a plan would be of no use to anybody
            raise

    def check_same(self, plan: Plan) -> None:
        """Raise InputError if the run of this folder has another plan."""
        difference = first_difference(self._description(), json.loads(json.dumps(plan.description())))
        if difference is not None:
            raise InputError(
                f"{self.folder}: was started with another {difference}; run it as it was started, or remove the "
                "folder and start anew"
            )

    def read_plan(self) -> Plan:
        """Read the plan of the run."""
        return Plan.of_description(self._description())

    def write_statistics(self, statistics: Statistics) -> None:
        """Write the statistics of the raster."""
        buffer = BytesIO()
        values = {**vars(statistics), "blocks_at": np.array(list(vars(statistics.blocks_at).values()))}
        np.savez(buffer, **values)
        self._write(_STATISTICS, buffer.getvalue())

    def read_statistics(self) -> Statistics | None:
        """Read the statistics of the raster; None if the run did not get so far, or they are damaged."""
        try:
            with np.load(self.folder / _STATISTICS) as stored:
                values: dict[str, Any] = dict(stored)
        except Exception:  # damaged archives raise nearly anything
            return None
        values["blocks_at"] = Box(*(int(n) for n in values["blocks_at"]))
        values["guide_std"], values["complete"] = float(values["guide_std"]), bool(values["complete"])
        return Statistics(**values)

    def finished(self) -> dict[int, Path]:
        """Return the files of the tiles that are there, by number."""
        named = ((_TILE.fullmatch(path.name), path) for path in sorted(self.folder.iterdir()))
        return {int(name[1]): path for name, path in named if name is not None}

    def unfinished(self, plan: Plan) -> list[int]:
        """Return the numbers of the tiles that are still to be computed; damaged ones are removed, to be done again."""
        there = self.finished()
        for number, path in list(there.items()):
            if not path.name.endswith(f"_{zlib.crc32(path.read_bytes()):08x}.tif"):
                path.unlink()
                del there[number]
        return [tile.number for tile in plan.tiles if tile.number not in there]

    def write_tile(self, number: int, tile: FinishedTile, plan: Plan) -> None:
        """Write a tile, its pixels in the type of the output."""
        rasterio = require_rasterio()
        values = tile.values
        if plan.nodata is None and np.isnan(values).any():
            raise InputError(
                f"{plan.pair.guide_path}: holds NaN, and {plan.dtype} has no value for the pixels of the result that "
                "get none there; choose one by --nodata VALUE"
            )
        stored = as_stored(values, np.dtype(plan.dtype), plan.nodata)
        bands, height, width = stored.shape
        guide = dataset(plan.pair.guide_path)
        place = rasterio.windows.transform(window_of(plan.tiles[number].core), guide.transform)
        profile = {"count": bands, "height": height, "width": width, "dtype": plan.dtype, "transform": place}
        profile |= {"interleave": "band", "blockysize": min(_STRIP, height), **_compression()}
        # By way of memory, because GDAL may close a file that a full disk has cut short without an error.
        with rasterio.MemoryFile() as memory:
            with memory.open(driver="GTiff", **profile) as file:
                file.write(stored)
                file.update_tags(**{_SWITCHED_OFF: tile.switched_off})
            content = memory.read()
            self._write(f"tile_{number:06d}_{zlib.crc32(content):08x}.tif", content)

    def count_switched_off(self) -> int:
        """Return how many source pixels were taken for outliers, in all tiles that are there."""
        rasterio = require_rasterio()
        total = 0
        for path in self.finished().values():
            with rasterio.open(path) as file:
                total += int(file.tags().get(_SWITCHED_OFF, 0))
        return total

    def remove(self) -> None:
        """Remove the folder and all that is in it."""
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self, name: str, content: bytes) -> None:
        with whole_file(self.folder / name) as path:
            path.write_bytes(content)

    def _description(self) -> dict[str, Any]:
        try:
            content = json.loads((self.folder / _PLAN).read_text())
        except (OSError, ValueError, RecursionError) as error:
            raise InputError(
                f"{self.folder}: holds no run to continue; remove it and start without --resume"
            ) from error
        return dict(content)


def read_run(folder: str) -> tuple[Plan, Statistics]:
    """Read plan and statistics of a run, once in each process."""
    return _read_run(folder, tuple(fingerprint(str(Path(folder) / _STATISTICS))))


@lru_cache(maxsize=4)
def _read_run(folder: str, state: tuple[Any, ...]) -> tuple[Plan, Statistics]:
    store = TileStore(Path(folder))
    statistics = store.read_statistics()
    if statistics is None:
        raise InputError(f"{folder}: holds no {_STATISTICS}")
    return store.read_plan(), statistics


@lru_cache
def _compression() -> dict[str, Any]:
    """Return how tiles are compressed: by Zstandard, in half the time of deflate, where GDAL was built with it."""
    rasterio = require_rasterio()
    fast = {"compress": "zstd", "zstd_level": 1}
    pixel = {"count": 1, "height": 1, "width": 1, "dtype": "uint8", "transform": rasterio.Affine.translation(1, 1)}
    try:
        with rasterio.MemoryFile() as memory:
            memory.open(driver="GTiff", **pixel, **fast).close()
    except rasterio.errors.RasterioError:
        return {"compress": "deflate", "zlevel": 1}
    return fast


def as_stored(values: np.ndarray, dtype: np.dtype[Any], nodata: float | None) -> np.ndarray:
    """Convert values to the type of the output, NaN to nodata; no value becomes nodata by rounding."""
    stored = convert_uncounted(values, dtype, nodata)
    if nodata is not None and not np.isnan(nodata):
        mistaken = stored == np.asarray(nodata).astype(dtype)
        if mistaken.any():
            stored[mistaken & ~np.isnan(values)] = _beside(nodata, dtype)
    return stored


def _beside(nodata: float, dtype: np.dtype[Any]) -> Any:
    """Return a value next to nodata that is not nodata."""
    if dtype.kind == "f":
        return dtype.type(nodata * (1 - 1e-6) if nodata else 1e-30)  # further than GDAL takes for the same
    return dtype.type(nodata + 1 if nodata < np.iinfo(dtype).max else nodata - 1)
