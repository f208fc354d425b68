"""Procedural surfaces: each gives (share of the second colour, share of the third, brightness)."""

import math

from graphsr.scenes.jit import called
from graphsr.scenes.noise import fractal, hashed, inside, pulse, trait, value_noise


@called
def mottled(u: float, v: float, scale: float, salt: int, footprint: float) -> tuple[float, float, float]:
    """Paint plaster, stone or worn paint."""
    n = fractal(u / scale, v / scale, salt, footprint / scale)
    return min(1.0, max(0.0, 0.5 + 1.3 * n)), 0.0, 1.0


@called
def marble(u: float, v: float, scale: float, salt: int, footprint: float) -> tuple[float, float, float]:
    """Paint veins in the second colour."""
    warp = fractal(u / scale, v / scale, salt, footprint / scale)
    vein = abs(fractal(0.7 * u / scale + warp, 0.7 * v / scale - warp, salt + 9, footprint / scale))
    return max(0.0, 1.0 - 7.0 * vein), 0.0, 1.0 + 0.15 * warp


@called
def wood(u: float, v: float, scale: float, salt: int, footprint: float) -> tuple[float, float, float]:
    """Paint planks of width `scale` along u; a large scale gives one sawn board."""
    row = math.floor(v / scale + 0.37)
    shift = trait(salt + 3 + 16 * row)
    along = u / (7.0 * scale) + shift
    board = math.floor(along)
    tone = hashed(row, board, salt)
    rings = fractal(2.0 * u + 31.0 * tone, 26.0 * v, salt + row, 26.0 * footprint)
    fade = max(0.0, 1.0 - 150.0 * footprint)
    fibre = 0.0 if fade <= 0.0 else fade * (value_noise(9.0 * u, 300.0 * v, salt) - 0.5)
    wide = footprint / scale
    seam = pulse(v / scale + 0.37, 0.018, wide) + pulse(along, 0.003, wide / 7.0)
    share = min(1.0, max(0.0, 0.5 + 1.1 * rings + 0.4 * fibre))
    return share, 0.0, (0.82 + 0.36 * tone) * (1.0 - 0.6 * min(1.0, seam))


@called
def stripes(u: float, v: float, scale: float, salt: int, footprint: float) -> tuple[float, float, float]:
    """Paint stripes along v, at times with a thin line of the third colour."""
    wide = footprint / scale
    duty = 0.25 + 0.5 * trait(salt + 5)
    line = pulse(u / scale + 0.5 * (1.0 - duty), 0.06 + 0.1 * trait(salt + 16), wide)
    return pulse(u / scale, duty, wide), line if trait(salt + 12) < 0.5 else 0.0, 1.0


@called
def checks(u: float, v: float, scale: float, salt: int, footprint: float) -> tuple[float, float, float]:
    """Paint a chessboard."""
    wide = 0.5 * footprint / scale
    a = 2.0 * pulse(0.5 * u / scale, 0.5, wide) - 1.0
    b = 2.0 * pulse(0.5 * v / scale, 0.5, wide) - 1.0
    return 0.5 - 0.5 * a * b, 0.0, 1.0


@called
def tiles(u: float, v: float, scale: float, salt: int, footprint: float) -> tuple[float, float, float]:
    """Paint tiles with grout in the third colour; some tiles lean to the second."""
    i, j = math.floor(u / scale), math.floor(v / scale)
    wide = footprint / scale
    grout = max(pulse(u / scale, 0.035, wide), pulse(v / scale, 0.035, wide))
    tone = hashed(i, j, salt)
    mottle = fractal(6.0 * u / scale, 6.0 * v / scale, salt + i + 7 * j, 6.0 * wide)
    return max(0.0, tone - 0.4), grout, 0.94 + 0.12 * tone + 0.12 * mottle


@called
def bricks(u: float, v: float, scale: float, salt: int, footprint: float) -> tuple[float, float, float]:
    """Paint a running bond with mortar in the third colour."""
    high = 0.36 * scale
    row = math.floor(v / high)
    x = u / scale + (0.5 if row & 1 else 0.0)
    tone = hashed(math.floor(x), row, salt)
    mortar = max(pulse(x, 0.05, footprint / scale), pulse(v / high, 0.14, footprint / high))
    rough = fractal(u / 0.02, v / 0.02, salt, footprint / 0.02)
    return tone, mortar, 0.9 + 0.2 * tone + 0.25 * rough


@called
def plaid(u: float, v: float, scale: float, salt: int, footprint: float) -> tuple[float, float, float]:
    """Paint crossing stripes and thin lines of the third colour."""
    wide = footprint / scale
    duty = 0.3 + 0.3 * trait(salt + 13)
    broad = 0.5 * (pulse(u / scale, duty, wide) + pulse(v / scale, duty, wide))
    thin = max(pulse(u / scale + 0.4, 0.05, wide), pulse(v / scale + 0.4, 0.05, wide))
    return broad, 0.7 * thin, 1.0


@called
def dots(u: float, v: float, scale: float, salt: int, footprint: float) -> tuple[float, float, float]:
    """Paint a staggered grid of dots."""
    row = math.floor(v / scale)
    x = u / scale + (0.5 if row & 1 else 0.0)
    a, b = x - math.floor(x) - 0.5, v / scale - row - 0.5
    radius = 0.18 + 0.2 * trait(salt + 16)
    wide = footprint / scale
    mean = 3.14 * radius * radius
    return mean + _clear(wide) * (inside(radius - math.sqrt(a * a + b * b), wide) - mean), 0.0, 1.0


@called
def _clear(wide: float) -> float:
    """Return 1 where a pixel is much finer than a cell, 0 where it covers one: cells then show only their mean."""
    return min(1.0, max(0.0, 1.6 - 2.0 * wide))


@called
def speckle(u: float, v: float, scale: float, salt: int, footprint: float) -> tuple[float, float, float]:
    """Paint terrazzo, granite or confetti: at most one chip a cell, of random size, turn and colour."""
    i, j = math.floor(u / scale), math.floor(v / scale)
    a = u / scale - i - 0.2 - 0.6 * hashed(i, j, salt)
    b = v / scale - j - 0.2 - 0.6 * hashed(i, j, salt + 1)
    turn = hashed(i, j, salt + 2) - 0.5
    kind = hashed(i, j, salt + 3)
    wide = footprint / scale
    radius = 0.08 + 0.16 * hashed(i, j, salt + 4)
    chip = inside(radius - max(abs(a + turn * b), abs(b - turn * a)), wide) if kind < 0.75 else 0.0
    mean = 0.07
    chip = mean + _clear(wide) * (chip - mean)
    return (chip, 0.0, 1.0) if kind < 0.45 else (0.0, chip, 1.0)


@called
def weave(u: float, v: float, scale: float, salt: int, footprint: float) -> tuple[float, float, float]:
    """Paint carpet or cloth: threads that fade where they are too fine to be seen, and uneven dye."""
    fade = max(0.0, 1.0 - 2.0 * footprint / scale)
    threads = 0.0
    if fade > 0.0:
        threads = fade * math.sin(6.2832 * u / scale) * math.sin(6.2832 * v / scale)
    dye = fractal(u / (9.0 * scale), v / (9.0 * scale), salt, footprint / (9.0 * scale))
    return min(1.0, max(0.0, 0.5 + 0.35 * threads + 0.8 * dye)), 0.0, 1.0


@called
def dado(v: float, scale: float, footprint: float) -> tuple[float, float, float]:
    """Paint a wall in two colours: the second below the height `scale`, with a border of the third."""
    below = inside(scale - v, footprint)
    border = inside(0.02 - abs(v - scale), footprint)
    return below, border, 1.0
