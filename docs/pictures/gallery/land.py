"""Examples from above, all made up: heights under an orthophoto, satellite bands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import rasterio
from example import Example, Made, average, in_colours_of, rmse
from rasterio.transform import from_origin
from scipy.ndimage import gaussian_filter, shift
from scipy.spatial import cKDTree

_SIDE = 384
# Reflectance of what grows or lies on a field, in the bands red, green, blue, near infrared (10 m), red edge 2 and 3,
# and short-wave infrared (20 m): rounded values as they are usual.
_COVERS = {
    "crop": (0.04, 0.08, 0.04, 0.42, 0.30, 0.38, 0.20),
    "meadow": (0.06, 0.10, 0.05, 0.32, 0.24, 0.29, 0.24),
    "forest": (0.02, 0.04, 0.02, 0.25, 0.17, 0.22, 0.10),
    "soil": (0.16, 0.12, 0.09, 0.24, 0.20, 0.22, 0.34),
    "stubble": (0.20, 0.17, 0.12, 0.30, 0.25, 0.28, 0.40),
}
_WATER = (0.02, 0.03, 0.04, 0.01, 0.01, 0.01, 0.005)


def _smooth(rng: np.random.Generator, sigma: float) -> np.ndarray:
    """Return random hills (H, W) of standard deviation 1."""
    values = gaussian_filter(rng.normal(size=(_SIDE, _SIDE)), sigma, mode="wrap")
    hills: np.ndarray = (values - values.mean()) / values.std()
    return hills


def _write(path: Path, bands: np.ndarray, metres: float) -> None:
    """Write (H, W) or (H, W, C) as a GeoTIFF."""
    planes = np.moveaxis(np.atleast_3d(bands), 2, 0)
    count, height, width = planes.shape
    with rasterio.open(
        path, "w", driver="GTiff", dtype=planes.dtype, count=count, height=height, width=width,
        crs="EPSG:32632", transform=from_origin(600_000, 5_400_000, metres, metres),
    ) as raster:  # fmt: skip
        raster.write(planes)


def _heights(folder: Path) -> Made:
    rng = np.random.default_rng(6)
    surface, colours = _village(rng)
    photo = _photographed(surface, colours, rng)
    source = average(surface, (_SIDE // 8, _SIDE // 8))
    _write(folder / "orthophoto.tif", photo, 0.5)
    _write(folder / "heights.tif", source.astype(np.float32), 4.0)
    return Made(photo, source, surface, in_colours_of(surface))


def _village(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Return heights (H, W) in metres, and colours (H, W, 3) in 0..1 before light and shadow; half a metre a pixel."""
    rows, columns = np.mgrid[:_SIDE, :_SIDE]
    ground = 430 + 3 * _smooth(rng, 70)
    heights = ground.copy()
    lush = np.clip(0.5 + 0.25 * _smooth(rng, 12), 0, 1)[..., None]
    colours = lush * (0.32, 0.45, 0.2) + (1 - lush) * (0.5, 0.48, 0.3)
    road = np.abs(rows - 190 - 0.3 * (columns - 190) - 12 * np.sin(columns / 60)) < 9
    colours[road] = (0.45, 0.45, 0.46)
    for _ in range(26):
        top, left, turn = rng.uniform(20, _SIDE - 20), rng.uniform(20, _SIDE - 20), rng.uniform(0, np.pi)
        along = (rows - top) * np.cos(turn) + (columns - left) * np.sin(turn)
        across = (columns - left) * np.cos(turn) - (rows - top) * np.sin(turn)
        length, width = rng.uniform(14, 26), rng.uniform(9, 14)
        inside = (np.abs(along) < length) & (np.abs(across) < width)
        if road[inside].any() or (heights[inside] > ground[inside] + 1).any():
            continue
        eaves = ground[inside].mean() + rng.uniform(4, 8)
        heights[inside] = eaves + 0.3 * (width - np.abs(across[inside]))
        tint = np.array([(0.58, 0.28, 0.2), (0.42, 0.3, 0.26), (0.4, 0.41, 0.44)][rng.integers(3)])
        colours[inside] = tint * rng.uniform(0.85, 1.15)
    for _ in range(60):
        top, left, radius = rng.uniform(0, _SIDE), rng.uniform(0, _SIDE), rng.uniform(4, 11)
        away = np.hypot(rows - top, columns - left) / radius
        inside = (away < 1) & ~road & (heights < ground + 1)
        heights[inside] = ground[inside] + 0.7 * radius * np.sqrt(1 - away[inside] ** 2) + 1.5
        colours[inside] = np.array([0.16, 0.28, 0.12]) * rng.uniform(0.8, 1.3)
    return heights, colours


def _photographed(heights: np.ndarray, colours: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return the orthophoto (H, W, 3), in the light of an afternoon."""
    down, right = np.gradient(heights, 0.5)
    light = np.clip((0.45 * right + 0.35 * down + 0.8) / np.sqrt(1 + down**2 + right**2), 0, None)
    shadow = np.zeros(heights.shape, bool)
    for step in range(1, 40):  # towards the sun, which stands 0.8 m higher a metre
        shadow |= shift(heights, (step * 0.6, step * 0.8), order=0, mode="nearest") > heights + 0.5 * 0.8 * step
    lit = colours * (0.45 + 0.7 * light * ~shadow)[..., None]
    lit = gaussian_filter(lit, (0.6, 0.6, 0)) + rng.normal(0, 0.012, lit.shape)
    photo: np.ndarray = np.rint(255 * np.clip(lit, 0, 1) ** 0.8).astype(np.uint8)
    return photo


def _bands(folder: Path) -> Made:
    rng = np.random.default_rng(8)
    fine = 2 * _SIDE  # mixed pixels: the fields are drawn at 5 m
    rows, columns = np.mgrid[:fine, :fine]
    fields = rng.uniform(0, fine, (90, 2))
    wavy = 6 * np.kron(_smooth(rng, 12), np.ones((2, 2)))
    field = cKDTree(fields).query(np.stack([rows + wavy, columns - wavy], -1))[1]
    covers = np.array(list(_COVERS.values()))
    spectra = covers[rng.integers(0, len(covers), len(fields))] * rng.uniform(0.8, 1.2, (len(fields), 1))
    bare = np.clip(0.15 * np.kron(_smooth(rng, 5), np.ones((2, 2))) + 0.2, 0, 1)[..., None]
    reflectance = (1 - bare) * spectra[field] + bare * np.array(_COVERS["soil"])
    river = np.abs(columns - 380 - 110 * np.sin(rows / 170) - 0.2 * rows) < 9 + 4 * np.sin(rows / 90)
    reflectance[river] = _WATER
    road = np.abs(rows - 0.62 * columns - 150) < 2.5
    reflectance[road] = (0.15, 0.14, 0.13, 0.18, 0.17, 0.17, 0.22)
    ten = average(reflectance, (_SIDE, _SIDE)) + rng.normal(0, 0.002, (_SIDE, _SIDE, 7))
    truth = 10_000 * average(reflectance, (_SIDE, _SIDE))[..., 4:]
    source = average(truth, (_SIDE // 2, _SIDE // 2))
    guide = np.rint(10_000 * np.clip(ten[..., :4], 0, 1)).astype(np.uint16)
    _write(folder / "bands10m.tif", guide, 10.0)
    _write(folder / "bands20m.tif", np.rint(source).astype(np.uint16), 20.0)
    low, high = np.percentile(truth, (1, 99), axis=(0, 1))

    def show(bands: np.ndarray) -> np.ndarray:
        picture: np.ndarray = np.rint(255 * np.clip((bands[..., ::-1] - low[::-1]) / (high - low)[::-1], 0, 1))
        return picture.astype(np.uint8)

    return Made(guide, source, truth, show)


EXAMPLES = (
    Example(
        name="heights",
        title="Heights under an orthophoto",
        text="A made-up village, half a metre a pixel, and its heights averaged over 4 metres: a factor of 8. Houses, "
        "trees and terrain are drawn from random numbers, and light and shadow are computed.",
        command="graphsr raster orthophoto.tif heights.tif -o fine.tif --model colour",
        make=_heights,
        output="fine.tif",
        score=rmse,
        words="RMSE, m",
        digits=2,
    ),
    Example(
        name="bands",
        title="Sentinel-2 bands",
        text="Made-up fields, a river and a road, in four bands of 10 metres (the guide) and three of 20 metres (red "
        "edge and short-wave infrared). Reflectances are typical ones with random variations, in units of 1/10,000.",
        command="graphsr raster bands10m.tif bands20m.tif -o fine.tif --model colour",
        make=_bands,
        output="fine.tif",
        score=rmse,
        words="RMSE, 1/10,000",
    ),
)
