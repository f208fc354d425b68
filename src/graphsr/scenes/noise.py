"""Hashes and value noise: repeatable randomness by place, without state."""

import math

from graphsr.scenes.jit import called


@called
def hashed(x: int, y: int, salt: int) -> float:
    """Return a number uniform in [0, 1) for a lattice place and a salt."""
    h = x * 374761393 + y * 668265263 + salt * 2246822519 + 3266489917
    h = (h ^ (h >> 13)) * 1274126177
    return ((h ^ (h >> 16)) & 0xFFFFFF) * (1.0 / 16777216.0)


@called
def trait(number: int) -> float:
    """Return a number uniform in [0, 1) that a pattern draws once, by its salt plus a number of its own."""
    return hashed(number, 7 * number, number)


@called
def value_noise(x: float, y: float, salt: int) -> float:
    """Return smooth noise in [0, 1] with one knot a unit."""
    i, j = math.floor(x), math.floor(y)
    a, b = x - i, y - j
    a, b = a * a * (3.0 - 2.0 * a), b * b * (3.0 - 2.0 * b)
    i, j = int(i), int(j)
    top = hashed(i, j, salt)
    top += (hashed(i + 1, j, salt) - top) * a
    low = hashed(i, j + 1, salt)
    low += (hashed(i + 1, j + 1, salt) - low) * a
    return top + (low - top) * b


@called
def fractal(x: float, y: float, salt: int, footprint: float) -> float:
    """Return three octaves around 0, about in [-0.7, 0.7], without those finer than `footprint` (in units of x)."""
    total, weight = 0.0, 1.0
    for octave in range(3):
        fade = min(1.0, 2.0 * (1.0 - footprint))
        if fade <= 0.0:
            break
        total += weight * fade * (value_noise(x, y, salt + octave) - 0.5)
        # A turn between octaves hides the lattice.
        x, y = 1.6 * x + 1.2 * y, 1.6 * y - 1.2 * x
        weight *= 0.5
        footprint *= 2.0
    return total


@called
def pulse(x: float, duty: float, footprint: float) -> float:
    """Return the box-filtered stripe: the share of [x ± footprint/2] within the first `duty` of a period of 1."""
    a, b = x - 0.5 * footprint, x + 0.5 * footprint
    i, j = math.floor(a), math.floor(b)
    below = i * duty + min(a - i, duty)
    return (j * duty + min(b - j, duty) - below) / footprint


@called
def inside(distance: float, footprint: float) -> float:
    """Return the coverage of a pixel whose centre is `distance` within an edge."""
    return min(1.0, max(0.0, 0.5 + distance / footprint))


@called
def interleaved(row: int, column: int) -> float:
    """Return a dither value in [0, 1), unlike at neighbouring pixels and even over any few of them.

    "Interleaved gradient noise", J. Jimenez, Next generation post processing in Call of Duty, 2014.
    """
    x = 0.06711056 * column + 0.00583715 * row
    x = 52.9829189 * (x - math.floor(x))
    return x - math.floor(x)
