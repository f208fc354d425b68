"""Positions of source pixels under guide pixels."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from graphsr.errors import InputError
from graphsr.sampling import Sampling

# Shares of a pixel below this are rounding of two geotransforms, not a shift.
_ROUNDING = 1e-3
_DIGITS = 7


@dataclass(frozen=True, order=True)
class Box:
    """A rectangle of whole pixels, guide's or source's; it may reach beyond the image."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def size(self) -> tuple[int, int]:
        """Return (rows, columns)."""
        return self.bottom - self.top, self.right - self.left

    @property
    def rows(self) -> tuple[int, int]:
        return self.top, self.bottom

    @property
    def columns(self) -> tuple[int, int]:
        return self.left, self.right

    @property
    def empty(self) -> bool:
        return self.bottom <= self.top or self.right <= self.left

    def clipped(self, size: tuple[int, int]) -> Box:
        """Return the part of it that lies inside an image of `size`."""
        return self & Box(0, 0, *size)

    def __and__(self, other: Box) -> Box:
        return Box(
            max(self.top, other.top),
            max(self.left, other.left),
            min(self.bottom, other.bottom),
            min(self.right, other.right),
        )

    def slices(self, within: Box | None = None) -> tuple[slice, slice]:
        """Return the slices that cut it out of an array that holds the box `within`, or the whole image."""
        top, left = (within.top, within.left) if within is not None else (0, 0)
        return slice(self.top - top, self.bottom - top), slice(self.left - left, self.right - left)

    def aligned(self, multiple: int, margin: int = 0) -> Box:
        """Return it grown to multiples of `multiple`, and by `margin` more of them."""
        return Box(
            (self.top // multiple - margin) * multiple,
            (self.left // multiple - margin) * multiple,
            (-(-self.bottom // multiple) + margin) * multiple,
            (-(-self.right // multiple) + margin) * multiple,
        )


@dataclass(frozen=True)
class Grid:
    """A guide over a source: source pixel n covers [origin + n step, origin + (n + 1) step) in guide pixels.

    Attributes:
        size: (H, W) of the guide.
        source_size: (h, w) of the source.
        origin: Where source pixel (0, 0) begins, down and right.
        step: What a source pixel measures, down and right.
    """

    size: tuple[int, int]
    source_size: tuple[int, int]
    origin: tuple[float, float]
    step: tuple[float, float]

    def __post_init__(self) -> None:
        if min(self.step) < 1:
            down, right = self.step
            raise InputError(
                f"a source pixel measures {right:.4g} x {down:.4g} guide pixels, but the guide must be the finer one "
                "(are the two swapped?)"
            )
        if self.covered.empty:
            raise InputError("guide and source do not overlap")

    @classmethod
    def edge_to_edge(cls, size: tuple[int, int], source_size: tuple[int, int]) -> Grid:
        """Return the grid of two images of the same view."""
        step = size[0] / source_size[0], size[1] / source_size[1]
        return cls(size, source_size, (0.0, 0.0), step)

    @classmethod
    def placed(
        cls,
        size: tuple[int, int],
        source_size: tuple[int, int],
        origin: tuple[float, float],
        step: tuple[float, float],
    ) -> Grid:
        """Return the grid of a source at `origin`; differences of a thousandth of a pixel are taken for rounding."""
        steps = [_whole(step[n], _ROUNDING / source_size[n]) for n in range(2)]
        return cls(
            size,
            source_size,
            (_whole(origin[0], _ROUNDING), _whole(origin[1], _ROUNDING)),
            (steps[0], steps[1]),
        )

    @property
    def source_extent(self) -> Box:
        """Return the source pixels under the guide, also those that the source does not have."""
        return self.source_box(Box(0, 0, *self.size))

    @property
    def covered(self) -> Box:
        """Return the pixels of the source that lie under the guide."""
        return self.source_extent.clipped(self.source_size)

    def source_box(self, box: Box) -> Box:
        """Return the source pixels under a box of the guide, but for those that reach less than a pixel into it."""
        top, bottom = self._source_pixels_along(0, *box.rows)
        left, right = self._source_pixels_along(1, *box.columns)
        return Box(top, left, bottom, right)

    def _source_pixels_along(self, n: int, begin: int, end: int) -> tuple[int, int]:
        origin, step = self.origin[n], self.step[n]
        first = math.floor(round((begin - origin) / step, _DIGITS))
        last = math.ceil(round((end - origin) / step, _DIGITS))
        whole = 1 - 10.0**-_DIGITS
        if last - first > 1 and origin + (first + 1) * step - begin < whole:
            first += 1
        if last - first > 1 and end - (origin + (last - 1) * step) < whole:
            last -= 1
        return first, last

    def has_middle_in(self, box: Box, source_box: Box) -> np.ndarray:
        """Return which pixels (h, w) of a box of the source have their middle in a box of the guide."""
        down, right = (
            [begin <= self.origin[n] + (pixel + 0.5) * self.step[n] < end for pixel in range(*pixels)]
            for n, ((begin, end), pixels) in enumerate(((box.rows, source_box.rows), (box.columns, source_box.columns)))
        )
        return np.logical_and.outer(down, right)

    def sampling(self, box: Box, source_box: Box, footprint: str = "box") -> Sampling:
        """Return D between a box of the guide and the source pixels under it."""
        begin = [(self.origin[0], source_box.top, box.top), (self.origin[1], source_box.left, box.left)]
        origin = [round(o + first * s - start, _DIGITS) for (o, first, start), s in zip(begin, self.step, strict=True)]
        return Sampling(box.size, source_box.size, origin=(origin[0], origin[1]), step=self.step, footprint=footprint)

    def visible_shares(self, box: Box, source_box: Box) -> np.ndarray:
        """Return the share of each source pixel that lies in a box of the guide, (h, w)."""
        rows = self._visible_along(0, *box.rows, *source_box.rows)
        columns = self._visible_along(1, *box.columns, *source_box.columns)
        return np.outer(rows, columns)

    def _visible_along(self, n: int, begin: int, end: int, first: int, last: int) -> np.ndarray:
        borders = self.origin[n] + np.arange(first, last + 1) * self.step[n]
        inside = np.minimum(borders[1:], end) - np.maximum(borders[:-1], begin)
        return np.asarray(np.round(inside / self.step[n], _DIGITS))

    def source_indices(self, box: Box) -> tuple[np.ndarray, np.ndarray]:
        """Return the source row under the centre of each row of a box, and the source column under each column."""
        rows, columns = (
            np.floor(np.round((np.arange(*ends) + 0.5 - self.origin[n]) / self.step[n], _DIGITS)).astype(np.int64)
            for n, ends in enumerate((box.rows, box.columns))
        )
        return rows, columns


def _whole(value: float, tolerance: float) -> float:
    return float(round(value)) if abs(value - round(value)) < tolerance else value
