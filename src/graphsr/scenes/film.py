"""Frames of a rendered scene in which a piece of furniture or the camera moves."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from graphsr.scenes.camera import project
from graphsr.scenes.generate import Scene, choose_view
from graphsr.scenes.render import render
from graphsr.scenes.sensor import develop
from graphsr.scenes.tables import CENTRE, EYE, FORWARD, RIGHT

_TOGETHER = 0.4  # metres: shapes so near to each other move as one


def film(
    seed: int, frames: int, size: tuple[int, int] = (256, 256), *, thing: float = 0.0, camera: float = 0.0
) -> Iterator[Scene]:
    """Render the frames of a film, each with noise of its own.

    Args:
        seed: Of the scene, as in `scene`.
        frames: How many.
        size: Height and width, in pixels.
        thing: How far the shapes nearest to the middle of the view move to the right, in metres a frame.
        camera: How far the camera moves to the right, in metres a frame.

    Returns:
        The frames, rendered when they are asked for.
    """
    world, view, sensor = choose_view(seed)
    right = view[RIGHT : RIGHT + 3]
    away = world.shapes[:, CENTRE : CENTRE + 3] - view[EYE : EYE + 3]
    depth = away @ view[FORWARD : FORWARD + 3]
    aside = np.linalg.norm(away - depth[:, None] * view[FORWARD : FORWARD + 3], axis=1)
    middle = int(np.argmin(np.where(depth > 0.3, aside / np.maximum(depth, 0.3), np.inf)))
    moves = np.linalg.norm(away - away[middle], axis=1) < _TOGETHER
    for n in range(frames):
        shapes, eye = world.shapes.copy(), view.copy()
        shapes[moves, CENTRE : CENTRE + 3] += n * thing * right
        eye[EYE : EYE + 3] += n * camera * right
        image, found = render(project(replace(world, shapes=shapes), eye, *size), *size)
        yield Scene(develop(image, replace(sensor, noise_seed=(sensor.noise_seed + n) % 2**32)), found)
