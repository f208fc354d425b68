"""Where the edges of a source run, to a fraction of its pixels.

A source pixel that an edge crosses has a value between those on the two sides, and how far between says where in the
pixel the edge runs. So the edges of a source are points with normals, known more precisely than its resolution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

# Points are taken at these distances along the edge from the middle of a source pixel, in source pixels.
_ALONG = np.array([-0.4, -0.2, 0.0, 0.2, 0.4])
# Steps above this many standard deviations of the source weigh alike.
_LARGEST_STEP = 1.0
# Weaker points are noise.
_SMALLEST_WEIGHT = 0.05
# Fewer points tell nothing.
FEWEST_POINTS = 20
# More points add time, but no precision.
_MOST_POINTS = 20_000
# Of more channels, so many are used.
_MOST_CHANNELS = 8
# Source pixels about that of a point, to each side. So many of them are measured, and the others can be filled.
_AROUND, _LEAST_MEASURED = 2, 17
# A hole with so many measured neighbours is filled.
_NEIGHBOURS_TO_FILL = 4
# Points of source pixels in the same block of so many are taken to be right or wrong together.
_BLOCK_SIDE = 4


@dataclass(frozen=True, eq=False)
class EdgePoints:
    """Points on the edges of a source.

    Attributes:
        places: (N, 2) x and y in source pixels; the first pixel's centre is (0.5, 0.5).
        normals: (N, 2) unit vectors across the edge, x and y.
        weights: (N,) how much each counts.
        groups: (N,) numbers below `GROUPS`: points that may be wrong together are in one group.
        around: (N, 5, 5) the source about the pixel of the point; the least of the 3 x 3 in the middle is 0, the
            largest is 1.
        steps: (N,) the difference between those two, in standard deviations of the source.
    """

    places: np.ndarray
    normals: np.ndarray
    weights: np.ndarray
    groups: np.ndarray
    around: np.ndarray
    steps: np.ndarray

    @property
    def parts(self) -> tuple[np.ndarray, ...]:
        return self.places, self.normals, self.weights, self.groups, self.around, self.steps

    def thinned(self, most: int) -> EdgePoints:
        """Return at most so many of the points, evenly chosen."""
        step = max(1, -(-len(self.weights) // most))
        return EdgePoints(*(part[::step] for part in self.parts))


GROUPS = 10


def edge_points(source: np.ndarray) -> EdgePoints:
    """Find the strongest points on the edges of a source (K, h, w); NaN is missing. None lie beside larger holes."""
    step = -(-len(source) // _MOST_CHANNELS)
    found = [_of_channel(channel) for channel in source[::step]]
    strongest = np.argsort(-np.concatenate([each.weights for each in found]), kind="stable")[:_MOST_POINTS]
    joined = (np.concatenate(parts)[strongest] for parts in zip(*(each.parts for each in found), strict=True))
    return EdgePoints(*joined)


def _of_channel(source: np.ndarray) -> EdgePoints:
    """Find points on the edges of (h, w)."""
    measured = np.isfinite(source)
    source = _filled(source, measured)
    known = np.isfinite(source)
    values = np.where(known, source, 0.0).astype(np.float64)
    std = float(values[known].std()) if known.any() else 0.0
    low, high = _extremes(values, known, 3)
    low_beyond, high_beyond = _extremes(values, known, 5)
    step, step_beyond = high - low, high_beyond - low_beyond
    share = np.divide(values - low, step, out=np.zeros_like(values), where=step > 0)
    # A slope goes on beyond the 3 x 3 neighbours, an edge does not; and a pixel on one side of it is not crossed.
    size = np.clip((2 * step - step_beyond) / (std or 1.0), 0, _LARGEST_STEP)
    weight = np.sqrt(size) * 4 * share * (1 - share)
    across, down = (ndimage.sobel(values, axis, mode="nearest") for axis in (1, 0))
    length = np.hypot(across, down)
    side = 2 * _AROUND + 1
    surrounded = ndimage.minimum_filter(known, side, mode="constant", cval=False)
    surrounded &= measured & (_count_around(measured, side) >= _LEAST_MEASURED)
    found = np.nonzero(surrounded & (weight > _SMALLEST_WEIGHT) & (length > 1e-6 * std))
    normals = np.stack([across[found], down[found]], 1) / length[found][:, None]
    around = np.lib.stride_tricks.sliding_window_view(np.pad(values, _AROUND), (side, side))[found]
    around = (around - low[found][:, None, None]) / step[found][:, None, None]
    return _points(found, normals, share[found], weight[found], around, step[found] / (std or 1.0))


def _filled(source: np.ndarray, measured: np.ndarray) -> np.ndarray:
    """Return (h, w) with the median of its neighbours where a pixel is missing and enough of them are not."""
    if measured.all():
        return source
    around = np.lib.stride_tricks.sliding_window_view(np.pad(source, 1, constant_values=np.nan), (3, 3))
    holes = np.nonzero(~measured & (_count_around(measured, 3) >= _NEIGHBOURS_TO_FILL))
    filled = source.copy()
    filled[holes] = np.nanmedian(around[holes].reshape(-1, 9), 1)
    return filled


def _count_around(mask: np.ndarray, side: int) -> np.ndarray:
    """Return how many of the side x side pixels about each of (h, w) are true."""
    return np.asarray(ndimage.convolve(mask.astype(np.int64), np.ones((side, side), np.int64), mode="constant"))


def _points(
    pixels: tuple[np.ndarray, ...],
    normals: np.ndarray,
    share: np.ndarray,
    weight: np.ndarray,
    around: np.ndarray,
    steps: np.ndarray,
) -> EdgePoints:
    """Return the points on the edges through these pixels (rows, columns), of which `share` is on the high side."""
    rows, columns = pixels
    middles = np.stack([columns, rows], 1) + 0.5
    nearest = middles + normals * _distance(share, normals)[:, None]
    tangents = np.stack([-normals[:, 1], normals[:, 0]], 1)
    places = nearest[:, None] + tangents[:, None] * _ALONG[:, None]
    inside = (np.abs(places - middles[:, None]) <= 0.5).all(2)
    owner = np.nonzero(inside)[0]
    groups = groups_of(rows[owner], columns[owner])
    return EdgePoints(places[inside], normals[owner], weight[owner], groups, around[owner], steps[owner])


def groups_of(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Return the groups that source pixels are in: blocks of them, dealt out so that neighbours are in others."""
    return np.asarray((rows // _BLOCK_SIDE * 7 + columns // _BLOCK_SIDE * 3) % GROUPS)


def _extremes(values: np.ndarray, known: np.ndarray, side: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest known value of the side x side pixels about each; 0 where none is known."""
    low = ndimage.minimum_filter(np.where(known, values, np.inf), side, mode="nearest")
    high = ndimage.maximum_filter(np.where(known, values, -np.inf), side, mode="nearest")
    return np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)


def _distance(share: np.ndarray, normals: np.ndarray) -> np.ndarray:
    """Return how far from the middle of a pixel the line runs that leaves `share` of the pixel beyond it.

    Beyond is where the normals (N, 2) point to. A unit square projected onto a normal has the density of the sum of two
    uniform variables, a trapezium; this inverts its distribution.
    """
    narrow, broad = np.sort(np.abs(normals), 1).T
    rest = np.minimum(share, 1 - share)
    in_corner = (narrow + broad) / 2 - np.sqrt(2 * narrow * broad * rest)
    between = broad * (0.5 - rest)
    distance = np.where(2 * broad * rest < narrow, in_corner, between)
    return np.asarray(np.where(share <= 0.5, distance, -distance))
