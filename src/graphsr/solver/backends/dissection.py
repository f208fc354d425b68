"""Nested dissection of the pixel lattice: in which order a direct solve eliminates the pixels.

Lines of pixels, about every sixteenth row and column, cut the target into blocks that touch each other nowhere else.
The pixels inside blocks are eliminated first, each block for itself, then the lines: two neighbouring regions are
joined by eliminating the part of the line between them, until one region is left. Lines run along the borders of source
pixels, so that no source pixel has pixels inside two blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from graphsr.axes import Axis

# Pixels from line to line, at most; a source pixel may be larger, up to the second number.
_SIDE, _LARGEST_SIDE = 16, 40


class Blocks(NamedTuple):
    """The blocks, as kernels read them; one row each."""

    inside: np.ndarray  # (N, 4) first row, last row + 1, first column, last column + 1 of the pixels inside
    cells: np.ndarray  # (N, 4) the same of the source pixels
    line_first: np.ndarray  # (N + 1,) where the line pixels of each block begin in line_pixels and line_places
    line_pixels: np.ndarray  # number (row * W + column) of each line pixel around a block
    line_places: np.ndarray  # its place among all line pixels


class Joins(NamedTuple):
    """Pairs of regions that are joined by eliminating the pixels between them: N pairs of one shape.

    Pixels are places among all line pixels: first those that are eliminated, then those around the joined region.
    """

    regions: np.ndarray  # (N, 2) numbers: blocks first, then joined regions
    joined: np.ndarray  # (N,) the number of each joined region
    maps: tuple[np.ndarray, np.ndarray]  # for each pixel around either region, where in a row of `pixels` it is
    pixels: np.ndarray  # (N, size)
    eliminated: int


@dataclass(frozen=True, eq=False)
class Dissection:
    """The order of elimination for one size and sampling."""

    blocks: Blocks
    joins: tuple[Joins, ...]
    line_pixels: np.ndarray  # number (row * W + column) of every line pixel


def cuts(along: Axis) -> np.ndarray | None:
    """Return the source pixels that a strip of blocks begins with, and at the end `cells`; None: they are too large.

    A strip begins after the first target pixel of its first source pixel, so that one must have another of its own.
    """
    begins = np.append(along.first[1:], along.size) - along.first >= 2
    begins |= along.step == 1
    chosen = [0]
    for cell in np.flatnonzero(begins)[1:].tolist():
        ends = along.size if cell + 1 == along.cells else int(along.first[cell + 1])
        last = int(along.first[chosen[-1]])
        if ends - last > _SIDE and along.first[cell] - last > 1:
            chosen.append(cell)
    found = np.append(chosen, along.cells)
    lines = np.append(along.first[found[:-1]], along.size)
    return found if np.diff(lines).max() <= _LARGEST_SIDE else None


@lru_cache(maxsize=16)
def dissection(rows: Axis, columns: Axis) -> Dissection | None:
    """Return the order of elimination; None where source pixels are too large for it, or the target is one block.

    A block that no line surrounds has a singular matrix if there is no prior.
    """
    row_cuts, column_cuts = cuts(rows), cuts(columns)
    if row_cuts is None or column_cuts is None or row_cuts.size == column_cuts.size == 2:
        return None
    row_lines, column_lines = (
        np.concatenate([[-1], along.first[each[1:-1]], [along.size]])
        for along, each in ((rows, row_cuts), (columns, column_cuts))
    )
    is_line = np.zeros((rows.size, columns.size), bool)
    is_line[row_lines[1:-1]] = True
    is_line[:, column_lines[1:-1]] = True
    line_pixels = np.flatnonzero(is_line)
    places = np.full(is_line.size, -1, np.int64)
    places[line_pixels] = np.arange(line_pixels.size)
    return _Builder(row_cuts, column_cuts, row_lines, column_lines, places, columns.size).build(line_pixels)


class _Builder:
    """Joins blocks to ever larger regions."""

    def __init__(
        self,
        row_cuts: np.ndarray,
        column_cuts: np.ndarray,
        row_lines: np.ndarray,
        column_lines: np.ndarray,
        places: np.ndarray,
        width: int,
    ) -> None:
        self.row_cuts, self.column_cuts = row_cuts, column_cuts
        self.row_lines, self.column_lines = row_lines, column_lines
        self.places, self.width = places, width
        # The joins of one shape that do not wait for each other: (level, shape) -> (regions, joined, maps, pixels).
        self.groups: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}

    def build(self, line_pixels: np.ndarray) -> Dissection:
        """Return the order; line_pixels are the numbers of all line pixels."""
        strips, across = self.row_cuts.size - 1, self.column_cuts.size - 1
        at = [(i, i + 1, j, j + 1) for i in range(strips) for j in range(across)]
        rings = [self._ring(*block) for block in at]
        rows, columns = self.row_lines, self.column_lines
        blocks = Blocks(
            inside=np.array([(rows[a] + 1, rows[b], columns[c] + 1, columns[d]) for a, b, c, d in at]),
            cells=np.array([(*self.row_cuts[a : b + 1], *self.column_cuts[c : d + 1]) for a, b, c, d in at]),
            line_first=np.concatenate([[0], np.cumsum([ring.size for ring in rings])]),
            line_pixels=line_pixels[np.concatenate(rings)],
            line_places=np.concatenate(rings),
        )
        self.across, self.count = across, len(at)
        self._join(0, strips, 0, across)
        joins = []
        for (_, eliminated, *_), group in sorted(self.groups.items(), key=lambda item: item[0][0]):
            regions, joined, maps, pixels = zip(*group, strict=True)
            joins.append(Joins(np.array(regions), np.array(joined), maps[0], np.stack(pixels), eliminated))
        return Dissection(blocks, tuple(joins), line_pixels)

    def _join(self, top: int, bottom: int, left: int, right: int) -> tuple[int, int, np.ndarray]:
        """Join the blocks of a region; return its number, its level and the line pixels around it."""
        if bottom - top == 1 and right - left == 1:
            return top * self.across + left, 0, self._ring(top, bottom, left, right)
        rows, columns = self.row_lines, self.column_lines
        height, width = rows[bottom] - rows[top], columns[right] - columns[left]
        if right - left == 1 or (bottom - top > 1 and height >= width):
            middle = _middle(rows, top, bottom)
            parts = (top, middle, left, right), (middle, bottom, left, right)
            between = rows[middle] * self.width + np.arange(columns[left] + 1, columns[right])
        else:
            middle = _middle(columns, left, right)
            parts = (top, bottom, left, middle), (top, bottom, middle, right)
            between = np.arange(rows[top] + 1, rows[bottom]) * self.width + columns[middle]
        regions = [self._join(*part) for part in parts]
        eliminated, ring = self.places[between], self._ring(top, bottom, left, right)
        pixels = np.concatenate([eliminated, ring])
        order = np.argsort(pixels)
        first, second = (order[np.searchsorted(pixels, around, sorter=order)] for _, _, around in regions)
        level = 1 + max(regions[0][1], regions[1][1])
        group = self.groups.setdefault((level, eliminated.size, first.tobytes(), second.tobytes()), [])
        number, self.count = self.count, self.count + 1
        group.append(((regions[0][0], regions[1][0]), number, (first, second), pixels))
        return number, level, ring

    def _ring(self, top: int, bottom: int, left: int, right: int) -> np.ndarray:
        """Return the places of the line pixels around a region."""
        rows, columns = self.row_lines, self.column_lines
        first, last = max(rows[top], 0), min(rows[bottom], rows[-1] - 1)
        down = np.arange(first, last + 1)
        along = np.arange(columns[left] + 1, columns[right])
        sides = [
            *(rows[n] * self.width + along for n in (top, bottom) if 0 <= rows[n] < rows[-1]),
            *(down * self.width + columns[n] for n in (left, right) if 0 <= columns[n] < columns[-1]),
        ]
        return np.asarray(self.places[np.concatenate(sides)]) if sides else np.empty(0, np.int64)  # of the whole


def _middle(lines: np.ndarray, first: int, last: int) -> int:
    """Return the line between two others that halves what lies between them best."""
    inner = lines[first + 1 : last]
    return first + 1 + int(np.abs(inner - 0.5 * (lines[first] + lines[last])).argmin())
