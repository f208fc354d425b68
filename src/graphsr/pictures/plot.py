"""Line plots, drawn as plainly as the other pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image, ImageDraw

from graphsr.pictures.lettering import INK, PAPER, draw_text, draw_upwards
from graphsr.pictures.palette import Picture
from graphsr.pictures.scale_bar import tick_labels, ticks

# Blue, orange, grey, green: told apart by everybody (M. Okabe and K. Ito, 2008).
_COLOURS = ((0, 114, 178), (230, 159, 0), (120, 120, 120), (0, 158, 115), (204, 121, 167))
_GRID = (226, 226, 230)
_SIDE = 380
_TEXT = 14


@dataclass(frozen=True, eq=False)
class Line:
    """One line of a plot: x and y (N,), and its name in the legend."""

    x: np.ndarray
    y: np.ndarray
    name: str


def line_plot(
    lines: Sequence[Line],
    *,
    title: str,
    x_label: str,
    y_label: str,
    x_range: tuple[float, float],
    y_range: tuple[float, float],
) -> Picture:
    """Draw lines over common axes.

    Args:
        lines: In the order of the legend, at most five.
        title: A line above.
        x_label: What x is, with its unit.
        y_label: What y is.
        x_range: The ends of the x axis.
        y_range: The ends of the y axis; what lies beyond is not shown.

    Returns:
        The picture (H, W, 3).
    """
    left, top = 5 * _TEXT, 3 * _TEXT
    bottom, right = top + _SIDE, left + _SIDE
    legend = round(1.5 * _TEXT) * len(lines)
    canvas = Image.new("RGB", (right + 2 * _TEXT, bottom + 4 * _TEXT + legend), PAPER)
    pen = ImageDraw.Draw(canvas)

    def at(x: float, y: float) -> tuple[float, float]:
        across = (x - x_range[0]) / (x_range[1] - x_range[0])
        up = (y - y_range[0]) / (y_range[1] - y_range[0])
        return left + across * _SIDE, bottom - up * _SIDE

    for x, label in _labelled(x_range):
        pen.line((*at(x, y_range[0]), *at(x, y_range[1])), fill=_GRID)
        draw_text(canvas, (at(x, 0)[0], bottom + 0.4 * _TEXT), label, _TEXT, anchor="mt")
    for y, label in _labelled(y_range):
        pen.line((*at(x_range[0], y), *at(x_range[1], y)), fill=_GRID)
        draw_text(canvas, (left - 0.4 * _TEXT, at(0, y)[1]), label, _TEXT, anchor="rm")
    pen.rectangle((left, top, right, bottom), outline=INK)
    for place, (line, colour) in enumerate(zip(lines, _COLOURS, strict=False)):
        inside = (line.y >= y_range[0]) & (line.y <= y_range[1])
        points = [at(float(x), float(y)) for x, y in zip(line.x[inside], line.y[inside], strict=True)]
        pen.line(points, fill=colour, width=2)
        height = bottom + round((3.6 + 1.5 * place) * _TEXT)
        pen.line((left, height, left + 2 * _TEXT, height), fill=colour, width=3)
        draw_text(canvas, (left + 2.6 * _TEXT, height), line.name, _TEXT, anchor="lm")
    draw_text(canvas, (left, top - 0.7 * _TEXT), title, round(1.1 * _TEXT))
    draw_text(canvas, ((left + right) / 2, bottom + 1.7 * _TEXT), x_label, _TEXT, anchor="mt")
    draw_upwards(canvas, (_TEXT, (top + bottom) // 2), y_label, _TEXT)
    return np.asarray(canvas)


def _labelled(ends: tuple[float, float]) -> list[tuple[float, str]]:
    values = ticks(*ends)
    return list(zip(values, tick_labels(values), strict=True))
