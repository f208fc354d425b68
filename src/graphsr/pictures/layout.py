"""Pictures side by side, or in rows and columns, with captions and scale bars."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from PIL import Image

from graphsr.errors import InputError
from graphsr.pictures.colour import Scale
from graphsr.pictures.lettering import PAPER, draw_text, draw_upwards, shortened, wrapped
from graphsr.pictures.palette import Picture
from graphsr.pictures.scale_bar import bar_width, draw_bar

_CAPTION_LINES = 3  # at the most, above panels that are narrow


@dataclass(frozen=True, eq=False)
class Panel:
    """A picture (H, W, 3) with a caption above it."""

    picture: Picture
    caption: str = ""

    @property
    def width(self) -> int:
        """The picture's width in pixels."""
        return int(self.picture.shape[1])

    @property
    def height(self) -> int:
        """The picture's height in pixels."""
        return int(self.picture.shape[0])


@dataclass(frozen=True)
class _Grid:
    """The positions and sizes of rows, columns and text, in pixels of the sheet."""

    text_size: int
    margin: int
    column_left: list[int]
    column_width: list[int]
    row_top: list[int]
    row_height: list[int]

    @property
    def right(self) -> int:
        return self.column_left[-1] + self.column_width[-1]

    @property
    def bottom(self) -> int:
        return self.row_top[-1] + self.row_height[-1]


def panels(pictures: Sequence[Panel], *, scale: Scale | None = None, title: str = "") -> Picture:
    """Lay out pictures side by side.

    Args:
        pictures: In order from the left; they may differ in size.
        scale: The colour scale that they share.
        title: A line above all.

    Returns:
        The sheet (H, W, 3).
    """
    return sheet([pictures], scales=() if scale is None else (scale,), title=title)


def sheet(
    rows: Sequence[Sequence[Panel | None]],
    *,
    scales: Sequence[Scale] = (),
    column_titles: Sequence[str] = (),
    row_titles: Sequence[str] = (),
    title: str = "",
) -> Picture:
    """Lay out pictures in rows and columns.

    Args:
        rows: The panels of every row, None for an empty place; rows may differ in length.
        scales: The colour scales, drawn at the right.
        column_titles: A line above every column.
        row_titles: A line upwards beside every row.
        title: A line above all.

    Returns:
        The sheet (H, W, 3).
    """
    grid = _grid(rows, column_titles, row_titles, title)
    bars = sum(bar_width(scale, grid.text_size) + grid.margin for scale in scales)
    canvas = Image.new("RGB", (grid.right + bars + grid.margin, grid.bottom + grid.margin), PAPER)
    above = round(0.45 * grid.text_size)
    for row, top, height in zip(rows, grid.row_top, grid.row_height, strict=True):
        for panel, left, width in zip(row, grid.column_left, grid.column_width, strict=False):
            if panel is None:
                continue
            at = (left + (width - panel.width) // 2, top + (height - panel.height) // 2)
            canvas.paste(Image.fromarray(panel.picture), at)
            lines = wrapped(panel.caption, grid.text_size, width, _CAPTION_LINES)
            for n, line in enumerate(reversed(lines)):
                draw_text(canvas, (at[0], at[1] - above - n * _line(grid.text_size)), line, grid.text_size)
    _draw_titles(canvas, grid, rows, column_titles, row_titles, title)
    left = grid.right + grid.margin
    for scale in scales:
        draw_bar(canvas, scale, left, grid.row_top[0], grid.bottom, grid.text_size)
        left += bar_width(scale, grid.text_size) + grid.margin
    return np.asarray(canvas)


def _draw_titles(
    canvas: Image.Image,
    grid: _Grid,
    rows: Sequence[Sequence[Panel | None]],
    column_titles: Sequence[str],
    row_titles: Sequence[str],
    title: str,
) -> None:
    size = grid.text_size
    if title:
        draw_text(canvas, (grid.margin, grid.margin + size), title, round(1.25 * size))
    captions = _caption_lines(rows[0], grid.column_width, size) * _line(size)
    base = grid.row_top[0] - captions - round(0.45 * size)
    for text, left, width in zip(column_titles, grid.column_left, grid.column_width, strict=False):
        draw_text(canvas, (left + width / 2, base), shortened(text, size, width), size, anchor="ms")
    for text, top, height in zip(row_titles, grid.row_top, grid.row_height, strict=False):
        draw_upwards(canvas, (grid.margin + size // 2, top + height // 2), shortened(text, size, height), size)


def _grid(
    rows: Sequence[Sequence[Panel | None]],
    column_titles: Sequence[str],
    row_titles: Sequence[str],
    title: str,
) -> _Grid:
    shown = [panel for row in rows for panel in row if panel is not None]
    if not shown:
        raise InputError("rows: a sheet needs at least one picture")
    columns = max(len(row) for row in rows)
    widths = [max(_width(row, i) for row in rows) for i in range(columns)]
    heights = [max((panel.height for panel in row if panel is not None), default=0) for row in rows]
    # Letters in proportion to the pictures, so that they can be read when a large sheet is shown small.
    size = int(np.clip(max(panel.width for panel in shown) / 28, 13, 24))
    margin, gap = round(1.2 * size), round(0.8 * size)
    left = margin + (round(1.4 * size) + gap // 2 if row_titles else 0)
    column_left = [left + sum(widths[:i]) + i * gap for i in range(columns)]
    top = margin + (round(2.0 * size) if title else 0) + (_line(size) if column_titles else 0)
    row_top = []
    for row, height in zip(rows, heights, strict=True):
        top += _caption_lines(row, widths, size) * _line(size)
        row_top.append(top)
        top += height + gap
    return _Grid(size, margin, column_left, widths, row_top, heights)


def _width(row: Sequence[Panel | None], column: int) -> int:
    panel = row[column] if column < len(row) else None
    return 0 if panel is None else panel.width


def _line(text_size: int) -> int:
    return round(1.55 * text_size)


def _caption_lines(row: Sequence[Panel | None], widths: Sequence[int], text_size: int) -> int:
    """Return the lines of the longest caption of a row."""
    shown = [(panel, width) for panel, width in zip(row, widths, strict=False) if panel is not None]
    return max((len(wrapped(panel.caption, text_size, width, _CAPTION_LINES)) for panel, width in shown), default=0)
