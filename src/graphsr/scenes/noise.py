"""Hashes and value noise: repeatable randomness by place, without state."""

import math

from graphsr.scenes.jit import called


@called
def hashed(x: int, y: int, salt: int) -> float:
    """Uniform in [0, 1) for a lattice place and a salt."""
    h = x * 374761393 + y * 668265263 + salt * 2246822519 + 3266489917
    h = (h ^ (h >> 13)) * 1274126177
    return ((h ^ (h >> 16)) & 0xFFFFFF) * (1.0 / 16777216.0)


@called
def trait(number: int) -> float:
    """Uniform in [0, 1): what a pattern draws once for itself, by its salt plus a number of its own."""
    return hashed(number, 7 * number, number)


@called
def value_noise(x: float, y: float, salt: int) -> float:
    """Smooth noise in [0, 1] with one knot a unit."""
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
def fractal(x: float, y: float, salt: int, foot: float) -> float:
    """Three octaves around 0, about in [-0.7, 0.7]; those finer than `foot` (in units of x) are left out."""
    total, weight = 0.0, 1.0
    for octave in range(3):
        fade = min(1.0, 2.0 * (1.0 - foot))
        if fade <= 0.0:
            break
        total += weight * fade * (value_noise(x, y, salt + octave) - 0.5)
        # A turn between octaves hides the lattice.
        x, y = 1.6 * x + 1.2 * y, 1.6 * y - 1.2 * x
        weight *= 0.5
        foot *= 2.0
    return total


@called
def pulse(x: float, duty: float, foot: float) -> float:
    """Share of [x - foot/2, x + foot/2] within the first `duty` of a period of 1: stripes, box-filtered."""
    a, b = x - 0.5 * foot, x + 0.5 * foot
    i, j = math.floor(a), math.floor(b)
    below = i * duty + min(a - i, duty)
    return (j * duty + min(b - j, duty) - below) / foot


@called
def inside(distance: float, foot: float) -> float:
    """Coverage of a pixel whose centre is `distance` within an edge."""
    return min(1.0, max(0.0, 0.5 + distance / foot))


@called
def interleaved(row: int, column: int) -> float:
    """In [0, 1): unlike at neighbouring pixels and even over any few of them, so that dither looks smooth.

    "Interleaved gradient noise", J. Jimenez, Next generation post processing in Call of Duty, 2014.
    """
    x = 0.06711056 * column + 0.00583715 * row
    x = 52.9829189 * (x - math.floor(x))
    return x - math.floor(x)
