"""Where the pixels of a source lie under the pixels of a guide."""

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
        """What of it lies inside an image of `size`."""
        return self & Box(0, 0, *size)

    def __and__(self, other: Box) -> Box:
        return Box(
            max(self.top, other.top),
            max(self.left, other.left),
            min(self.bottom, other.bottom),
            min(self.right, other.right),
        )

    def slices(self, within: Box | None = None) -> tuple[slice, slice]:
        """To cut it out of an array that holds the box `within`, or the whole image."""
        top, left = (within.top, within.left) if within is not None else (0, 0)
        return slice(self.top - top, self.bottom - top), slice(self.left - left, self.right - left)

    def aligned(self, multiple: int, margin: int = 0) -> Box:
        """Grown to multiples of `multiple`, and by `margin` more of them."""
        return Box(
            (self.top // multiple - margin) * multiple,
            (self.left // multiple - margin) * multiple,
            (-(-self.bottom // multiple) + margin) * multiple,
            (-(-self.right // multiple) + margin) * multiple,
        )


@dataclass(frozen=True)
class Grid:
    """A guide of `size` (H, W) over a source of `source_size` (h, w), each axis for itself.

    Source pixel c covers [origin + c step, origin + (c + 1) step) in guide pixels.
    """

    size: tuple[int, int]
    source_size: tuple[int, int]
    origin: tuple[float, float]
    step: tuple[float, float]

    def __post_init__(self) -> None:
        if min(self.step) < 1:
            down, right = self.step
            raise InputError(
                f"a source pixel measures {down:.4g} x {right:.4g} guide pixels, but the guide must be the finer one "
                "(are the two swapped?)"
            )
        if self.covered.empty:
            raise InputError("guide and source do not overlap")

    @classmethod
    def edge_to_edge(cls, size: tuple[int, int], source_size: tuple[int, int]) -> Grid:
        """Two images of the same view."""
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
        """With what is rounding in the two taken away."""
        steps = [_whole(step[n], _ROUNDING / source_size[n]) for n in range(2)]
        return cls(
            size,
            source_size,
            (_whole(origin[0], _ROUNDING), _whole(origin[1], _ROUNDING)),
            (steps[0], steps[1]),
        )

    @property
    def cells(self) -> Box:
        """All source pixels under the guide, also those that the source does not have."""
        return self.cells_in(Box(0, 0, *self.size))

    @property
    def covered(self) -> Box:
        """The pixels of the source that lie under the guide."""
        return self.cells.clipped(self.source_size)

    def cells_in(self, box: Box) -> Box:
        """The source pixels under a box of the guide; one that shows less than a pixel at its border is left out."""
        top, bottom = self._cells_along(0, *box.rows)
        left, right = self._cells_along(1, *box.columns)
        return Box(top, left, bottom, right)

    def _cells_along(self, n: int, begin: int, end: int) -> tuple[int, int]:
        origin, step = self.origin[n], self.step[n]
        first = math.floor(round((begin - origin) / step, _DIGITS))
        last = math.ceil(round((end - origin) / step, _DIGITS))
        whole = 1 - 10.0**-_DIGITS
        if last - first > 1 and origin + (first + 1) * step - begin < whole:
            first += 1
        if last - first > 1 and end - (origin + (last - 1) * step) < whole:
            last -= 1
        return first, last

    def sampling(self, box: Box, cells: Box) -> Sampling:
        """D between a box of the guide and the source pixels under it."""
        begin = [(self.origin[0], cells.top, box.top), (self.origin[1], cells.left, box.left)]
        origin = [round(o + first * s - start, _DIGITS) for (o, first, start), s in zip(begin, self.step, strict=True)]
        return Sampling(box.size, cells.size, origin=(origin[0], origin[1]), step=self.step)

    def visible(self, box: Box, cells: Box) -> np.ndarray:
        """(h, w) the share of each source pixel that lies in the box."""
        rows = self._visible_along(0, *box.rows, *cells.rows)
        columns = self._visible_along(1, *box.columns, *cells.columns)
        return rows[:, None] * columns[None, :]

    def _visible_along(self, n: int, begin: int, end: int, first: int, last: int) -> np.ndarray:
        edges = self.origin[n] + np.arange(first, last + 1) * self.step[n]
        seen = np.minimum(edges[1:], end) - np.maximum(edges[:-1], begin)
        return np.round(seen / self.step[n], _DIGITS)

    def homes(self, box: Box) -> tuple[np.ndarray, np.ndarray]:
        """The source row of each row of a box, and the source column of each column: where the pixel's centre lies."""
        rows, columns = (
            np.floor(np.round((np.arange(*ends) + 0.5 - self.origin[n]) / self.step[n], _DIGITS)).astype(np.int64)
            for n, ends in enumerate((box.rows, box.columns))
        )
        return rows, columns


def _whole(value: float, tolerance: float) -> float:
    return float(round(value)) if abs(value - round(value)) < tolerance else value
