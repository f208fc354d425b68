"""The bar that says which colour stands for which value."""

from __future__ import annotations

import math

import numpy as np
from PIL import Image, ImageDraw

from graphsr.pictures.colour import Scale
from graphsr.pictures.lettering import INK, draw_text, text_width

_STEPS = (1.0, 2.0, 2.5, 5.0, 10.0, 20.0)
_MOST_TICKS = 7


def ticks(low: float, high: float, most: int = _MOST_TICKS) -> list[float]:
    """Return round values inside [low, high]: as many as there are at an even step, but at most `most`."""
    power = 10.0 ** math.floor(math.log10((high - low) / most))
    for step in (s * power for s in _STEPS):
        first = math.ceil(low / step - 1e-9)
        last = math.floor(high / step + 1e-9)
        if last - first < most:
            break
    # Rounded because 3 * 0.1 is not 0.3; plus zero because -0.0 would be labelled "-0".
    return [round(i * step, 12) + 0.0 for i in range(first, last + 1)]


def tick_labels(values: list[float]) -> list[str]:
    """Return the ticks as text, all with the decimals that the finest needs."""
    largest = max((abs(value) for value in values), default=0.0)
    if largest >= 1e6 or 0 < largest < 1e-3:
        return [f"{value:.3g}" for value in values]
    decimals = max((_decimals(value) for value in values), default=0)
    return [f"{value:.{decimals}f}" for value in values]


def _decimals(value: float) -> int:
    return len(f"{value:.6f}".rstrip("0").split(".")[1])


def bar_width(scale: Scale, text_size: int) -> int:
    """Return the width that `draw_bar` needs, labels included."""
    labels = [*tick_labels(ticks(scale.low, scale.high)), scale.units]
    return _ramp_width(text_size) + text_size // 2 + max(text_width(label, text_size) for label in labels)


def draw_bar(canvas: Image.Image, scale: Scale, left: int, top: int, bottom: int, text_size: int) -> None:
    """Draw a vertical bar with the high values on top and the units above it."""
    width, height = _ramp_width(text_size), bottom - top
    table = scale.palette.table
    rows = table[np.rint(np.linspace(len(table) - 1, 0, height)).astype(int)]
    ramp = np.broadcast_to(rows[:, None], (height, width, 3))
    canvas.paste(Image.fromarray(np.ascontiguousarray(ramp)), (left, top))
    pen = ImageDraw.Draw(canvas)
    values = ticks(scale.low, scale.high, most=max(2, min(_MOST_TICKS, height // (2 * text_size))))
    for value, label in zip(values, tick_labels(values), strict=True):
        share = (value - scale.low) / (scale.high - scale.low)
        y = round(bottom - 1 - share * (height - 1))
        pen.line((left + width, y, left + width + text_size // 4, y), fill=INK)
        # Labels at the ends move inwards, to stay beside the bar.
        text_y = min(max(y, top + text_size * 0.45), bottom - text_size * 0.45)
        draw_text(canvas, (left + width + text_size // 2, text_y), label, text_size, anchor="lm")
    draw_text(canvas, (left, top - round(0.45 * text_size)), scale.units, text_size)


def _ramp_width(text_size: int) -> int:
    return round(1.1 * text_size)
