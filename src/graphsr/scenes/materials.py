"""A material: a pattern, three colours and how it meets light."""

from dataclasses import dataclass
from enum import IntEnum
from math import cos, sin
from typing import TypeAlias

from graphsr.scenes.jit import inlined
from graphsr.scenes.noise import fractal
from graphsr.scenes.pictures import label, landscape, page, portrait, poster, rug
from graphsr.scenes.surfaces import (
    bricks,
    checks,
    dado,
    dots,
    marble,
    mottled,
    plaid,
    speckle,
    stripes,
    tiles,
    weave,
    wood,
)
from graphsr.scenes.tables import (
    BASE,
    COSINE,
    GRAIN,
    PATTERN,
    SALT,
    SCALE,
    SECOND,
    SINE,
    THIRD,
    Table,
)

Colour: TypeAlias = tuple[float, float, float]


class Pattern(IntEnum):
    """Which function paints a material."""

    PLAIN = 0
    MOTTLED = 1
    MARBLE = 2
    WOOD = 3
    STRIPES = 4
    CHECKS = 5
    TILES = 6
    BRICKS = 7
    PLAID = 8
    DOTS = 9
    SPECKLE = 10
    WEAVE = 11
    DADO = 12
    PAGE = 13
    POSTER = 14
    LANDSCAPE = 15
    PORTRAIT = 16
    LABEL = 17
    RUG = 18


# Numba compiles constants in only if they are plain integers.
_MOTTLED, _MARBLE, _WOOD = int(Pattern.MOTTLED), int(Pattern.MARBLE), int(Pattern.WOOD)
_STRIPES, _CHECKS, _TILES = int(Pattern.STRIPES), int(Pattern.CHECKS), int(Pattern.TILES)
_BRICKS, _PLAID, _DOTS = int(Pattern.BRICKS), int(Pattern.PLAID), int(Pattern.DOTS)
_SPECKLE, _WEAVE, _DADO = int(Pattern.SPECKLE), int(Pattern.WEAVE), int(Pattern.DADO)
_PAGE, _POSTER, _LANDSCAPE = int(Pattern.PAGE), int(Pattern.POSTER), int(Pattern.LANDSCAPE)
_PORTRAIT, _LABEL = int(Pattern.PORTRAIT), int(Pattern.LABEL)


@dataclass(frozen=True)
class Material:
    """Colours are sRGB in [0, 1]; scale is the period of the pattern in metres, angle its turn in radians."""

    base: Colour
    second: Colour = (0.5, 0.5, 0.5)
    third: Colour = (0.5, 0.5, 0.5)
    pattern: Pattern = Pattern.PLAIN
    scale: float = 0.1
    angle: float = 0.0
    grain: float = 0.05
    gloss: float = 0.0
    shine: float = 30.0
    glow: float = 0.0
    salt: int = 0

    def row(self) -> tuple[float, ...]:
        """Return this material as a row of the table."""
        return (
            float(self.pattern),
            *linear(self.base),
            *linear(self.second),
            *linear(self.third),
            self.scale,
            cos(self.angle),
            sin(self.angle),
            self.grain,
            self.gloss,
            self.shine,
            self.glow,
            float(self.salt),
        )


def linear(colour: Colour) -> Colour:
    """Convert sRGB to linear light, by the power 2.2."""
    return (colour[0] ** 2.2, colour[1] ** 2.2, colour[2] ** 2.2)


@inlined
def albedo(
    world: Table, m: int, u: float, v: float, hu: float, hv: float, footprint: float
) -> tuple[float, float, float]:
    """Return the linear RGB of material m at (u, v) of a face, averaged over about `footprint` metres."""
    pattern, salt = int(world[m, PATTERN]), int(world[m, SALT])
    shade = 1.0
    r, g, b = world[m, BASE], world[m, BASE + 1], world[m, BASE + 2]
    if pattern == 0:
        grain = world[m, GRAIN]
        if grain > 0.02:
            shade += grain * fractal(5.0 * u, 5.0 * v, salt, 5.0 * footprint)
    else:
        cosine, sine = world[m, COSINE], world[m, SINE]
        u, v = cosine * u + sine * v, cosine * v - sine * u
        scale = world[m, SCALE]
        if pattern == _MOTTLED:
            w2, w3, tone = mottled(u, v, scale, salt, footprint)
        elif pattern == _MARBLE:
            w2, w3, tone = marble(u, v, scale, salt, footprint)
        elif pattern == _WOOD:
            w2, w3, tone = wood(u, v, scale, salt, footprint)
        elif pattern == _STRIPES:
            w2, w3, tone = stripes(u, v, scale, salt, footprint)
        elif pattern == _CHECKS:
            w2, w3, tone = checks(u, v, scale, salt, footprint)
        elif pattern == _TILES:
            w2, w3, tone = tiles(u, v, scale, salt, footprint)
        elif pattern == _BRICKS:
            w2, w3, tone = bricks(u, v, scale, salt, footprint)
        elif pattern == _PLAID:
            w2, w3, tone = plaid(u, v, scale, salt, footprint)
        elif pattern == _DOTS:
            w2, w3, tone = dots(u, v, scale, salt, footprint)
        elif pattern == _SPECKLE:
            w2, w3, tone = speckle(u, v, scale, salt, footprint)
        elif pattern == _WEAVE:
            w2, w3, tone = weave(u, v, scale, salt, footprint)
        elif pattern == _DADO:
            w2, w3, tone = dado(v, scale, footprint)
        elif pattern == _PAGE:
            w2, w3, tone = page(u, v, hu, hv, scale, salt, footprint)
        elif pattern == _POSTER:
            w2, w3, tone = poster(u, v, hu, hv, salt, footprint)
        elif pattern == _LANDSCAPE:
            w2, w3, tone = landscape(u, v, hu, hv, salt, footprint)
        elif pattern == _PORTRAIT:
            w2, w3, tone = portrait(u, v, hu, hv, salt, footprint)
        elif pattern == _LABEL:
            w2, w3, tone = label(u, v, hu, hv, scale, salt, footprint)
        else:
            w2, w3, tone = rug(u, v, hu, hv, scale, salt, footprint)
        shade *= tone
        r += w2 * (world[m, SECOND] - r)
        g += w2 * (world[m, SECOND + 1] - g)
        b += w2 * (world[m, SECOND + 2] - b)
        r += w3 * (world[m, THIRD] - r)
        g += w3 * (world[m, THIRD + 1] - g)
        b += w3 * (world[m, THIRD + 2] - b)
    return r * shade, g * shade, b * shade
