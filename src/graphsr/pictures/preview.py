"""The picture that shows a result: guide, source and target side by side."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from graphsr.pictures.colour import Scale, as_picture, colourise, robust_range
from graphsr.pictures.layout import Panel, panels, sheet
from graphsr.pictures.palette import Picture

_PANEL = 640  # pixels on the longer side of a panel
_WIDE_PANEL = 1280
_WIDE = 2.2  # width over height from which panels are stacked


def preview(guide: NDArray[Any], source: NDArray[Any], target: NDArray[Any], units: str = "") -> Picture:
    """Show guide, source and target under one colour scale.

    The source is enlarged without smoothing, so that its pixels can be seen. Three channels are shown as colours, of
    others the first.

    Args:
        guide: (H, W) or (H, W, C).
        source: (h, w) or (h, w, K), NaN for missing.
        target: (H, W) or (H, W, K).
        units: Written above the colour scale.

    Returns:
        A picture (rows, columns, 3), reduced to about 2000 columns if it would be larger.
    """
    height, width = target.shape[:2]
    stacked = width > _WIDE * height
    size = fitted((height, width), _WIDE_PANEL if stacked else _PANEL)
    scale, (coarse, fine) = _coloured(source, target, units)
    shown = [
        Panel(resized(as_picture(guide), size), _caption("guide", guide)),
        Panel(resized(coarse, size, sharp=True), _caption("source", source)),
        Panel(resized(fine, size), _caption("target", target)),
    ]
    if stacked:
        return sheet([[panel] for panel in shown], scales=() if scale is None else (scale,))
    return panels(shown, scale=scale)


def fitted(size: tuple[int, int], longest: int) -> tuple[int, int]:
    """Return the size (H, W) reduced to fit, or enlarged by a whole number, so that all pixels look alike."""
    share = longest / max(size)
    if share >= 1:
        return size[0] * int(share), size[1] * int(share)
    return max(1, round(size[0] * share)), max(1, round(size[1] * share))


def resized(picture: Picture, size: tuple[int, int], *, sharp: bool = False) -> Picture:
    """Return the picture at another size (H, W): averaged when reduced, its pixels kept sharp when enlarged."""
    enlarged = size[0] >= picture.shape[0] and size[1] >= picture.shape[1]
    how = Image.Resampling.NEAREST if sharp or enlarged else Image.Resampling.BOX
    return np.asarray(Image.fromarray(picture).resize((size[1], size[0]), how))


def _coloured(source: NDArray[Any], target: NDArray[Any], units: str) -> tuple[Scale | None, tuple[Picture, Picture]]:
    low, high = robust_range(source, target)
    if source.ndim == 3 and source.shape[2] == 3:
        return None, (_as_colours(source, low, high), _as_colours(target, low, high))
    scale = Scale(low, high, units)
    return scale, (colourise(_first(source), low, high), colourise(_first(target), low, high))


def _as_colours(image: NDArray[Any], low: float, high: float) -> Picture:
    return as_picture(
        np.rint(np.clip((np.nan_to_num(image, nan=low) - low) / (high - low), 0, 1) * 255).astype(np.uint8)
    )


def _first(image: NDArray[Any]) -> NDArray[Any]:
    return image if image.ndim == 2 else image[..., 0]


def _caption(name: str, image: NDArray[Any]) -> str:
    size = f"{name}   {image.shape[1]} × {image.shape[0]}"
    if name != "guide" and image.ndim == 3 and image.shape[2] not in (1, 3):
        return f"{size}, channel 1 of {image.shape[2]}"
    return size
