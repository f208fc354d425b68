"""What every tile has to know of the whole raster: its scale, and how holes of the source are filled.

Both are measured once, before the first tile, so that all tiles are standardised and filled alike. Holes are filled
coarse to fine, as `graphsr.sampling.fill_holes` does: the means of blocks of 64 x 64 source pixels are computed for the
whole raster (they are few), and a tile fills what is finer from its own source pixels and one block around them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch

from graphsr.errors import InputError
from graphsr.raster.grid import Box, Grid
from graphsr.sampling import fill_from, fill_holes, halved
from graphsr.scaling import Scale, nonzero, principal_axis

_LEVELS = 6
BLOCK = 2**_LEVELS
# Source pixels are summed up in chunks of this side.
_CHUNK = 32 * BLOCK
# The guide is sampled by so many squares of this side along each axis, evenly spaced: all of a small raster, and the
# same of a large one whatever its tiles.
_SAMPLES = 16
_SAMPLE_SIDE = 128
# Each band is clipped to these quantiles before its mean and standard deviation are computed: clouds, glints and dead
# pixels must not decide how all else is scaled.
_QUANTILES = (0.01, 0.99)
# The least standard deviation of a source, as a part of its mean: some roundings in double precision.
_SMALLEST_STD = 8 * np.finfo(np.float64).eps


@dataclass(frozen=True)
class Statistics:
    """Statistics of a raster. Plain arrays, to be sent to other machines.

    Attributes:
        guide_mean: (C,).
        guide_std: One for all channels.
        source_mean: (K,) of the source under the guide.
        source_std: (K,).
        source_axis: (K,) what combines the standardised bands to one plane (`graphsr.scaling.principal_axis`).
        blocks: (K, rows, columns) float64, the means of the blocks, holes filled.
        blocks_at: Where they lie, in blocks.
        complete: Whether there is no hole anywhere, and source under all of the guide; and none will be made by
            switching outliers off.
    """

    guide_mean: np.ndarray
    guide_std: float
    source_mean: np.ndarray
    source_std: np.ndarray
    source_axis: np.ndarray
    blocks: np.ndarray
    blocks_at: Box
    complete: bool

    def scale(self) -> Scale:
        """Return the scale that models standardise a guide and a source about its mean by."""
        about = np.zeros_like(self.source_mean)
        numbers = (self.guide_mean, np.array([self.guide_std]), about, self.source_std, self.source_axis)
        return Scale(*(torch.from_numpy(each).float().reshape(1, -1, 1, 1) for each in numbers))

    def source_needed(self, source_box: Box) -> Box:
        """Return the source pixels to read in order to fill the holes in a box of them."""
        return source_box if self.complete else with_surroundings(source_box)

    def filled(self, source: np.ndarray, box: Box, source_box: Box) -> torch.Tensor:
        """Fill the holes in a box of source pixels, and subtract the mean of the whole source.

        Args:
            source: (K, h, w) of `box`; NaN is missing.
            box: What `source_needed(source_box)` returned.
            source_box: The source pixels to return.

        Returns:
            (1, K, h, w) float32 without missing values.
        """
        mean = self.source_mean.reshape(-1, 1, 1)
        # Subtracted in double precision: single precision would lose the digits of heights above a far datum.
        values = torch.from_numpy(source.astype(np.float64) - mean)[None].float()
        known = torch.isfinite(values).to(values.dtype)
        if bool(known.all()):
            return values[(..., *source_box.slices(box))]
        levels = [(values, known)]
        for _ in range(_LEVELS - 1):
            levels.append(halved(*levels[-1]))
        blocks = self.blocks[(slice(None), *_in_blocks(box).slices(self.blocks_at))] - mean
        coarse = torch.from_numpy(blocks)[None].float()
        for level in reversed(levels):
            coarse = fill_from(*level, coarse)
        return coarse[(..., *source_box.slices(box))]


def with_surroundings(source_box: Box) -> Box:
    """Return the source pixels that decide, beside the means of blocks, how holes in a box of them are filled."""
    return source_box.aligned(BLOCK, margin=1)


@dataclass(frozen=True)
class ChunkSummary:
    """Counts, sums and means of blocks of a chunk of the source.

    Attributes:
        box: Source pixels, aligned to blocks.
        holes: Whether a source pixel under the guide is missing.
        count: (K,) known pixels.
        mean: (K,) of them; 0 where there is none.
        squares: (K,) the sum of their squared differences from it.
        products: (K, K) the sums of the products of such differences, where both bands are known.
        partial: (K, K) the sums of the first band's differences where the second is known too.
        both: (K, K) how many pixels are known in both.
        means: (K, rows, columns) of the known pixels of each block.
        known: (K, rows, columns) which blocks have a known pixel.
    """

    box: Box
    holes: bool
    count: np.ndarray
    mean: np.ndarray
    squares: np.ndarray
    products: np.ndarray
    partial: np.ndarray
    both: np.ndarray
    means: np.ndarray
    known: np.ndarray


def source_chunks(grid: Grid) -> list[Box]:
    """Return the boxes of source pixels to summarise: together, all that lie under the guide."""
    area = grid.covered.aligned(BLOCK)
    return [
        Box(top, left, min(top + _CHUNK, area.bottom), min(left + _CHUNK, area.right))
        for top in range(area.top, area.bottom, _CHUNK)
        for left in range(area.left, area.right, _CHUNK)
    ]


def summarise(source: np.ndarray, box: Box, grid: Grid) -> ChunkSummary:
    """Summarise the source pixels (K, h, w) in a box of `source_chunks`; NaN is missing."""
    values = torch.from_numpy(np.ascontiguousarray(source, dtype=np.float64))[None]
    known = torch.isfinite(values)
    inside = (box & grid.covered).slices(box)
    count = known.sum((0, 2, 3))
    mean = torch.where(known, values, 0.0).sum((0, 2, 3)) / count.clamp_min(1)
    differences = torch.where(known, values - mean[:, None, None], 0.0)
    flat, counted = differences.flatten(2)[0], known.double().flatten(2)[0]
    means, any_known = values, known.double()
    for _ in range(_LEVELS):
        means, any_known = halved(means, any_known)
    return ChunkSummary(
        box,
        holes=not bool(known[(..., *inside)].all()),
        count=count.numpy(),
        mean=mean.numpy(),
        squares=differences.square().sum((0, 2, 3)).numpy(),
        products=(flat @ flat.T).numpy(),
        partial=(flat @ counted.T).numpy(),
        both=(counted @ counted.T).numpy(),
        means=means[0].numpy(),
        known=any_known[0].numpy() > 0,
    )


def guide_samples(grid: Grid) -> list[Box]:
    """Return the boxes of the guide whose mean and standard deviation are taken for those of all of it."""
    height, width = grid.size
    if height * width <= (_SAMPLES * _SAMPLE_SIDE) ** 2:
        return [Box(0, 0, height, width)]
    rows, columns = (evenly_spaced(each, _SAMPLE_SIDE, _SAMPLES) for each in (height, width))
    return [Box(top, left, bottom, right) for top, bottom in rows for left, right in columns]


def evenly_spaced(size: int, side: int, most: int) -> list[tuple[int, int]]:
    """Return where at most `most` samples of a side begin and end along an axis."""
    side = min(side, size)
    count = max(1, min(most, size // side))
    begins = [round(k * (size - side) / max(count - 1, 1)) for k in range(count)]
    return [(begin, begin + side) for begin in begins]


@dataclass(frozen=True)
class Names:
    """What messages call guide, source and the bands of the source (default: counted from 1)."""

    guide: str = "guide"
    source: str = "source"
    bands: tuple[int, ...] = ()


_DEFAULT_NAMES = Names()


def combine(
    grid: Grid, samples: Iterable[np.ndarray], summaries: Iterable[ChunkSummary], names: Names = _DEFAULT_NAMES
) -> Statistics:
    """Compute the statistics of a raster.

    Args:
        grid: Of the raster.
        samples: The guide in the boxes of `guide_samples`, each (C, h, w), in the channels that the model reads; NaN is
            missing.
        summaries: Of all boxes of `source_chunks`.
        names: For messages.

    Raises:
        InputError: If the guide, or a band of the source, has no value at all.
    """
    pixels = np.concatenate([sample.reshape(sample.shape[0], -1) for sample in samples], 1)
    known = np.isfinite(pixels).all(0)
    if not known.all():
        pixels = pixels[:, known]
    if not pixels.size:
        raise InputError(f"{names.guide}: none of the pixels that were sampled has a value")
    guide_mean, guide_std = _mean_and_std(pixels)
    chunks = list(summaries)
    count = np.sum([chunk.count for chunk in chunks], 0)
    if not (count > 0).all():
        numbers = names.bands or tuple(range(1, len(count) + 1))
        empty = ", ".join(str(number) for number, some in zip(numbers, count, strict=True) if not some)
        raise InputError(f"{names.source}: no pixel of band {empty} that lies under the guide has a value")
    mean = np.sum([chunk.count * chunk.mean for chunk in chunks], 0) / count
    # About the mean, not as the mean of squares minus the square of the mean, which is all rounding on a large offset.
    squares = np.sum([chunk.squares + chunk.count * (chunk.mean - mean) ** 2 for chunk in chunks], 0)
    std = np.maximum(np.sqrt(squares / count), _SMALLEST_STD * np.abs(mean) + np.finfo(np.float32).tiny)
    axis = _principal_axis(chunks, mean, std)
    blocks, at = _blocks(grid, chunks)
    complete = not any(chunk.holes for chunk in chunks) and grid.covered == grid.source_extent
    return Statistics(guide_mean, guide_std, mean, std, axis, blocks, at, complete)


def _principal_axis(chunks: list[ChunkSummary], mean: np.ndarray, std: np.ndarray) -> np.ndarray:
    """Return the principal axis (K,) of the standardised bands; a missing pixel counts as the mean of its band."""
    if len(mean) == 1:
        return np.ones(1)
    covariance, count = np.zeros((len(mean), len(mean))), np.zeros(len(mean))
    for chunk in chunks:
        shift = chunk.mean - mean
        crossed = chunk.partial * shift
        covariance += chunk.products + crossed + crossed.T + chunk.both * np.outer(shift, shift)
        count += chunk.count
    correlation = covariance / np.outer(std, std) / count.max()
    return np.asarray(principal_axis(torch.from_numpy(correlation)[None]).flatten().numpy())


def _mean_and_std(values: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the mean of each channel and the one standard deviation of values (C, n)."""
    means, variances = zip(*(_robust(channel) for channel in values), strict=True)
    return np.array(means), float(nonzero(torch.tensor(np.mean(variances)).sqrt()))


def _robust(values: np.ndarray) -> tuple[float, float]:
    """Return mean and variance of values (n,) that are clipped to their quantiles."""
    low, high = np.quantile(values, _QUANTILES, method="nearest")
    # A band of two values may have all of one beyond them.
    clipped = (np.clip(values, low, high) if low < high else values).astype(np.float64)
    mean = clipped.mean()
    clipped -= mean
    return float(mean), float(np.vdot(clipped, clipped) / clipped.size)


def _blocks(grid: Grid, chunks: list[ChunkSummary]) -> tuple[np.ndarray, Box]:
    """Return the filled means of all blocks under the guide and one around them, and where they lie."""
    at = _in_blocks(grid.source_extent.aligned(BLOCK, margin=1))
    channels = chunks[0].means.shape[0]
    means, known = np.zeros((channels, *at.size)), np.zeros((channels, *at.size))
    for chunk in chunks:
        inside = (slice(None), *_in_blocks(chunk.box).slices(at))
        means[inside], known[inside] = chunk.means, chunk.known
    return fill_holes(torch.from_numpy(means)[None], torch.from_numpy(known)[None])[0].numpy(), at


def _in_blocks(box: Box) -> Box:
    """Return a box of source pixels that is aligned to blocks, in blocks."""
    return Box(box.top // BLOCK, box.left // BLOCK, box.bottom // BLOCK, box.right // BLOCK)
