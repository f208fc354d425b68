"""One axis of D: source pixels over target pixels as index and weight tables.

The footprint of a source pixel is called a cell. With the box, cell c covers [origin + c step, origin + (c + 1) step)
in target pixels, and a pixel counts by the length it shares with it; since step >= 1 a pixel meets at most two cells.
Other footprints reach further, and a pixel meets more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from graphsr.errors import InputError
from graphsr.footprints import footprint_weights

# A share below this is rounding of c * step, not a real overlap.
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis of D: `cells` source pixels over `size` target pixels, as index and weight tables."""

    size: int
    cells: int
    origin: float  # where cell 0 begins, in pixels
    step: float  # pixels a cell
    footprint: str
    first: np.ndarray  # (cells,) first pixel of each cell
    count: np.ndarray  # (cells,) how many pixels it meets; 0 for a cell outside the target
    taps: np.ndarray  # (cells, most) their weights in the mean, zero padded; each row sums to 1, or 0 outside
    owners: np.ndarray  # (size, n) the cells a pixel meets, filled up with the first one; the nearest if it meets none
    shares: np.ndarray  # (size, n) its weights in them, filled up with 0; n is 2 or more
    visible: np.ndarray  # (cells,) the part of each cell's area that lies in the target; 0 if it counts as outside

    @property
    def even(self) -> bool:
        """Return whether cells are equal blocks of whole pixels that fill the axis."""
        whole = self.size % self.cells == 0 and self.step == self.size // self.cells
        return self.footprint == "box" and self.origin == 0 and whole

    @property
    def home(self) -> np.ndarray:
        """Return (size,) the cell that holds most of each pixel."""
        return np.take_along_axis(self.owners, np.abs(self.shares).argmax(1)[:, None], 1)[:, 0]

    @property
    def under(self) -> np.ndarray:
        """Return (size,) the source pixel that each pixel begins in, whatever the footprint is."""
        if self.footprint == "box":
            return self.owners[:, 0]
        return axis(self.size, self.cells, self.origin, self.step).owners[:, 0]

    @property
    def straddles(self) -> np.ndarray:
        """Return (size,) which pixels lie in two cells or more."""
        return np.asarray(self.shares[:, 1] != 0)

    @cached_property
    def couples_cells(self) -> bool:
        """Return whether a cell may have no pixel of its own, or a pixel more than two cells."""
        own = self.count == 0
        own[self.owners[~self.straddles & (self.shares[:, 0] != 0), 0]] = True
        shared = self.shares.shape[1] > 2 or bool((self.taps < 0).any())
        return shared or 1 < self.step < 2 or not bool(own.all())

    def matrix(self) -> np.ndarray:
        """Return (cells, size) the tables as a matrix."""
        dense = np.zeros((self.cells, self.size))
        cell, tap = np.nonzero(self.taps)
        dense[cell, self.first[cell] + tap] = self.taps[cell, tap]
        return dense


@lru_cache(maxsize=256)
def axis(size: int, cells: int, origin: float = 0.0, step: float | None = None, footprint: str = "box") -> Axis:
    """Build the tables of one axis.

    A box that the target's border cuts averages over its visible part; if that is less than a pixel and less than half
    of the box, it counts as outside. Any other footprint counts as outside if its middle does.
    """
    step = size / cells if step is None else step
    edges = origin + np.arange(cells + 1) * step
    begin, end = np.clip(edges[:-1], 0.0, size), np.clip(edges[1:], 0.0, size)
    centres = 0.5 * (edges[1:] + edges[:-1])
    inside = _inside(end - begin, step) if footprint == "box" else (centres >= 0) & (centres <= size)
    if not inside.any():
        raise InputError(
            f"Sampling: {cells} source pixels of {step:g} target pixels from {origin:g} on all lie outside the target, "
            f"which goes from 0 to {size}"
        )
    if footprint == "box":
        first, count, taps = _box_weights(begin, end, inside, size)
    else:
        first, count, taps = footprint_weights(footprint, np.clip(centres, 0, size), step, size)
        count, taps = np.where(inside, count, 0), np.where(inside[:, None], taps, 0.0)
    owners, shares = _transposed(size, first, count, taps)
    visible = inside * (end - begin) / step
    return Axis(size, cells, origin, step, footprint, first, count, taps, owners, shares, visible)


def _box_weights(
    begin: np.ndarray, end: np.ndarray, inside: np.ndarray, size: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return first, count and taps of boxes between `begin` and `end` (cells,), cut at the target's border."""
    first = np.minimum(np.floor(begin + _NEGLIGIBLE).astype(np.int64), size - 1)
    last = np.minimum(np.ceil(end - _NEGLIGIBLE).astype(np.int64), size) - 1
    count = np.where(inside, last - first + 1, 0)
    pixels = first[:, None] + np.arange(count.max())
    overlap = np.minimum(end[:, None], pixels + 1) - np.maximum(begin[:, None], pixels)
    taps = np.where(pixels < (first + count)[:, None], overlap, 0.0)
    return first, count, taps / np.where(inside, taps.sum(1), 1.0)[:, None]


def _inside(visible: np.ndarray, step: float) -> np.ndarray:
    """Return which cells lie in the target, enough of them, from the length of each that does (cells,)."""
    inside = visible >= min(1.0, 0.5 * step) - _NEGLIGIBLE
    # A target as narrow as a pixel may see no more than a part of a cell.
    return inside if inside.any() else (visible > _NEGLIGIBLE) & (visible == visible.max())


def _transposed(size: int, first: np.ndarray, count: np.ndarray, taps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return owners and shares (size, n): the cells that each pixel meets, and its weights in them."""
    cell, tap = np.nonzero((np.arange(taps.shape[1]) < count[:, None]) & (taps != 0))
    pixel = first[cell] + tap
    order = np.lexsort((cell, pixel))
    cell, tap, pixel = cell[order], tap[order], pixel[order]
    met = np.bincount(pixel, minlength=size)
    place = np.arange(pixel.size) - np.repeat(np.cumsum(met) - met, met)
    owned = np.flatnonzero(met)
    behind = np.searchsorted(owned, np.arange(size)).clip(0, owned.size - 1)
    before = np.maximum(behind - 1, 0)
    closer = np.abs(owned[behind] - np.arange(size)) <= np.abs(owned[before] - np.arange(size))
    owners = np.zeros((size, max(2, int(met.max()))), np.int64)
    shares = np.zeros(owners.shape)
    owners[pixel, place] = cell
    shares[pixel, place] = taps[cell, tap]
    nearest = owned[np.where(closer, behind, before)]
    owners = np.where(np.arange(owners.shape[1]) < met[:, None], owners, owners[nearest, :1])
    return owners, shares
