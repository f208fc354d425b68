"""What a page can show: images of values or colours that lie on the guide."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphsr.graph import Edges
from graphsr.pictures import robust_range
from graphsr.pictures.graph import weaker_edge
from graphsr.viewer.pyramid import Pyramid, packed

Placement = tuple[float, float, float, float, float, float]
"""(a, b, c, d, e, f) maps x, y in pixels of a layer to a x + b y + c, d x + e y + f in pixels of the guide."""

_numbers = itertools.count(1)


@dataclass(frozen=True)
class ColourScale:
    """What the layers of one quantity have in common: their unit, and the colours to begin with."""

    title: str
    unit: str
    ranges: tuple[tuple[float, float], ...]  # the lowest and the highest colour's value, of each channel
    palette: str = "viridis"
    logarithmic: bool = False

    def as_json(self) -> dict[str, Any]:
        """Return what the page needs to know."""
        return {
            "title": self.title,
            "unit": self.unit,
            "ranges": [list(ends) for ends in self.ranges],
            "palette": self.palette,
            "logarithmic": self.logarithmic,
        }


@dataclass(frozen=True, eq=False)
class Layer:
    """An image that lies on the guide.

    Attributes:
        name: What it is: "guide", "target", ...
        title: As it is shown.
        scale: The name of its colour scale; "" for colours.
        values: (h, w, C): uint8 or float32 colours (C is 3), or float32 values of C channels, NaN for missing.
        offset: To be added to the values: numbers on a large offset would lose digits in single precision.
        placement: Where it lies.
        number: Unique, so that tiles of different solves are never mixed up.
    """

    name: str
    title: str
    scale: str
    values: NDArray[Any]
    placement: Placement
    offset: float = 0.0
    number: int = field(default_factory=lambda: next(_numbers))
    _pyramids: dict[int, Pyramid] = field(default_factory=dict, repr=False)

    @property
    def is_picture(self) -> bool:
        """Return whether it shows colours rather than values."""
        return not self.scale

    @property
    def channels(self) -> int:
        """Return the number of channels to choose from; 1 for colours."""
        return 1 if self.is_picture else self.values.shape[2]

    def plane(self, channel: int) -> NDArray[Any]:
        """Return the values (h, w) of a channel, or the colours (h, w, 3)."""
        return self.values if self.is_picture else self.values[..., channel]

    def tile(self, channel: int, level: int, column: int, row: int) -> bytes | None:
        """Return a tile of a level as bytes; None where there is none."""
        if not 0 <= channel < self.channels:
            return None
        # Two threads may both make one: then one of them is dropped.
        pyramid = self._pyramids.setdefault(channel, Pyramid(self.plane(channel)))
        tile = pyramid.tile(level, column, row)
        return None if tile is None else packed(tile)

    def samples(self, channel: int, step: int) -> bytes | None:
        """Return every `step`-th pixel of every `step`-th row as bytes: not averaged, so that jumps stay jumps."""
        if not 0 <= channel < self.channels or step < 1:
            return None
        return packed(self.plane(channel)[::step, ::step])

    def as_json(self) -> dict[str, Any]:
        """Return what the page needs to know."""
        low, high = (0.0, 255.0) if self.values.dtype == np.uint8 else (0.0, 1.0)
        if self.is_picture and self.values.dtype != np.uint8:
            low, high = robust_range(self.values)
        return {
            "number": self.number,
            "name": self.name,
            "title": self.title,
            "scale": self.scale,
            "height": self.values.shape[0],
            "width": self.values.shape[1],
            "channels": self.channels,
            "bytes": self.values.dtype == np.uint8,
            "range": [low, high],
            "offset": self.offset,
            "placement": list(self.placement),
        }


def edge_to_edge(size: tuple[int, int], guide_size: tuple[int, int]) -> Placement:
    """Return the placement of an image (h, w) that covers the guide (H, W)."""
    return guide_size[1] / size[1], 0.0, 0.0, 0.0, guide_size[0] / size[0], 0.0


def value_layer(
    name: str, title: str, values: NDArray[Any], guide_size: tuple[int, int], *, scale: str = "values"
) -> Layer:
    """Return a layer of values (h, w) or (h, w, K), edge to edge on the guide."""
    image = values if values.ndim == 3 else values[..., None]
    offset = 0.0
    if image.dtype == np.float64:
        known = image[np.isfinite(image)]
        offset = float(known.mean()) if known.size else 0.0
    small = np.ascontiguousarray(image - offset if offset else image, dtype=np.float32)
    small = np.where(np.isfinite(small), small, np.float32(np.nan)) if not np.isfinite(small).all() else small
    return Layer(name, title, scale, small, edge_to_edge((image.shape[0], image.shape[1]), guide_size), offset)


def guide_layer(guide: NDArray[Any]) -> Layer:
    """Return the guide (H, W) or (H, W, C) as colours: the first three channels, or the first of fewer."""
    channels = guide if guide.ndim == 3 else guide[..., None]
    channels = channels[..., :3] if channels.shape[2] >= 3 else channels[..., :1]
    if channels.dtype != np.uint8:
        channels = channels.astype(np.float32)
    size = channels.shape[0], channels.shape[1]
    colours = np.ascontiguousarray(np.broadcast_to(channels, (*size, 3)))
    return Layer("guide", "Guide", "", colours, edge_to_edge(size, size))


def edge_weight_layer(edges: Edges) -> Layer:
    """Return the weaker of the edge weights below and right of every pixel, as previews show it."""
    weaker = weaker_edge(edges.down.float().numpy(), edges.right.float().numpy())
    return value_layer("edges", "Edge weights", weaker, edges.size, scale="edges")
