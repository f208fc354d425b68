"""Colour maps of even perceptual steps, as a few control points and straight lines between them."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

Picture = NDArray[np.uint8]
"""An sRGB picture (H, W, 3)."""

_ENTRIES = 256


@dataclass(frozen=True, eq=False)
class Palette:
    """Colours from low to high, from control points at equal distances."""

    control_points: tuple[str, ...]
    table: Picture = field(init=False, repr=False)

    def __post_init__(self) -> None:
        points = np.array([list(bytes.fromhex(point)) for point in self.control_points], np.float64)
        at = np.linspace(0, len(points) - 1, _ENTRIES)
        channels = [np.interp(at, np.arange(len(points)), points[:, i]) for i in range(3)]
        object.__setattr__(self, "table", np.rint(np.stack(channels, axis=-1)).astype(np.uint8))


# Ten equidistant colours of viridis and of magma (S. van der Walt and N. Smith, 2015; CC0).
VALUES = Palette(("440154", "482878", "3e4989", "31688e", "26828e", "1f9e89", "35b779", "6ece58", "b5de2b", "fde725"))
ERRORS = Palette(("000004", "180f3d", "440f76", "721f81", "9e2f7f", "cd4071", "f1605d", "fd9668", "feca8d", "fcfdbf"))
