"""The pinhole camera of a scene, and the scene as it sees it."""

from dataclasses import dataclass
from math import cos, hypot, sin

import numpy as np

from graphsr.scenes.builder import Vector, World, gap_to_shapes
from graphsr.scenes.shapes import BOX
from graphsr.scenes.tables import (
    CENTRE,
    COLUMNS,
    DOWN,
    EYE,
    FOCAL,
    FORWARD,
    HALF,
    KIND,
    MATERIAL,
    NORMAL,
    OFFSET,
    RIGHT,
    TAPER,
    TO_UNIT,
    Ends,
    Indices,
    Table,
)

NEAR = 0.05
"""Metres; nothing closer to the eye is seen."""

# Columns of `Projection.rays`. Shapes, in unit coordinates: the eye, the direction of ray (0, 0) and its slopes in
# x and y; then the least depth.
AHEAD, ALONG, ALONG_X, ALONG_Y, LEAST = 0, 3, 6, 9, 12
# Walls: inverse depth of ray (0, 0) and its slopes in x and y.
INVERSE = 0


@dataclass(frozen=True)
class Projection:
    """A scene before a camera: the table of its rows, and what the camera makes of its surfaces.

    bounds (shapes, 4): first and end row, first and end column of the image that a shape can touch; a margin
    of one pixel around the image counts. focal is in pixels.
    """

    world: Table
    ends: Ends
    rays: Table
    bounds: Indices
    focal: float


def look_at(eye: Vector, target: Vector, roll: float, focal: float) -> Table:
    """Return a view from eye to target (13 numbers); focal length in image diagonals, roll in radians."""
    ahead = [b - a for a, b in zip(eye, target, strict=True)]
    length, level = hypot(*ahead), hypot(ahead[0], ahead[1])
    forward = [a / length for a in ahead]
    right = [ahead[1] / level, -ahead[0] / level, 0.0]
    # forward x right
    down = [-forward[2] * right[1], forward[2] * right[0], -level / length]
    c, s = cos(roll), sin(roll)
    turned_right = [c * a + s * b for a, b in zip(right, down, strict=True)]
    turned_down = [c * b - s * a for a, b in zip(right, down, strict=True)]
    return np.array([*eye, *turned_right, *turned_down, *forward, focal])


def project(world: World, view: Table, height: int, width: int) -> Projection:
    """Stack a scene into one table, nearest shapes first: what they hide is then seldom tried."""
    away = (world.shapes[:, CENTRE : CENTRE + 3] - view[EYE : EYE + 3]) @ view[FORWARD : FORWARD + 3]
    shapes = world.shapes[np.argsort(away, kind="stable")]
    parts = (shapes, world.walls, world.lights, world.materials, np.append(view, world.ambient)[np.newaxis])
    stops = np.cumsum([len(part) for part in parts])
    table = np.zeros((stops[-1], COLUMNS))
    for part, stop in zip(parts, stops, strict=True):
        table[stop - len(part) : stop, : part.shape[1]] = part
    ends = Ends(int(stops[0]), int(stops[1]), int(stops[2]))
    table[: ends.walls, MATERIAL] += ends.lights
    rays = np.zeros((ends.walls, LEAST + 1))
    rays[ends.shapes :, INVERSE : INVERSE + 3] = _inverse_depth(world.walls, view)
    rays[: ends.shapes, AHEAD:LEAST] = _in_unit_coordinates(shapes, view)
    focal = float(view[FOCAL]) * hypot(height, width)
    bounds, rays[: ends.shapes, LEAST] = _bounds(shapes, view, focal, height, width)
    return Projection(table, ends, rays, bounds, focal)


def is_clear(world: World, view: Table) -> bool:
    """Return whether the eye is at least 0.2 m from the box around every shape."""
    return bool((gap_to_shapes(world.shapes, view[EYE : EYE + 3]) > 0.2).all())


def _axes(view: Table) -> Table:
    """Return (3, 3): forward, right and down as rows."""
    return np.stack([view[FORWARD : FORWARD + 3], view[RIGHT : RIGHT + 3], view[DOWN : DOWN + 3]])


def _inverse_depth(walls: Table, view: Table) -> Table:
    normals = walls[:, NORMAL : NORMAL + 3]
    away = walls[:, OFFSET] - normals @ view[EYE : EYE + 3]
    return (normals @ _axes(view).T) / away[:, np.newaxis]


def _in_unit_coordinates(shapes: Table, view: Table) -> Table:
    eye = view[EYE : EYE + 3] - shapes[:, CENTRE : CENTRE + 3]
    vectors = np.concatenate([eye[:, np.newaxis], np.broadcast_to(_axes(view), (len(shapes), 3, 3))], axis=1)
    to_unit = shapes[:, TO_UNIT : TO_UNIT + 9].reshape(-1, 3, 3)
    return (vectors @ to_unit.transpose(0, 2, 1)).reshape(-1, 12)


def _bounds(shapes: Table, view: Table, focal: float, height: int, width: int) -> tuple[Indices, Table]:
    """Return rectangles around the projected corners of each shape's box, and the least depth of the corners."""
    corners = np.array([(x, y, z) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=np.float64)
    half = shapes[:, HALF : HALF + 3].copy()
    half[:, :2] *= np.where(shapes[:, KIND] == BOX, 1.0, np.maximum(shapes[:, TAPER], 1.0))[:, np.newaxis]
    axes = shapes[:, TO_UNIT : TO_UNIT + 9].reshape(-1, 3, 3) * shapes[:, HALF : HALF + 3, np.newaxis]
    points = (corners * half[:, np.newaxis]) @ axes + shapes[:, np.newaxis, CENTRE : CENTRE + 3]
    depth, x, y = np.moveaxis((points - view[EYE : EYE + 3]) @ _axes(view).T, 2, 0)
    ahead = depth > NEAR
    safe = np.where(ahead, depth, 1.0)
    bounds = np.empty((len(shapes), 4), dtype=np.int64)
    for column, (along, size) in enumerate(((y, height), (x, width))):
        place = along / safe * focal + 0.5 * size
        first, end = np.floor(place.min(axis=1)), np.floor(place.max(axis=1)) + 1
        bounds[:, 2 * column] = np.clip(first, -1, size + 1)
        bounds[:, 2 * column + 1] = np.clip(end, -1, size + 1)
    cut = ahead.any(axis=1) & ~ahead.all(axis=1)
    bounds[cut] = (-1, height + 1, -1, width + 1)
    bounds[~ahead.any(axis=1)] = 0
    return bounds, depth.min(axis=1)
