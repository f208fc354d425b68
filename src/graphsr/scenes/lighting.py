"""Shadows, sun through a window and ambient occlusion.

Which shapes can matter is found once for many pixels and kept in rows of `casters`: how many, the last one
that was in the way of the light (or -1), then the shapes.
"""

import math

from graphsr.scenes.jit import called, inlined
from graphsr.scenes.shapes import clearance, hit, to_unit
from graphsr.scenes.tables import (
    BAR,
    CASTS,
    CENTRE,
    HALF,
    IS_SUN,
    KIND,
    NORMAL,
    OFFSET,
    PANE_CENTRE,
    PANE_U,
    PANE_V,
    PANES_U,
    PANES_V,
    PLACE,
    REACH,
    SPREAD,
    TAPER,
    Ends,
    Indices,
    Table,
)

COUNT, LAST, FIRST = 0, 1, 2
"""Columns of `casters`."""

CONTACT = 0.18
"""Metres: how far ambient occlusion looks; about the gap under a chair's seat rail."""


@called
def find_casters(world: Table, ends: Ends, ball: tuple[float, float, float, float], casters: Indices, row: int) -> None:
    """List the shapes that can throw a shadow into a ball of the scene, in one row a light from `row` on."""
    x, y, z, radius = ball
    for light in range(ends.walls, ends.lights):
        lx, ly, lz = world[light, PLACE], world[light, PLACE + 1], world[light, PLACE + 2]
        far, spread = 1e9, radius
        if world[light, IS_SUN] == 0.0:
            lx, ly, lz = lx - x, ly - y, lz - z
            far, spread = 1.0, max(radius, world[light, SPREAD])
        square = lx * lx + ly * ly + lz * lz
        count = 0
        for i in range(ends.shapes):
            if world[i, CASTS] == 0.0:
                continue
            cx, cy, cz = world[i, CENTRE] - x, world[i, CENTRE + 1] - y, world[i, CENTRE + 2] - z
            along = min(far, max(0.0, (cx * lx + cy * ly + cz * lz) / square))
            reach = world[i, REACH] + spread
            ex, ey, ez = cx - along * lx, cy - along * ly, cz - along * lz
            if ex * ex + ey * ey + ez * ez > reach * reach:
                continue
            ox, oy, oz = to_unit(world, i, -cx, -cy, -cz)
            dx, dy, dz = to_unit(world, i, lx, ly, lz)
            wide = max(1.0, world[i, TAPER])
            start, end = _clip(ox, dx, wide + spread / world[i, HALF], 0.0, far)
            start, end = _clip(oy, dy, wide + spread / world[i, HALF + 1], start, end)
            start, end = _clip(oz, dz, 1.0 + spread / world[i, HALF + 2], start, end)
            if start <= end:
                casters[row, FIRST + count] = i
                count += 1
        casters[row, COUNT], casters[row, LAST] = count, -1
        row += 1


@inlined
def _clip(o: float, d: float, extent: float, start: float, end: float) -> tuple[float, float]:
    """Return the part of t in [start, end] with |o + t d| <= extent."""
    if abs(d) < 1e-12:
        return start, end if abs(o) <= extent else -1.0
    middle, half = -o / d, abs(extent / d)
    return max(start, middle - half), min(end, middle + half)


@called
def find_occluders(
    world: Table, ends: Ends, ball: tuple[float, float, float, float], casters: Indices, row: int
) -> None:
    """List in a row what is so near a ball of the scene that it takes ambient light from it."""
    x, y, z, radius = ball
    radius += CONTACT
    count = 0
    for i in range(ends.walls):
        if i < ends.shapes:
            cx, cy, cz = x - world[i, CENTRE], y - world[i, CENTRE + 1], z - world[i, CENTRE + 2]
            reach = world[i, REACH] + radius
            if cx * cx + cy * cy + cz * cz > reach * reach:
                continue
            ux, uy, uz = to_unit(world, i, cx, cy, cz)
            wide = max(1.0, world[i, TAPER])
            ux, uy, uz = abs(ux) - wide, abs(uy) - wide, abs(uz) - 1.0
            gap = max(ux * world[i, HALF], uy * world[i, HALF + 1], uz * world[i, HALF + 2])
        else:
            gap = world[i, OFFSET] - world[i, NORMAL] * x - world[i, NORMAL + 1] * y - world[i, NORMAL + 2] * z
        if gap < radius:
            casters[row, FIRST + count] = i
            count += 1
    casters[row, COUNT] = count


@inlined
def in_window_light(world: Table, i: int, px: float, py: float, pz: float) -> bool:
    """Return whether the sun's ray to p comes through the glass of its window, not its frame or the wall."""
    dx, dy, dz = world[i, PLACE], world[i, PLACE + 1], world[i, PLACE + 2]
    qx, qy, qz = px - world[i, PANE_CENTRE], py - world[i, PANE_CENTRE + 1], pz - world[i, PANE_CENTRE + 2]
    ux, uy, uz = world[i, PANE_U], world[i, PANE_U + 1], world[i, PANE_U + 2]
    vx, vy, vz = world[i, PANE_V], world[i, PANE_V + 1], world[i, PANE_V + 2]
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    t = -(qx * nx + qy * ny + qz * nz) / (dx * nx + dy * ny + dz * nz)
    qx, qy, qz = qx + t * dx, qy + t * dy, qz + t * dz
    a, b = qx * ux + qy * uy + qz * uz, qx * vx + qy * vy + qz * vz
    if t <= 0.0 or abs(a) > 1.0 or abs(b) > 1.0:
        return False
    a, b = 0.5 * (a + 1.0) * world[i, PANES_U], 0.5 * (b + 1.0) * world[i, PANES_V]
    bar = world[i, BAR]
    a, b = a - math.floor(a), b - math.floor(b)
    return bool(bar < a < 1.0 - bar and bar < b < 1.0 - bar)


@inlined
def blocks(
    world: Table,
    i: int,
    px: float,
    py: float,
    pz: float,
    lx: float,
    ly: float,
    lz: float,
    square: float,
    far: float,
) -> bool:
    """Return whether shape i meets p + t l for t in (0, far); square is |l|^2."""
    cx, cy, cz = world[i, CENTRE] - px, world[i, CENTRE + 1] - py, world[i, CENTRE + 2] - pz
    along = cx * lx + cy * ly + cz * lz
    reach = world[i, REACH] * world[i, REACH]
    apart = cx * cx + cy * cy + cz * cz
    if (along < 0.0 and apart > reach) or apart * square - along * along > reach * square:
        return False
    ox, oy, oz = to_unit(world, i, -cx, -cy, -cz)
    dx, dy, dz = to_unit(world, i, lx, ly, lz)
    return hit(int(world[i, KIND]), world[i, TAPER], ox, oy, oz, dx, dy, dz, 1e-6) < far


@inlined
def openness(
    world: Table,
    shapes_end: int,
    casters: Indices,
    row: int,
    own: int,
    px: float,
    py: float,
    pz: float,
    nx: float,
    ny: float,
    nz: float,
) -> float:
    """Return the share of the ambient light that reaches p, from what is near the point a little above it."""
    share = 1.0
    qx, qy, qz = px + CONTACT * nx, py + CONTACT * ny, pz + CONTACT * nz
    for n in range(FIRST, FIRST + casters[row, COUNT]):
        i = casters[row, n]
        if i == own:
            continue
        cx, cy, cz = qx - world[i, CENTRE], qy - world[i, CENTRE + 1], qz - world[i, CENTRE + 2]
        reach = world[i, REACH] + CONTACT
        if i < shapes_end and cx * cx + cy * cy + cz * cz > reach * reach:
            continue
        gap = clearance(world, i, qx, qy, qz)
        if gap < CONTACT:
            closeness = 1.0 - gap / CONTACT
            share *= 1.0 - 0.55 * closeness * closeness
    return max(share, 0.3)
