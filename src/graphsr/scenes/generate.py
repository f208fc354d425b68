"""Render a picture and its depth from a seed."""

from dataclasses import dataclass, replace
from operator import index
from random import Random

import numpy as np
from numpy.typing import NDArray

from graphsr.errors import InputError
from graphsr.scenes.builder import World
from graphsr.scenes.camera import project
from graphsr.scenes.layout import lay_out
from graphsr.scenes.render import render
from graphsr.scenes.sensor import Sensor, develop
from graphsr.scenes.tables import Table

_THUMBNAIL = (16, 16)


@dataclass(frozen=True)
class Scene:
    """A rendered scene.

    guide: (H, W, 3) uint8, RGB.
    depth: (H, W) float32, metres along the optical axis at each pixel's centre; exact, without holes.
    """

    guide: NDArray[np.uint8]
    depth: NDArray[np.float32]


def scene(seed: int, size: tuple[int, int] = (256, 256)) -> Scene:
    """Render the scene of a seed; another size shows the same view at another resolution.

    Args:
        seed: Any whole number. The same seed and size give the same bits.
        size: Height and width of the images, in pixels.

    Returns:
        The guide (H, W, 3) and its exact depth (H, W).

    Example:
        >>> from graphsr.scenes import scene
        >>> rendered = scene(7, (48, 64))
        >>> rendered.guide.shape, rendered.depth.shape
        ((48, 64, 3), (48, 64))
    """
    height, width = _check_size(size)
    world, view, sensor = choose_view(seed)
    image, depth = render(project(world, view, height, width), height, width)
    return Scene(develop(image, sensor), depth)


def choose_view(seed: int) -> tuple[World, Table, Sensor]:
    """Return the world of a seed, the view of it that shows most, and the camera."""
    rng = _generator(seed)
    world, views = lay_out(rng)
    sensor = Sensor.draw(rng)
    return world, max(views, key=lambda view: _rate_view(world, view)), sensor


def _rate_view(world: World, view: Table) -> float:
    """Rate how much a view shows: depth edges and range, nothing right before the lens."""
    projection = project(world, view, *_THUMBNAIL)
    unlit = replace(projection, ends=projection.ends._replace(lights=projection.ends.walls))
    depth = render(unlit, *_THUMBNAIL)[1]
    logarithm = np.log(depth)
    down, right = np.abs(np.diff(logarithm, axis=0)) > 0.08, np.abs(np.diff(logarithm, axis=1)) > 0.08
    return float(down.mean() + right.mean() + 0.5 * logarithm.std() - 3.0 * (depth < 0.45).mean())


def _generator(seed: int) -> Random:
    """Return the random numbers of a seed."""
    try:
        # A text is hashed whole; of a number, Random drops the sign.
        return Random(f"graphsr scene {index(seed)}")
    except TypeError:
        raise InputError(f"scene: seed must be a whole number, not {seed!r}") from None


def _check_size(size: tuple[int, int]) -> tuple[int, int]:
    """Return height and width as integers of Python."""
    try:
        height, width = (index(n) for n in size)
    except (TypeError, ValueError):
        raise InputError(f"scene: size must be two whole numbers (height, width), not {size!r}") from None
    if height < 1 or width < 1:
        raise InputError(f"scene: size must be at least 1 x 1, not {height} x {width}")
    return height, width
