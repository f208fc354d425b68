"""Cut a raster into tiles, each with a halo so wide that the border of what is read does not show in the tile."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

from graphsr.errors import InputError
from graphsr.footprints import footprint_reach
from graphsr.models.window import Locality
from graphsr.raster.grid import Box, Grid

# Width of a halo: lengths of decay, and source pixels. Measured (docs/raster.md): differences are below 1e-3 of the
# target's standard deviation after 5 lengths in the worst graph found, below 1e-4 after these.
_LENGTHS = 6
# The same for targets that a network only looks at.
_SHOWN_LENGTHS = 4
_SOURCE_PIXELS = 2
# A window has to fit into this memory, and its tile not to be larger than that.
_WINDOW_BYTES = 2.0e9
_LARGEST_TILE = 2048
_SMALLEST_TILE = 256
_TILE_STEP = 128


@dataclass(frozen=True)
class Tile:
    """A tile and what is read for it.

    Attributes:
        number: Its place in the list of tiles.
        core: The target pixels that it computes.
        window: The guide pixels that are read for it: the core and a halo.
        source_window: The source pixels under the window.
    """

    number: int
    core: Box
    window: Box
    source_window: Box


def decay_length(step: float, locality: Locality) -> float:
    """Return the distance, in guide pixels, over which the effect of a border on the target falls by e.

    Two pieces of a source pixel may move against each other without changing its mean: k/2 rows of edges (k = step)
    hold each of them to itself further along, edges at the floor hold the two together, so the shift decays over
    sqrt(k / (4 floor)), whatever lambda is. Beside that, at large lambda, the mean itself gives way, over
    k sqrt(lambda).
    """
    return math.sqrt(step / (4 * locality.floor) + locality.edge_weight * step * step)


def default_halo(grid: Grid, locality: Locality, footprint: str = "box") -> tuple[int, int]:
    """Return how many guide pixels are read around a tile, down and right.

    A source pixel whose footprint the border of a window cuts is not what it was, so that a wide one needs more.
    """
    beyond = footprint_reach(footprint) - footprint_reach("box")

    def along(step: float) -> int:
        solve = _LENGTHS * decay_length(step, locality) if locality.edge_weight > 0 else 0.0
        shown = sum(_SHOWN_LENGTHS * decay_length(step, each) for each in locality.shown)
        return locality.reach + math.ceil(solve + shown + (_SOURCE_PIXELS + beyond) * step)

    return along(grid.step[0]), along(grid.step[1])


def default_side(grid: Grid, halo: tuple[int, int], bytes_per_pixel: int, double: bool = False) -> int:
    """Return the side of a tile whose window fits into memory.

    Args:
        grid: Of the raster; one that fits is one tile.
        halo: Guide pixels read around a tile, down and right.
        bytes_per_pixel: Memory that a pixel of a window takes (`Model.bytes_per_pixel`).
        double: Whether the solves are in double precision: exact ones, and those with a footprint of their own.
    """
    if double or min(grid.step) < 2:  # source pixels that share target pixels are solved in double precision too
        bytes_per_pixel *= 2
    if grid.size[0] * grid.size[1] * bytes_per_pixel <= _WINDOW_BYTES and max(grid.size) <= _LARGEST_TILE:
        return max(grid.size)
    window = math.sqrt(_WINDOW_BYTES / bytes_per_pixel)
    side = int(window - 2 * max(halo)) // _TILE_STEP * _TILE_STEP
    return min(max(side, _SMALLEST_TILE), _LARGEST_TILE)


def cut_tiles(grid: Grid, side: int, halo: tuple[int, int], multiple: int = 1) -> list[Tile]:
    """Return all tiles of a raster, row by row.

    Borders between tiles are put on borders of source pixels, so that (at whole steps) each belongs to one solve.

    Args:
        grid: Of the raster.
        side: About how many pixels a tile has each way.
        halo: Guide pixels read around a tile, down and right.
        multiple: Windows begin at multiples of so many pixels.
    """
    if side < 1 or min(halo) < 0:
        raise InputError(f"tiles must be at least 1 pixel, with a halo of 0 or more; not {side} with {min(halo)}")
    rows, columns = (_borders(grid, n, side) for n in range(2))
    tiles: list[Tile] = []
    for top, bottom in pairwise(rows):
        for left, right in pairwise(columns):
            core = Box(top, left, bottom, right)
            grown = Box(top - halo[0], left - halo[1], bottom + halo[0], right + halo[1])
            window = grown.aligned(multiple).clipped(grid.size)
            tiles.append(Tile(len(tiles), core, window, grid.source_box(window)))
    return tiles


def _borders(grid: Grid, n: int, side: int) -> list[int]:
    """Return the pixels where tiles begin along one axis, and the end of the axis."""
    size, origin, step = grid.size[n], grid.origin[n], grid.step[n]
    count = math.ceil(size / side)
    near = (origin + round((k * size / count - origin) / step) * step for k in range(1, count))
    inner = {min(max(round(border), 1), size - 1) for border in near} if size > 1 else set()
    return [0, *sorted(inner), size]
