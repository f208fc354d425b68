"""Small rasters with edges in them, made for the tests."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import rasterio
from rasterio.transform import from_origin

from graphsr.raster.grid import Grid

UTM = "EPSG:32633"


def picture(size: tuple[int, int], bands: int = 3, seed: int = 0) -> np.ndarray:
    """(bands, H, W) 0..255: fields with sharp borders, and some noise."""
    generator = np.random.default_rng(seed)
    rows, columns = np.mgrid[: size[0], : size[1]]
    fields = np.zeros(size, int)
    for _ in range(12):
        angle, place = generator.uniform(0, np.pi), generator.uniform(0, 1)
        along = (rows * np.sin(angle) + columns * np.cos(angle)) / max(size)
        fields = 2 * fields + (along > place)
    _, labels = np.unique(fields, return_inverse=True)
    colours = generator.uniform(30, 220, (labels.max() + 1, bands))
    shaded = colours[labels.reshape(size)] + generator.normal(0, 3, (*size, bands))
    return np.moveaxis(np.clip(shaded, 0, 255), 2, 0).astype(np.float32)


def relief(size: tuple[int, int], bands: int = 1, seed: int = 0) -> np.ndarray:
    """(bands, h, w) about 100 to 900: a coarse map, smooth here and stepped there."""
    generator = np.random.default_rng(seed + 100)
    rows, columns = np.mgrid[: size[0], : size[1]] / max(size)
    waves = [
        np.sin(generator.uniform(2, 9) * rows + generator.uniform(2, 9) * columns + generator.uniform(0, 6))
        + (rows + generator.uniform(-1, 1) * columns > generator.uniform(0, 1))
        for _ in range(bands)
    ]
    return (400 + 200 * np.stack(waves)).astype(np.float32)


def write(path: Path, values: np.ndarray, transform: Any, *, crs: str | None = UTM, **profile: Any) -> Path:
    bands, height, width = values.shape
    with rasterio.open(
        path, "w", driver="GTiff", count=bands, height=height, width=width, dtype=values.dtype, crs=crs,
        transform=transform, **profile,
    ) as raster:  # fmt: skip
        raster.write(values)
    return path


def pair_of_files(
    folder: Path,
    *,
    size: tuple[int, int] = (120, 150),
    source_size: tuple[int, int] = (15, 20),
    metres: float = 80.0,
    shift: tuple[float, float] = (0.0, 0.0),
    dtype: str = "uint16",
    bands: int = 1,
    guide_type: str = "uint8",
    crs: str | None = UTM,
    **profile: Any,
) -> tuple[Path, Path]:
    """A guide of 10 m pixels, and a source of `metres` that begins `shift` metres south and east of it."""
    guide = write(folder / "guide.tif", picture(size).astype(guide_type), from_origin(5e5, 4e6, 10, 10), crs=crs)
    place = from_origin(5e5 + shift[1], 4e6 - shift[0], metres, metres)
    values = relief(source_size, bands)
    return guide, write(folder / "source.tif", values.astype(dtype), place, crs=crs, **profile)


def averages(target: np.ndarray, grid: Grid) -> np.ndarray:
    """A target (K, H, W) averaged over the source pixels under it; those cut by the border, over what is visible."""
    import torch

    from graphsr.raster.grid import Box

    sampling = grid.sampling(Box(0, 0, *grid.size), grid.source_extent)
    return sampling(torch.from_numpy(target.astype(np.float64))).numpy()
