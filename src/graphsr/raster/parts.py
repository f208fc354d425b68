"""The folder beside the output that holds what is finished: tiles, and the plan they belong to.

A tile is written whole or not at all, so what is there is finished. The output gets its name at the very end.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from graphsr import __version__
from graphsr.errors import InputError
from graphsr.files.atomic import whole_file
from graphsr.files.conversion import convert
from graphsr.raster.files import RasterPair, dataset, fingerprint, require_rasterio, window_of
from graphsr.raster.frame import Frame
from graphsr.raster.grid import Box
from graphsr.raster.tile_solve import Settings
from graphsr.raster.tiles import Tile, cut

_PLAN, _FRAME = "plan.json", "frame.npz"


@dataclass(frozen=True)
class Plan:
    """All that a tile's pixels depend on beside the two files, and how they are stored."""

    pair: RasterPair
    model: str
    weights: str  # what the model is made of, so that no other of the same name goes on with its tiles
    settings: Settings
    side: int
    around: tuple[int, int]
    multiple: int
    dtype: str
    nodata: float | None

    @cached_property
    def tiles(self) -> list[Tile]:
        return cut(self.pair.grid, self.side, self.around, self.multiple)


class Parts:
    """The folder of one run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @classmethod
    def beside(cls, output: Path) -> Parts:
        """That of an output; if it is a link, beside the file it leads to, which may be on another disk."""
        real = Path(os.path.realpath(output))
        return cls(real.with_name(real.name + ".parts"))

    def begin(self, plan: Plan) -> None:
        """Make the folder; it must not be there yet."""
        try:
            self.folder.mkdir()
        except FileExistsError:
            raise InputError(
                f"{self.folder}: holds the tiles of a run that did not finish; go on with it by --resume, or remove it"
            ) from None
        except OSError as error:
            raise InputError(f"{self.folder}: cannot be made ({error.strerror})") from error
        try:
            self._write(_PLAN, json.dumps(_described(plan), indent=1).encode())
        except InputError:
            self.remove()  # a folder without a plan would be of no use to anybody
            raise

    def check_same(self, plan: Plan) -> None:
        """Refuses to go on with a folder whose run was another one."""
        then, now = self._described(), json.loads(json.dumps(_described(plan)))
        different = [name for name in sorted(now, key=lambda name: name != "nodata") if then.get(name) != now[name]]
        if different:
            raise InputError(
                f"{self.folder}: was begun with another {_in_words(different[0])}; run it as it was begun, or remove "
                "the folder and begin anew"
            )

    def plan(self) -> Plan:
        content = self._described()
        return Plan(
            pair=RasterPair(**{key: _tuple(value) for key, value in content["pair"].items()}),
            model=content["model"],
            weights=content["weights"],
            settings=Settings(**content["settings"]),
            side=content["side"],
            around=tuple(content["around"]),
            multiple=content["multiple"],
            dtype=content["dtype"],
            nodata=None if content["nodata"] is None else float(content["nodata"]),
        )

    def keep_frame(self, frame: Frame) -> None:
        from io import BytesIO

        buffer = BytesIO()
        values = {**vars(frame), "blocks_at": np.array(list(vars(frame.blocks_at).values()))}
        np.savez(buffer, **values)
        self._write(_FRAME, buffer.getvalue())

    def frame(self) -> Frame | None:
        """That of the run, if it got so far."""
        path = self.folder / _FRAME
        if not path.exists():
            return None
        with np.load(path) as stored:
            values = dict(stored)
        values["blocks_at"] = Box(*(int(n) for n in values["blocks_at"]))
        values["guide_std"], values["whole"] = float(values["guide_std"]), bool(values["whole"])
        return Frame(**values)

    def tile(self, number: int) -> Path:
        return self.folder / f"tile_{number:06d}.tif"

    def missing(self, plan: Plan) -> list[int]:
        """The tiles that are still to be done."""
        there = {path.name for path in self.folder.iterdir()}
        return [tile.number for tile in plan.tiles if self.tile(tile.number).name not in there]

    def keep_tile(self, number: int, values: np.ndarray, plan: Plan) -> None:
        """The pixels of a tile, (K, h, w) with NaN = none, in the type of the output."""
        rasterio = require_rasterio()
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
        # By way of memory, because GDAL may close a file that a full disk has cut short without a word.
        with rasterio.MemoryFile() as memory:
            with memory.open(driver="GTiff", compress="deflate", zlevel=1, interleave="band", **profile) as part:
                part.write(stored)
            self._write(self.tile(number).name, memory.read())

    def remove(self) -> None:
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self, name: str, content: bytes) -> None:
        with whole_file(self.folder / name) as path:
            path.write_bytes(content)

    def _described(self) -> dict[str, Any]:
        try:
            content = json.loads((self.folder / _PLAN).read_text())
        except (OSError, ValueError) as error:
            raise InputError(
                f"{self.folder}: holds no run to go on with; remove it and start without --resume"
            ) from error
        return dict(content)


@lru_cache(maxsize=4)
def _plan_of(folder: str, state: tuple[Any, ...]) -> tuple[Plan, Frame]:
    parts = Parts(Path(folder))
    frame = parts.frame()
    if frame is None:
        raise InputError(f"{folder}: holds no {_FRAME}")
    return parts.plan(), frame


def plan_of(folder: str) -> tuple[Plan, Frame]:
    """Plan and frame of a run, read once by each process."""
    return _plan_of(folder, tuple(fingerprint(str(Path(folder) / _FRAME))))


def as_stored(values: np.ndarray, dtype: np.dtype[Any], nodata: float | None) -> np.ndarray:
    """Values in the type of the output, NaN as nodata; a value that would become nodata by rounding does not."""
    holes = np.isnan(values)
    stored = convert(values, dtype, nodata).array.copy()
    if nodata is not None and not np.isnan(nodata):
        mistaken = ~holes & (stored == np.asarray(nodata).astype(dtype))
        if mistaken.any():
            stored[mistaken] = _beside(nodata, dtype)
    return stored


def _beside(nodata: float, dtype: np.dtype[Any]) -> Any:
    """The value next to nodata that is not nodata."""
    if dtype.kind == "f":
        return dtype.type(nodata * (1 - 1e-6) if nodata else 1e-30)  # further than GDAL takes for the same
    return dtype.type(nodata + 1 if nodata < np.iinfo(dtype).max else nodata - 1)


def _described(plan: Plan) -> dict[str, Any]:
    files = {path: fingerprint(path) for path in (plan.pair.guide_path, plan.pair.source_path)}
    nodata = None if plan.nodata is None else str(plan.nodata)
    return {"version": __version__, "files": files, **asdict(plan), "nodata": nodata}


def _in_words(name: str) -> str:
    words = {
        "version": "version of graphsr",
        "files": "guide or source (size or time of the file differs)",
        "weights": "model (its weights differ)",
        "pair": "pair of files or bands",
        "settings": "choice of --exact or --fill",
        "nodata": "--nodata",
        "side": "--tile",
        "around": "--halo",
    }
    return words.get(name, name)


def _tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def tile_files(plan: Plan, parts: Parts) -> Iterator[tuple[Tile, str]]:
    """Every tile with the name of its file."""
    return ((tile, parts.tile(tile.number).name) for tile in plan.tiles)
