"""Cutting a raster into tiles, each with as much around it that its border is not felt inside."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from graphsr.errors import InputError
from graphsr.models.window import Locality
from graphsr.raster.grid import Box, Grid

# How many lengths of decay, and how many source pixels, a border is away. Measured (docs/raster.md): below 1e-3 of the
# target's standard deviation after 5 lengths in the worst graph found, below 1e-4 here.
_LENGTHS = 6
_CELLS = 2
# A tile and what is around it have to fit into this, and not be larger than that.
_TILE_BYTES = 2.0e9
_LARGEST_TILE = 2048
_SMALLEST_TILE = 256
_TILE_STEP = 128


@dataclass(frozen=True)
class Tile:
    """One piece of work: the pixels it answers for, and what is read for them."""

    number: int
    core: Box  # guide pixels
    window: Box  # guide pixels read
    cells: Box  # source pixels under the window


def decay_length(step: float, locality: Locality) -> float:
    """The distance, in guide pixels, over which what a border does to the target falls by e.

    Two pieces of a source pixel may move against each other and keep its mean: k/2 rows of ties (k = step) hold each
    of them to itself further along, weak ties (floor) across hold the two together, so the shift decays over
    sqrt(k / (4 floor)), whatever lambda is; sooner where every pixel is held by a prior as well (trust). Beside that,
    at large lambda, the mean gives way, over k sqrt(lambda).
    """
    held = 4 * locality.floor + step * locality.trust
    return math.sqrt(step / held + locality.weight * step * step)


def halo(grid: Grid, locality: Locality) -> tuple[int, int]:
    """How many pixels are read around a tile, down and right."""

    def along(step: float) -> int:
        solve = _LENGTHS * decay_length(step, locality) if locality.weight > 0 else 0.0
        return locality.reach + math.ceil(solve + _CELLS * step)

    return along(grid.step[0]), along(grid.step[1])


def default_side(grid: Grid, around: tuple[int, int], bytes_per_pixel: int, exact: bool = False) -> int:
    """The side of a tile, if the user does not say."""
    if exact or min(grid.step) < 2:  # which are solved in double precision
        bytes_per_pixel *= 2
    if grid.size[0] * grid.size[1] * bytes_per_pixel <= _TILE_BYTES and max(grid.size) <= _LARGEST_TILE:
        return max(grid.size)  # in one piece
    window = math.sqrt(_TILE_BYTES / bytes_per_pixel)
    side = int(window - 2 * max(around)) // _TILE_STEP * _TILE_STEP
    return min(max(side, _SMALLEST_TILE), _LARGEST_TILE)


def cut(grid: Grid, side: int, around: tuple[int, int], multiple: int = 1) -> list[Tile]:
    """All tiles of a raster, row by row, about `side` pixels each way.

    Borders between tiles are put on borders of source pixels, so that (at whole steps) one solve answers for each.
    """
    if side < 1 or min(around) < 0:
        raise InputError(f"tiles must be at least 1 pixel, with a halo of 0 or more; not {side} with {around}")
    rows, columns = (_borders(grid, n, side) for n in range(2))
    tiles: list[Tile] = []
    for top, bottom in pairwise(rows):
        for left, right in pairwise(columns):
            core = Box(top, left, bottom, right)
            grown = Box(top - around[0], left - around[1], bottom + around[0], right + around[1])
            window = grown.aligned(multiple).clipped(grid.size)
            tiles.append(Tile(len(tiles), core, window, grid.cells_in(window)))
    return tiles


def _borders(grid: Grid, n: int, side: int) -> list[int]:
    """Pixels where tiles begin along one axis, and the end of the axis."""
    size, origin, step = grid.size[n], grid.origin[n], grid.step[n]
    count = math.ceil(size / side)
    near = (origin + round((k * size / count - origin) / step) * step for k in range(1, count))
    inner = {min(max(round(border), 1), size - 1) for border in near} if size > 1 else set()
    return [0, *sorted(inner), size]
