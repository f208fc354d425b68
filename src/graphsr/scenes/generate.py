"""From a seed to a picture and its depth."""

from dataclasses import dataclass, replace
from operator import index
from random import Random

import numpy as np
from numpy.typing import NDArray

from graphsr.errors import InputError
from graphsr.scenes.builder import World
from graphsr.scenes.camera import set_stage
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
    """The scene of a seed at size (height, width); another size shows the same view at another resolution."""
    height, width = _checked(size)
    rng = _chance(seed)
    world, views = lay_out(rng)
    sensor = Sensor.draw(rng)
    view = max(views, key=lambda view: _interest(world, view))
    image, depth = render(set_stage(world, view, height, width), height, width)
    return Scene(develop(image, sensor), depth)


def _interest(world: World, view: Table) -> float:
    """How much there is to see in a view: depth edges and range, nothing right before the lens."""
    stage = set_stage(world, view, *_THUMBNAIL)
    unlit = replace(stage, ends=stage.ends._replace(lights=stage.ends.walls))
    depth = render(unlit, *_THUMBNAIL)[1]
    logarithm = np.log(depth)
    down, right = np.abs(np.diff(logarithm, axis=0)) > 0.08, np.abs(np.diff(logarithm, axis=1)) > 0.08
    return float(down.mean() + right.mean() + 0.5 * logarithm.std() - 3.0 * (depth < 0.45).mean())


def _chance(seed: int) -> Random:
    try:
        # A text is hashed whole; of a number, Random drops the sign.
        return Random(f"graphsr scene {index(seed)}")
    except TypeError:
        raise InputError(f"scene: seed must be a whole number, not {seed!r}") from None


def _checked(size: tuple[int, int]) -> tuple[int, int]:
    try:
        height, width = (index(n) for n in size)
    except (TypeError, ValueError):
        raise InputError(f"scene: size must be two whole numbers (height, width), not {size!r}") from None
    if height < 1 or width < 1:
        raise InputError(f"scene: size must be at least 1 x 1, not {height} x {width}")
    return height, width
