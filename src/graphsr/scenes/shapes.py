"""Ray against unit solid, the surface at a hit, and a distance for ambient occlusion."""

import math

from graphsr.scenes.jit import inlined
from graphsr.scenes.tables import (
    CENTRE,
    HALF,
    KIND,
    NORMAL,
    OFFSET,
    TAPER,
    TO_UNIT,
    WALL_ORIGIN,
    WALL_U,
    WALL_V,
    Table,
)

BOX, BALL, FRUSTUM, CUP, BOWL, WALL = 0, 1, 2, 3, 4, 5
"""FRUSTUM has radius 1 at z = -1 and `taper` at z = 1; CUP is one without its top; BOWL is the lower half
of a BALL's skin. These two are seen from inside as well. WALL is a plane without end."""

MISS = 1e30


@inlined
def hit(
    kind: int,
    taper: float,
    ox: float,
    oy: float,
    oz: float,
    dx: float,
    dy: float,
    dz: float,
    near: float,
) -> float:
    """Return the smallest t > near at which o + t d (unit coordinates) meets the solid, or MISS."""
    if kind == BOX:
        return _hit_box(ox, oy, oz, dx, dy, dz, near)
    if kind in (BALL, BOWL):
        return _hit_ball(ox, oy, oz, dx, dy, dz, near, kind == BOWL)
    return _hit_frustum(taper, ox, oy, oz, dx, dy, dz, near, kind == CUP)


@inlined
def _hit_box(ox: float, oy: float, oz: float, dx: float, dy: float, dz: float, near: float) -> float:
    ix, iy, iz = 1.0 / _nonzero(dx), 1.0 / _nonzero(dy), 1.0 / _nonzero(dz)
    # |slab| form: centre and half width of the interval of t inside each slab.
    ex, ey, ez = abs(ix), abs(iy), abs(iz)
    mx, my, mz = -ox * ix, -oy * iy, -oz * iz
    enter = max(mx - ex, my - ey, mz - ez)
    leave = min(mx + ex, my + ey, mz + ez)
    if enter > near and enter <= leave:
        return enter
    return MISS


@inlined
def _nonzero(x: float) -> float:
    return x if abs(x) > 1e-14 else 1e-14


@inlined
def _hit_ball(
    ox: float,
    oy: float,
    oz: float,
    dx: float,
    dy: float,
    dz: float,
    near: float,
    lower_half: bool,
) -> float:
    a = dx * dx + dy * dy + dz * dz
    b = ox * dx + oy * dy + oz * dz
    root = b * b - a * (ox * ox + oy * oy + oz * oz - 1.0)
    if root <= 0.0:
        return MISS
    root = math.sqrt(root)
    t = (-b - root) / a
    if t > near and (not lower_half or oz + t * dz <= 0.0):
        return t
    if lower_half:
        t = (-b + root) / a
        if t > near and oz + t * dz <= 0.0:
            return t
    return MISS


@inlined
def _hit_frustum(
    taper: float,
    ox: float,
    oy: float,
    oz: float,
    dx: float,
    dy: float,
    dz: float,
    near: float,
    open_top: bool,
) -> float:
    middle, slope = 0.5 * (1.0 + taper), 0.5 * (taper - 1.0)
    best = MISS
    if dz != 0.0:
        t = (-1.0 - oz) / dz
        x, y = ox + t * dx, oy + t * dy
        if t > near and x * x + y * y <= 1.0:
            best = t
        if not open_top:
            t = (1.0 - oz) / dz
            x, y = ox + t * dx, oy + t * dy
            if near < t < best and x * x + y * y <= taper * taper:
                best = t
    radius = middle + slope * oz
    a = _nonzero(dx * dx + dy * dy - slope * slope * dz * dz)
    b = ox * dx + oy * dy - slope * dz * radius
    root = b * b - a * (ox * ox + oy * oy - radius * radius)
    if root <= 0.0:
        return best
    root = math.sqrt(root)
    t = (-b - root) / a
    z = oz + t * dz
    if near < t < best and abs(z) <= 1.0 and middle + slope * z >= 0.0:
        best = t
    t = (-b + root) / a
    z = oz + t * dz
    if near < t < best and abs(z) <= 1.0 and middle + slope * z >= 0.0:
        best = t
    return best


@inlined
def to_unit(world: Table, i: int, x: float, y: float, z: float) -> tuple[float, float, float]:
    """Return a world vector (not a point) in the unit coordinates of shape i."""
    m = TO_UNIT
    return (
        world[i, m] * x + world[i, m + 1] * y + world[i, m + 2] * z,
        world[i, m + 3] * x + world[i, m + 4] * y + world[i, m + 5] * z,
        world[i, m + 6] * x + world[i, m + 7] * y + world[i, m + 8] * z,
    )


@inlined
def surface(
    world: Table, i: int, px: float, py: float, pz: float
) -> tuple[float, float, float, float, float, float, float]:
    """Return the normal (3), texture coordinates (2) and half extents of the face (2), in metres, at p on surface i."""
    kind = int(world[i, KIND])
    if kind == WALL:
        qx, qy, qz = (
            px - world[i, WALL_ORIGIN],
            py - world[i, WALL_ORIGIN + 1],
            pz - world[i, WALL_ORIGIN + 2],
        )
        u = world[i, WALL_U] * qx + world[i, WALL_U + 1] * qy + world[i, WALL_U + 2] * qz
        v = world[i, WALL_V] * qx + world[i, WALL_V + 1] * qy + world[i, WALL_V + 2] * qz
        return -world[i, NORMAL], -world[i, NORMAL + 1], -world[i, NORMAL + 2], u, v, 4.0, 4.0
    x, y, z = to_unit(world, i, px - world[i, CENTRE], py - world[i, CENTRE + 1], pz - world[i, CENTRE + 2])
    hx, hy, hz = world[i, HALF], world[i, HALF + 1], world[i, HALF + 2]
    nx, ny, nz = x, y, z
    u, v, hu, hv = x * hx + 0.6 * y * hy, z * hz, hx, hz
    if kind == BOX:
        ax, ay, az = abs(x), abs(y), abs(z)
        nx, ny, nz = 0.0, 0.0, 0.0
        if az >= ax and az >= ay:
            nz = z
            u, v, hu, hv = x * hx, y * hy, hx, hy
        elif ax >= ay:
            nx = x
            u, v, hu, hv = y * hy, z * hz, hy, hz
        else:
            ny = y
            u, v, hu, hv = x * hx, z * hz, hx, hz
    elif kind in (FRUSTUM, CUP):
        slope = 0.5 * (world[i, TAPER] - 1.0)
        radius = 0.5 * (1.0 + world[i, TAPER]) + slope * z
        on_side = abs(x * x + y * y - radius * radius) < 1e-6
        if abs(z) > 1.0 - 1e-6 and not on_side:
            nx, ny, nz = 0.0, 0.0, z
            u, v, hu, hv = x * hx, y * hy, hx, hy
        else:
            nz = -slope * radius
            u, v, hu, hv = math.atan2(y, x) * hx, z * hz, math.pi * hx, hz
    m = TO_UNIT
    wx = world[i, m] * nx + world[i, m + 3] * ny + world[i, m + 6] * nz
    wy = world[i, m + 1] * nx + world[i, m + 4] * ny + world[i, m + 7] * nz
    wz = world[i, m + 2] * nx + world[i, m + 5] * ny + world[i, m + 8] * nz
    length = 1.0 / math.sqrt(wx * wx + wy * wy + wz * wz)
    return wx * length, wy * length, wz * length, u, v, hu, hv


@inlined
def clearance(world: Table, i: int, px: float, py: float, pz: float) -> float:
    """Return about how far (metres, 0 behind) p is from surface i; good near it."""
    kind = int(world[i, KIND])
    if kind == WALL:
        n = NORMAL
        return float(max(0.0, world[i, OFFSET] - world[i, n] * px - world[i, n + 1] * py - world[i, n + 2] * pz))
    x, y, z = to_unit(world, i, px - world[i, CENTRE], py - world[i, CENTRE + 1], pz - world[i, CENTRE + 2])
    hx, hy, hz = world[i, HALF], world[i, HALF + 1], world[i, HALF + 2]
    if kind == BOX:
        x, y, z = max(abs(x) - 1.0, 0.0) * hx, max(abs(y) - 1.0, 0.0) * hy, max(abs(z) - 1.0, 0.0) * hz
        return math.sqrt(x * x + y * y + z * z)
    if kind in (BALL, BOWL):
        return float(max(math.sqrt(x * x + y * y + z * z) - 1.0, 0.0) * min(hx, hy, hz))
    around = max(math.sqrt(x * x + y * y) - max(1.0, world[i, TAPER]), 0.0) * hx
    along = max(abs(z) - 1.0, 0.0) * hz
    return math.sqrt(around * around + along * along)
