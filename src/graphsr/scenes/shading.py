"""The colour of what a ray ends on."""

import math

from graphsr.scenes.jit import called, inlined
from graphsr.scenes.lighting import COUNT, FIRST, LAST, blocks, in_window_light, openness
from graphsr.scenes.materials import albedo
from graphsr.scenes.shapes import BOX, FRUSTUM, surface
from graphsr.scenes.tables import (
    ABOVE,
    BELOW,
    COLOUR,
    DOWN,
    EYE,
    FALLOFF,
    FORWARD,
    GLOSS,
    GLOW,
    IS_SUN,
    KIND,
    MATERIAL,
    PLACE,
    RIGHT,
    SHINE,
    SPREAD,
    Ends,
    Indices,
    Table,
)


@inlined
def _light(
    world: Table,
    ends: Ends,
    casters: Indices,
    row: int,
    own: int,
    jitter: tuple[float, float],
    p: tuple[float, float, float],
    n: tuple[float, float, float],
    d: tuple[float, float, float],
    gloss: float,
    shine: float,
) -> tuple[float, float, float, float, float, float, int]:
    """Return diffuse and specular light (RGB each) from p along d, and as bits which lamps it comes from."""
    px, py, pz = p
    nx, ny, nz = n
    dr, dg, db, sr, sg, sb = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    lit = 0
    for k in range(ends.walls, ends.lights):
        lx, ly, lz = world[k, PLACE], world[k, PLACE + 1], world[k, PLACE + 2]
        strength, far = 1.0, 1e20
        if world[k, IS_SUN] > 0.0:
            if not in_window_light(world, k, px, py, pz):
                continue
        else:
            lx, ly, lz = lx - px, ly - py, lz - pz
            strength = 1.0 / (1.0 + (lx * lx + ly * ly + lz * lz) / world[k, FALLOFF] ** 2)
            far = 1.0
        facing = nx * lx + ny * ly + nz * lz
        if facing <= 0.0:
            continue
        # Only the shadow is that of another point of the lamp: grazing light would flicker.
        sx, sy = lx + jitter[0] * world[k, SPREAD], ly + jitter[1] * world[k, SPREAD]
        square = sx * sx + sy * sy + lz * lz
        shaded = False
        line = row + k - ends.walls
        # From LAST on: the shape that was in the way last time is likely to be again.
        for c in range(LAST, FIRST + casters[line, COUNT]):
            i = casters[line, c]
            if i >= 0 and i != own and blocks(world, i, px, py, pz, sx, sy, lz, square, far):
                shaded = True
                casters[line, LAST] = i
                break
        if shaded:
            continue
        length = 1.0 / math.sqrt(lx * lx + ly * ly + lz * lz)
        strength *= facing * length
        if strength > 0.005:
            lit |= 1 << (k - ends.walls)
        dr += strength * world[k, COLOUR]
        dg += strength * world[k, COLOUR + 1]
        db += strength * world[k, COLOUR + 2]
        if gloss > 0.0:
            hx, hy, hz = lx * length - d[0], ly * length - d[1], lz * length - d[2]
            x = max(0.0, (nx * hx + ny * hy + nz * hz) / math.sqrt(hx * hx + hy * hy + hz * hz))
            # Schlick's rational stand-in for the power of Blinn's highlight.
            x *= x
            peak = gloss * strength * x / (shine - shine * x + x)
            sr += peak * world[k, COLOUR]
            sg += peak * world[k, COLOUR + 1]
            sb += peak * world[k, COLOUR + 2]
    return dr, dg, db, sr, sg, sb, lit


@called
def shade(
    world: Table,
    ends: Ends,
    casters: Indices,
    row: int,
    what: int,
    t: float,
    x: float,
    y: float,
    pixel: float,
    jitter: tuple[float, float],
) -> tuple[float, float, float, int]:
    """Return the linear RGB of surface `what` at depth t of ray (x, y), and a key that tells lit faces from others.

    The casters of the lights start at `row`, the occluders follow; pixel is the width of a pixel at depth 1.
    """
    view = world.shape[0] - 1
    dx = world[view, FORWARD] + x * world[view, RIGHT] + y * world[view, DOWN]
    dy = world[view, FORWARD + 1] + x * world[view, RIGHT + 1] + y * world[view, DOWN + 1]
    dz = world[view, FORWARD + 2] + x * world[view, RIGHT + 2] + y * world[view, DOWN + 2]
    px, py, pz = world[view, EYE] + t * dx, world[view, EYE + 1] + t * dy, world[view, EYE + 2] + t * dz
    nx, ny, nz, u, v, hu, hv = surface(world, what, px, py, pz)
    kind, m = int(world[what, KIND]), int(world[what, MATERIAL])
    face = int(2.5 * nx + 8.0) + 16 * int(2.5 * ny + 8.0) if kind == BOX else 0
    length = 1.0 / math.sqrt(dx * dx + dy * dy + dz * dz)
    dx, dy, dz = dx * length, dy * length, dz * length
    slant = nx * dx + ny * dy + nz * dz
    if slant > 0.0:
        nx, ny, nz, slant = -nx, -ny, -nz, -slant
    # Between the width of a slanted pixel and its length: one number has to do for both.
    cosine = max(-slant, 0.1)
    footprint = pixel * t / math.sqrt(cosine * math.sqrt(cosine))
    ar, ag, ab = albedo(world, m, u, v, hu, hv, footprint)
    occluders = row + ends.lights - ends.walls
    share = openness(world, ends.shapes, casters, occluders, what, px, py, pz, nx, ny, nz)
    # Only convex solids cannot shade themselves where they face the light.
    own = what if kind <= FRUSTUM else -1
    start = (px + 1e-4 * nx, py + 1e-4 * ny, pz + 1e-4 * nz)
    gloss = world[m, GLOSS]
    dr, dg, db, sr, sg, sb, lit = _light(
        world, ends, casters, row, own, jitter, start, (nx, ny, nz), (dx, dy, dz), gloss, world[m, SHINE]
    )
    sky = 0.5 + 0.5 * nz
    er = share * (world[view, ABOVE] * sky + world[view, BELOW] * (1.0 - sky))
    eg = share * (world[view, ABOVE + 1] * sky + world[view, BELOW + 1] * (1.0 - sky))
    eb = share * (world[view, ABOVE + 2] * sky + world[view, BELOW + 2] * (1.0 - sky))
    glow = world[m, GLOW]
    rim = (1.0 + slant) ** 4 * gloss
    return (
        ar * (er + dr + glow) + sr + rim * er,
        ag * (eg + dg + glow) + sg + rim * eg,
        ab * (eb + db + glow) + sb + rim * eb,
        4096 * lit + face,
    )
