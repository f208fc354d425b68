"""The ray caster. One exact ray a pixel gives the depth; the guide has four where anything changes."""

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from graphsr.scenes.camera import Projection
from graphsr.scenes.jit import called, fingerprint, inlined, kernel
from graphsr.scenes.lighting import FIRST, find_casters, find_occluders
from graphsr.scenes.noise import interleaved
from graphsr.scenes.shading import shade
from graphsr.scenes.tables import DOWN, EYE, FORWARD, RIGHT, Ends, Indices, Table
from graphsr.scenes.visibility import find_surface_in_pixel, find_surfaces

TILE = 16
"""Pixels; small enough that few shapes can shade a tile, large enough to find them once for many pixels."""


def render(projection: Projection, height: int, width: int) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return linear light (H, W, 3) averaged over each pixel, and z-depth (H, W) at each pixel's centre."""
    p = projection
    return _cast_rays(p.world, p.ends, p.rays, p.bounds, p.focal, height, width)


@called
def _cast_tiles(
    world: Table, ends: Ends, rays: Table, bounds: Indices, focal: float, height: int, width: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Cast the rays of an image tile by tile; return what `render` does."""
    image = np.empty((height, width, 3), np.float32)
    exact = np.empty((height, width), np.float32)
    # A margin of one pixel around the tile shows where its border pixels are mixed.
    depth = np.empty((TILE + 2, TILE + 2))
    seen = np.empty((TILE + 2, TILE + 2), np.int64)
    keys = np.empty((TILE, TILE), np.int64)
    # For the near and for the far layer of a tile: a row for each light, and one for what is close by.
    layer_rows = ends.lights - ends.walls + 1
    casters = np.empty((2 * layer_rows, FIRST + ends.walls), np.int64)
    pixel = 1.0 / focal
    for top in range(0, height, TILE):
        for left in range(0, width, TILE):
            rows, columns = min(TILE, height - top), min(TILE, width - left)
            x0, y0 = (left + 0.5 - 0.5 * width) * pixel, (top + 0.5 - 0.5 * height) * pixel
            window = (top - 1, top + rows + 1, left - 1, left + columns + 1)
            find_surfaces(world, ends, rays, bounds, window, (x0 - pixel, y0 - pixel), pixel, depth, seen)
            split = _split_depth(depth, rows, columns)
            for layer in range(2):
                ball = _ball_around(world, pixel, x0, y0, rows, columns, depth, split, layer)
                if ball[3] > 0.0:
                    find_casters(world, ends, ball, casters, layer * layer_rows)
                    find_occluders(world, ends, ball, casters, (layer + 1) * layer_rows - 1)
            # One sample for each pixel that shows one surface, then four for all that turn out to need it.
            for samples in (1, 4):
                for r in range(rows):
                    for c in range(columns):
                        mixed = _mixed(seen, r + 1, c + 1)
                        if samples == 1:
                            exact[top + r, left + c] = depth[r + 1, c + 1]
                            keys[r, c] = -1
                            if mixed:
                                continue
                        elif not mixed and not _on_border(keys, r, c, rows, columns):
                            continue
                        red, green, blue, key = _pixel(
                            world, ends, rays, depth, seen, casters, r + 1, c + 1, x0 + c * pixel,
                            y0 + r * pixel, pixel, split, samples, mixed,
                            interleaved(top + r, left + c) - 0.5,
                        )  # fmt: skip
                        if samples == 1:
                            keys[r, c] = key
                        image[top + r, left + c, 0] = red
                        image[top + r, left + c, 1] = green
                        image[top + r, left + c, 2] = blue
    return image, exact


@inlined
def _pixel(
    world: Table,
    ends: Ends,
    rays: Table,
    depth: Table,
    seen: Indices,
    casters: Indices,
    row: int,
    column: int,
    x: float,
    y: float,
    pixel: float,
    split: float,
    samples: int,
    mixed: bool,
    dither: float,
) -> tuple[float, float, float, int]:
    """Return the mean colour of one or four samples about (x, y), and the key (see shade) of the last."""
    # On the rim of the lamp; the four samples and the pixels around go round it.
    jx, jy = 0.5, dither
    shaded, red, green, blue, key = -1, 0.0, 0.0, 0.0, 0
    mean_red, mean_green, mean_blue = 0.0, 0.0, 0.0
    for sub in range(samples):
        px, py, t, what = x, y, depth[row, column], seen[row, column]
        if samples > 1:
            px += (0.5 * (sub & 1) - 0.25) * pixel
            py += (0.5 * (sub >> 1) - 0.25) * pixel
            t, what = find_surface_in_pixel(world, ends, rays, seen, row, column, px, py)
        # A mixed pixel has each surface shaded once: shadows and creases matter less there.
        if not mixed or what != shaded:
            shaded = what
            layer_row = ends.lights - ends.walls + 1 if t > split else 0
            red, green, blue, key = shade(world, ends, casters, layer_row, what, t, px, py, pixel, (jx, jy))
        mean_red += red / samples
        mean_green += green / samples
        mean_blue += blue / samples
        jx, jy = -jy, jx
    return mean_red, mean_green, mean_blue, key


@inlined
def _mixed(seen: Indices, row: int, column: int) -> bool:
    """Return whether another surface shows next to this pixel."""
    what = seen[row, column]
    for r in range(row - 1, row + 2):
        for c in range(column - 1, column + 2):
            if seen[r, c] != what:
                return True
    return False


@inlined
def _on_border(keys: Indices, r: int, c: int, rows: int, columns: int) -> bool:
    """Return whether a face or a shadow ends next to this pixel."""
    key = keys[r, c]
    return (
        (r > 0 and keys[r - 1, c] != key and keys[r - 1, c] >= 0)
        or (r < rows - 1 and keys[r + 1, c] != key and keys[r + 1, c] >= 0)
        or (c > 0 and keys[r, c - 1] != key and keys[r, c - 1] >= 0)
        or (c < columns - 1 and keys[r, c + 1] != key and keys[r, c + 1] >= 0)
    )


@called
def _split_depth(depth: Table, rows: int, columns: int) -> float:
    """Return a depth between near and far of a tile; shadows of the two layers are searched separately."""
    near, far = 1e30, 0.0
    for r in range(rows + 2):
        for c in range(columns + 2):
            near, far = min(near, depth[r, c]), max(far, depth[r, c])
    return 0.5 * (near + far) if far > 1.15 * near else 1e30


@called
def _ball_around(
    world: Table,
    pixel: float,
    x0: float,
    y0: float,
    rows: int,
    columns: int,
    depth: Table,
    split: float,
    layer: int,
) -> tuple[float, float, float, float]:
    """Return a ball around all that a tile sees before (layer 0) or beyond (1) the split; radius -1 for nothing."""
    view = world.shape[0] - 1
    e, f, h, v = EYE, FORWARD, RIGHT, DOWN
    ax, ay, az, bx, by, bz = 1e30, 1e30, 1e30, -1e30, -1e30, -1e30
    for r in range(rows + 2):
        y = y0 + (r - 1) * pixel
        for c in range(columns + 2):
            x = x0 + (c - 1) * pixel
            t = depth[r, c]
            if (t > split) != (layer == 1):
                continue
            px = world[view, e] + t * (world[view, f] + x * world[view, h] + y * world[view, v])
            py = world[view, e + 1] + t * (world[view, f + 1] + x * world[view, h + 1] + y * world[view, v + 1])
            pz = world[view, e + 2] + t * (world[view, f + 2] + x * world[view, h + 2] + y * world[view, v + 2])
            ax, ay, az = min(ax, px), min(ay, py), min(az, pz)
            bx, by, bz = max(bx, px), max(by, py), max(bz, pz)
    if ax > bx:
        return 0.0, 0.0, 0.0, -1.0
    radius = 0.5 * math.sqrt((bx - ax) ** 2 + (by - ay) ** 2 + (bz - az) ** 2)
    return 0.5 * (ax + bx), 0.5 * (ay + by), 0.5 * (az + bz), radius + 1e-3


def _compile_entry(sources: str) -> Callable[..., tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Compile the entry point; `sources` becomes a part of the key of its cache on disk."""

    @kernel
    def cast_rays(
        world: Table, ends: Ends, rays: Table, bounds: Indices, focal: float, height: int, width: int
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        sources  # noqa: B018  closed over, and so a part of the cache's key
        return _cast_tiles(world, ends, rays, bounds, focal, height, width)

    return cast_rays


_cast_rays = _compile_entry(fingerprint())
