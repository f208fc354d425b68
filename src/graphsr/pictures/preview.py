"""The picture that shows a result: guide, source and target, what interpolation gives, the graph, and a closer look."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from graphsr.pictures.colour import MISSING_COLOUR, Scale, as_picture, colourise, robust_range
from graphsr.pictures.graph import graph_picture
from graphsr.pictures.layout import Panel, sheet
from graphsr.pictures.palette import Picture
from graphsr.pictures.points import enlarged_points, has_few, is_sparse
from graphsr.pictures.zoom import Part, most_different, outlined

# Pixels on the longer side of a panel, and panels in a row; of images as wide, or as high, as `_LONG` times the other
# side there are fewer, or they are higher.
_PANEL, _COLUMNS = 480, 4
_WIDE_PANEL, _WIDE_COLUMNS = 960, 2
_HIGH_PANEL = 900
_LONG = 2.2

Size = tuple[int, int]


@dataclass(frozen=True)
class _Colours:
    """How values become colours: by a scale, or three channels as they are."""

    low: float
    high: float
    three_channels: bool

    @classmethod
    def of(cls, *maps: NDArray[Any]) -> _Colours:
        return cls(*robust_range(*map(_shown, maps)), three_channels=maps[0].ndim == 3 and maps[0].shape[2] == 3)

    def picture(self, image: NDArray[Any]) -> Picture:
        if not self.three_channels:
            return colourise(_first(image), self.low, self.high)
        share = (np.nan_to_num(image, nan=self.low) - self.low) / (self.high - self.low)
        picture = np.array(as_picture(np.rint(np.clip(share, 0, 1) * 255).astype(np.uint8)))
        picture[~np.isfinite(image).all(2)] = MISSING_COLOUR
        return picture

    def scales(self, units: str) -> list[Scale]:
        return [] if self.three_channels else [Scale(self.low, self.high, units)]


def preview(
    guide: NDArray[Any],
    source: NDArray[Any],
    target: NDArray[Any],
    units: str = "",
    *,
    interpolated: NDArray[Any] | None = None,
    edge_weights: tuple[NDArray[Any], NDArray[Any]] | None = None,
) -> Picture:
    """Show guide, source and target under one colour scale, and what lies between source and target.

    The source is enlarged without smoothing, so that its pixels can be seen; where few of them are known, as discs.
    With the interpolated source there is also a closer look at where the target differs from it most. Three channels
    are shown as colours, of others the first.

    Args:
        guide: (H, W) or (H, W, C).
        source: (h, w) or (h, w, K), NaN for missing.
        target: (H, W) or (H, W, K).
        units: Written above the colour scale.
        interpolated: The source interpolated without the guide, shaped like the target.
        edge_weights: Those down (H-1, W) and right (H, W-1).

    Returns:
        A picture (rows, columns, 3) of about 2000 columns at the most.
    """
    height, width = target.shape[:2]
    wide, high = width > _LONG * height, height > _LONG * width
    columns = _WIDE_COLUMNS if wide else _COLUMNS
    size = fitted((height, width), _WIDE_PANEL if wide else _HIGH_PANEL if high else _PANEL)
    colours = _Colours.of(source, target)
    part = None if interpolated is None else most_different(_shown(interpolated), _shown(target))
    scales = colours.scales(units)
    shown: list[Panel | None] = [
        Panel(_framed(resized(as_picture(guide), size), part, (height, width)), caption("guide", guide)),
        Panel(_source_picture(source, colours, size), caption("source", source)),
    ]
    if interpolated is not None:
        shown.append(Panel(resized(colours.picture(interpolated), size), "interpolated source"))
    target_picture = _framed(resized(colours.picture(target), size), part, (height, width))
    shown.append(Panel(target_picture, caption("target", target)))
    graph = None
    if edge_weights is not None:
        graph = Panel(resized(graph_picture(*edge_weights, size), size, sharp=True), "edge weights, dark: weak")
    if part is None or interpolated is None:
        shown += [] if graph is None else [graph]
    else:
        close = _Colours.of(interpolated[part], target[part])
        look = as_picture(guide)[part], close.picture(interpolated[part]), close.picture(target[part])
        names = "guide, closer", "interpolated, closer", "target, closer"
        first, *others = (Panel(resized(each, size), name) for each, name in zip(look, names, strict=True))
        shown += [first, graph, *others]
        scales = [*colours.scales(units or "whole"), *close.scales("closer")]
    return sheet([shown[n : n + columns] for n in range(0, len(shown), columns)], scales=scales)


def _source_picture(source: NDArray[Any], colours: _Colours, size: Size) -> Picture:
    if not colours.three_channels and is_sparse(_first(source), size):
        return colours.picture(enlarged_points(_first(source), size))
    return resized(colours.picture(source), size, sharp=True)


def _framed(picture: Picture, part: Part | None, size: Size) -> Picture:
    return picture if part is None else outlined(picture, part, size)


def fitted(size: Size, longest: int) -> Size:
    """Return the size (H, W) reduced to fit, or enlarged by a whole number, so that all pixels look alike."""
    share = longest / max(size)
    if share >= 1:
        return size[0] * int(share), size[1] * int(share)
    return max(1, round(size[0] * share)), max(1, round(size[1] * share))


def resized(picture: Picture, size: Size, *, sharp: bool = False) -> Picture:
    """Return the picture at another size (H, W): averaged when reduced, its pixels kept sharp when enlarged."""
    enlarged = size[0] >= picture.shape[0] and size[1] >= picture.shape[1]
    how = Image.Resampling.NEAREST if sharp or enlarged else Image.Resampling.BOX
    return np.asarray(Image.fromarray(picture).resize((size[1], size[0]), how))


def _shown(image: NDArray[Any]) -> NDArray[Any]:
    """Return the channels that are shown: three as colours, of others the first, whose range is its own."""
    return image if image.ndim == 3 and image.shape[2] == 3 else _first(image)


def _first(image: NDArray[Any]) -> NDArray[Any]:
    return image if image.ndim == 2 else image[..., 0]


def caption(name: str, image: NDArray[Any]) -> str:
    """Return what stands above an image: its name and size, what is shown of its channels, and what is missing of it.

    Args:
        name: "guide", whose channels need no words, or another.
        image: (H, W) or (H, W, C), NaN for missing.
    """
    text = f"{name}   {image.shape[1]} × {image.shape[0]}"
    if name == "guide":
        return text
    channels = image.shape[2] if image.ndim == 3 else 1
    if channels > 1:
        text += ", 3 channels as colours" if channels == 3 else f", channel 1 of {channels}"
    known = np.isfinite(_shown(image)).reshape(*image.shape[:2], -1).all(2)
    count = int(np.count_nonzero(known))
    if has_few(known):
        return f"{text}, {count:,} {'point' if count == 1 else 'points'}"
    return text if known.all() else f"{text}, {known.size - count:,} missing (grey)"
