"""What every tile has to know of the whole raster: its scale, and how holes of the source are filled.

Both are measured once, before the first tile, so that no tile sees another brightness or another filling. Holes are
filled coarse to fine, as `graphsr.sampling.fill_holes` does: the means of blocks of 64 x 64 source pixels are kept for
the whole raster (they are few), and a tile fills what is finer from its own source pixels and one block around them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch

from graphsr.errors import InputError
from graphsr.raster.grid import Box, Grid
from graphsr.sampling import fill_from, fill_holes, halved
from graphsr.scaling import Scale, nonzero, smallest_std

_LEVELS = 6
BLOCK = 2**_LEVELS
# Source pixels are summed up in pieces of this side.
_PIECE = 32 * BLOCK
# The guide is judged by so many squares of this side, evenly spread: all of a small raster, and the same of a large one
# whatever its tiles.
_SAMPLES = 16
_SAMPLE_SIDE = 128
# Each band is cut off at these parts of its values before its mean and spread are taken: clouds, glints and dead pixels
# must not decide how bright everything else is.
_TAILS = (0.01, 0.99)


@dataclass(frozen=True)
class Frame:
    """The scale of a raster, and the filled means of its blocks. Plain arrays, to be sent to other machines."""

    guide_mean: np.ndarray  # (C,)
    guide_std: float
    source_mean: np.ndarray  # (K,)
    source_std: np.ndarray  # (K,)
    blocks: np.ndarray  # (K, rows, columns) float32
    blocks_at: Box  # in blocks
    whole: bool  # no hole anywhere, and source under all of the guide

    def scale(self) -> Scale:
        guide, spread = torch.from_numpy(self.guide_mean), torch.tensor([self.guide_std])
        source, unit = torch.from_numpy(self.source_mean), torch.from_numpy(self.source_std)
        return Scale(*(part.float().reshape(1, -1, 1, 1) for part in (guide, spread, source, unit)))

    def needed(self, cells: Box) -> Box:
        """The source pixels to read in order to fill the holes among `cells`."""
        return cells if self.whole else surrounded(cells)

    def filled(self, source: np.ndarray, box: Box, cells: Box) -> torch.Tensor:
        """The source pixels `cells` (1, K, h, w) without holes, from the box `needed(cells)` (K, ., .) with NaN."""
        values = torch.from_numpy(source)[None]
        known = torch.isfinite(values).to(values.dtype)
        if bool(known.all()):
            return values[(..., *cells.slices(box))]
        levels = [(values, known)]
        for _ in range(_LEVELS - 1):
            levels.append(halved(*levels[-1]))
        blocks = Box(*(n // BLOCK for n in (box.top, box.left, box.bottom, box.right)))
        coarse = torch.from_numpy(self.blocks[(slice(None), *blocks.slices(self.blocks_at))])[None]
        for level in reversed(levels):
            coarse = fill_from(*level, coarse)
        return coarse[(..., *cells.slices(box))]


def surrounded(cells: Box) -> Box:
    """The source pixels that decide how holes among `cells` are filled, beside the blocks' means."""
    return cells.aligned(BLOCK, margin=1)


@dataclass(frozen=True)
class Piece:
    """What is kept of a piece of the source: counts, sums, and the means of its blocks."""

    box: Box  # source pixels, aligned to blocks
    holes: bool
    count: np.ndarray  # (K,)
    total: np.ndarray  # (K,)
    squares: np.ndarray  # (K,)
    means: np.ndarray  # (K, rows, columns)
    known: np.ndarray  # (K, rows, columns)


def pieces(grid: Grid) -> list[Box]:
    """The boxes of source pixels that `summary` takes, over all that lies under the guide."""
    area = grid.covered.aligned(BLOCK)
    return [
        Box(top, left, min(top + _PIECE, area.bottom), min(left + _PIECE, area.right))
        for top in range(area.top, area.bottom, _PIECE)
        for left in range(area.left, area.right, _PIECE)
    ]


def summary(source: np.ndarray, box: Box, grid: Grid) -> Piece:
    """Of the source pixels (K, h, w) in a box of `pieces`, NaN where there are none."""
    values = torch.from_numpy(np.ascontiguousarray(source, dtype=np.float32))[None]
    known = torch.isfinite(values)
    inside = (box & grid.covered).slices(box)
    some = torch.where(known, values, torch.zeros_like(values)).double()
    means, seen = values, known.float()
    for _ in range(_LEVELS):
        means, seen = halved(means, seen)
    return Piece(
        box,
        holes=not bool(known[(..., *inside)].all()),
        count=known.sum((0, 2, 3)).numpy(),
        total=some.sum((0, 2, 3)).numpy(),
        squares=some.square().sum((0, 2, 3)).numpy(),
        means=means[0].numpy(),
        known=seen[0].numpy() > 0,
    )


def samples(grid: Grid) -> list[Box]:
    """The squares of the guide by which its brightness is judged."""
    height, width = grid.size
    if height * width <= (_SAMPLES * _SAMPLE_SIDE) ** 2:
        return [Box(0, 0, height, width)]
    rows, columns = (
        [round(k * (n - side) / max(count - 1, 1)) for k in range(count)]
        for n, side, count in ((height, *_spread(height)), (width, *_spread(width)))
    )
    (tall, _), (wide, _) = _spread(height), _spread(width)
    return [Box(top, left, top + tall, left + wide) for top in rows for left in columns]


def _spread(size: int) -> tuple[int, int]:
    """Side and number of the squares along an axis."""
    side = min(_SAMPLE_SIDE, size)
    return side, max(1, min(_SAMPLES, size // side))


@dataclass(frozen=True)
class Names:
    """How messages speak of the two."""

    guide: str = "guide"
    source: str = "source"
    bands: tuple[int, ...] = ()  # of the source; default counted


_PLAIN = Names()


def frame(grid: Grid, guide_samples: Iterable[np.ndarray], summaries: Iterable[Piece], names: Names = _PLAIN) -> Frame:
    """From the guide in the boxes of `samples`, each (C, h, w) with NaN = none, and the pieces of the source."""
    looked_at = np.concatenate([part.reshape(part.shape[0], -1) for part in guide_samples], 1)
    looked_at = looked_at[:, np.isfinite(looked_at).all(0)]
    if not looked_at.size:
        raise InputError(f"{names.guide}: none of the pixels looked at has a value")
    centre, spread = _brightness(looked_at)
    parts = list(summaries)
    count, total, squares = (sum(getattr(part, name) for part in parts) for name in ("count", "total", "squares"))
    if not (count > 0).all():
        numbers = names.bands or tuple(range(1, len(count) + 1))
        empty = ", ".join(str(number) for number, some in zip(numbers, count, strict=True) if not some)
        raise InputError(f"{names.source}: no pixel of band {empty} that lies under the guide has a value")
    mean = total / count
    unit = np.sqrt(np.maximum(squares / count - mean**2, 0.0))
    unit = np.maximum(unit, smallest_std(torch.from_numpy(mean).float()).numpy())
    blocks, at = _blocks(grid, parts)
    no_holes = not any(part.holes for part in parts) and grid.covered == grid.cells
    return Frame(centre, spread, mean, unit, blocks, at, no_holes)


def _brightness(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Centre of each channel and the one spread, of values (C, n)."""
    centres, variances = zip(*(_robust(channel) for channel in values), strict=True)
    return np.array(centres), float(nonzero(torch.tensor(np.mean(variances)).sqrt()))


def _robust(values: np.ndarray) -> tuple[float, float]:
    """Mean and variance of values (n,) without their tails."""
    low, high = np.quantile(values, _TAILS, method="nearest")
    # A band of two values may have all of one in its tails.
    kept = (np.clip(values, low, high) if low < high else values).astype(np.float64)
    return float(kept.mean()), float(kept.var())


def _blocks(grid: Grid, parts: list[Piece]) -> tuple[np.ndarray, Box]:
    """The filled means of all blocks under the guide and one around them."""
    area = grid.cells.aligned(BLOCK, margin=1)
    at = Box(*(n // BLOCK for n in (area.top, area.left, area.bottom, area.right)))
    channels = parts[0].means.shape[0]
    means, known = np.zeros((channels, *at.size), np.float32), np.zeros((channels, *at.size), np.float32)
    for part in parts:
        place = Box(*(n // BLOCK for n in (part.box.top, part.box.left, part.box.bottom, part.box.right))).slices(at)
        means[(slice(None), *place)], known[(slice(None), *place)] = part.means, part.known
    return fill_holes(torch.from_numpy(means)[None], torch.from_numpy(known)[None])[0].numpy(), at
