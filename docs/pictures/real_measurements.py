"""Draw the pictures of docs/real-measurements.md: python docs/pictures/real_measurements.py

One rendered room, the faults of a sensor added to its exact depth, and the targets without and with the option that
helps. All arguments that are given are names of pictures to draw; by default all are drawn.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image

import graphsr
from graphsr.data.degradation import Degradation, degrade
from graphsr.pictures import Panel, Scale, as_picture, colourise, panels
from graphsr.scenes import scene

IMAGES = Path(__file__).parents[1] / "images"
SEED, SIZE, FACTOR = 12, (256, 256), 8
ROOM = scene(SEED, SIZE)
LOW, HIGH = float(ROOM.depth.min()), float(ROOM.depth.max())


def measured(how: str) -> np.ndarray:
    """Return the source (h, w) that a sensor with these faults gives of the room."""
    source_size = (SIZE[0] // FACTOR, SIZE[1] // FACTOR)
    return degrade(ROOM.depth, source_size, Degradation.parse(how), np.random.default_rng(0))


def panel(caption: str, depth: np.ndarray) -> Panel:
    """Return a depth map at the size of the guide; a target's caption says its error."""
    if depth.shape == SIZE:
        caption += f": {100 * np.sqrt(np.mean((depth - ROOM.depth) ** 2)):.1f} cm"
    else:
        depth = depth.repeat(FACTOR, 0).repeat(FACTOR, 1)
    return Panel(colourise(depth, LOW, HIGH), caption)


def draw(name: str, shown: list[Panel]) -> None:
    """Write a picture; captions of targets are RMSE."""
    scale = Scale(LOW, HIGH, "m")
    picture = Image.fromarray(panels([Panel(as_picture(ROOM.guide), "guide"), *shown], scale=scale))
    picture.save(IMAGES / f"{name}.jpg", quality=88, subsampling=0, optimize=True)


def noise() -> None:
    source = measured("noise=0.03")
    draw(
        "noise",
        [
            panel("source", source),
            panel("colour", graphsr.upsample(ROOM.guide, source, model="colour").target),
            panel('colour, noise="auto"', graphsr.upsample(ROOM.guide, source, model="colour", noise="auto").target),
            panel("default", graphsr.upsample(ROOM.guide, source).target),
        ],
    )


def outliers() -> None:
    source = measured("outliers=0.05")
    draw(
        "outliers",
        [
            panel("source", source),
            panel("colour", graphsr.upsample(ROOM.guide, source, model="colour").target),
            panel("colour, robust=True", graphsr.upsample(ROOM.guide, source, model="colour", robust=True).target),
            panel("default", graphsr.upsample(ROOM.guide, source).target),
        ],
    )


def confidence() -> None:
    source = measured("noise=0.03")
    targets = {  # of a model that predicts no confidence of its own
        each: graphsr.upsample(ROOM.guide, source, model="colour", confidence=each).target
        for each in (1, 1e-2, 1e-4, 1e-6)
    }
    draw("confidence", [panel(f"{each:g}", target) for each, target in targets.items()])


PICTURES = {each.__name__: each for each in (noise, outliers, confidence)}

if __name__ == "__main__":
    for chosen in sys.argv[1:] or PICTURES:
        PICTURES[chosen]()
