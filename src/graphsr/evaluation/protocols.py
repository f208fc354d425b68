"""How a model is measured: which patches, which source, which pixels count. Figures of two protocols are never mixed.

`patches`     the paper's: 256 x 256 patches on a grid from the top left corner, the source a mean over boxes
`successors`  of later papers: whole images, the source reduced by PIL's bicubic interpolation, six pixels at the border
              left out; the figure to look at is the mean of the images' RMSE
`sources`     whole images with the low-resolution sources of a real sensor, which a folder of pairs may have
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from graphsr.data.degradation import Degradation, degrade
from graphsr.data.pair import Pair, PairList
from graphsr.data.staircase import undo_staircase
from graphsr.errors import InputError
from graphsr.suggestion import suggestion

PATCH = 256
_BORDER = 6
CLEAN = Degradation()


@dataclass(frozen=True, eq=False)
class Case:
    """Hold one thing to upsample.

    Attributes:
        pair: guide and truth.
        source: (h, w), NaN = missing.
        counted: (H, W), True where pixels count.
    """

    pair: Pair
    source: np.ndarray
    counted: np.ndarray

    @property
    def factor(self) -> float:
        """Return how many target pixels a source pixel is high."""
        return self.pair.size[0] / int(self.source.shape[0])


@dataclass(frozen=True)
class Protocol:
    """Say how the cases of a pair are made.

    Attributes:
        name: by which it is chosen.
        description: in a few words.
        cases: makes the cases of a pair at a factor, with sources that are degraded.
        own_sources: whether sources are those of the pairs, so that factors and degradations are what they are.
    """

    name: str
    description: str
    cases: Callable[[Pair, float, Degradation], Iterator[Case]]
    own_sources: bool = False


def make_source(pair: Pair, factor: float, degradation: Degradation = CLEAN) -> np.ndarray:
    """Make the source of a pair, always the same for the same name of the pair and factor.

    Args:
        pair: its target (H, W) is averaged.
        factor: the source is (H, W) divided by it, rounded.
        degradation: what is wrong with the source.

    Returns:
        (h, w) float32, NaN = missing.
    """
    seed = [zlib.crc32(pair.name.encode()), round(1000 * factor)]
    source_size = (round(pair.size[0] / factor), round(pair.size[1] / factor))
    return degrade(pair.target, source_size, degradation, np.random.default_rng(seed))


def _patches(pair: Pair, factor: float, degradation: Degradation) -> Iterator[Case]:
    if factor > PATCH:
        raise InputError(f"factor {factor:g}: is more than the patches of the protocol have pixels, {PATCH}")
    target = undo_staircase(pair.target, pair.step)
    for top in range(0, pair.size[0] - PATCH + 1, PATCH):
        for left in range(0, pair.size[1] - PATCH + 1, PATCH):
            patch = _cut(pair, target, (top, left), (PATCH, PATCH), f"{pair.name} at {top}, {left}")
            if np.isfinite(patch.target).any():
                yield Case(patch, make_source(patch, factor, degradation), np.isfinite(patch.target))


def _whole_images(pair: Pair, factor: float, degradation: Degradation) -> Iterator[Case]:
    target = undo_staircase(pair.target, pair.step)
    height, width = (round(int(n // factor) * factor) for n in pair.size)
    image = _cut(pair, target, (0, 0), (height, width), pair.name)
    if degradation.footprint == CLEAN.footprint:
        degradation = replace(degradation, footprint="bicubic")
    counted = np.zeros(image.size, bool)
    counted[_BORDER:-_BORDER, _BORDER:-_BORDER] = True
    yield Case(image, make_source(image, factor, degradation), counted & np.isfinite(image.target))


def _own_sources(pair: Pair, factor: float, degradation: Degradation) -> Iterator[Case]:
    if pair.source is None:
        raise InputError(f"{pair.name}: has no source of its own; the protocol 'sources' needs a folder sources/")
    if degradation != CLEAN:
        raise InputError(f"{pair.name}: the protocol 'sources' takes the source as it is; it cannot be degraded")
    yield Case(pair, pair.source, np.isfinite(pair.target))


def _cut(pair: Pair, target: np.ndarray, corner: tuple[int, int], size: tuple[int, int], name: str) -> Pair:
    rows, columns = (slice(first, first + n) for first, n in zip(corner, size, strict=True))
    return Pair(name, pair.guide[rows, columns], target[rows, columns], pair.unit, notes=pair.notes)


_ALL = (
    Protocol("patches", f"{PATCH} x {PATCH} patches, source averaged over boxes", _patches),
    Protocol("successors", f"whole images, source reduced bicubically, {_BORDER} pixels at the border left out",
             _whole_images),
    Protocol("sources", "whole images with their own low-resolution sources", _own_sources, own_sources=True),
)  # fmt: skip
PROTOCOLS = {one.name: one for one in _ALL}


def protocol(name: str) -> Protocol:
    """Return the protocol of a name."""
    if name not in PROTOCOLS:
        raise InputError(f"protocol {name!r}: unknown; {suggestion(name, PROTOCOLS)}")
    return PROTOCOLS[name]


def choose_protocol(name: str | None, sets: Sequence[PairList]) -> Protocol:
    """Return the protocol of a name, or the one that fits some data sets if there is none.

    Args:
        name: of a protocol; None: `sources` if the pairs have sources of their own, else `patches`.
        sets: the data sets to be measured on.

    Returns:
        The protocol for all of them.
    """
    if name is not None:
        return protocol(name)
    own = [pairs.has_sources for pairs in sets]
    if any(own) and not all(own):
        raise InputError("some of the data sets have sources of their own and some not; choose a protocol for all")
    return PROTOCOLS["sources" if all(own) else "patches"]


def cases(
    pairs: Sequence[Pair], how: Protocol, factor: float, most: int | None, degradation: Degradation = CLEAN
) -> Iterator[Case]:
    """Make the cases of a data set.

    Args:
        pairs: the data set.
        how: the protocol.
        factor: between target and source, where the protocol makes the source.
        most: take at most so many pairs, spread evenly over the data set.
        degradation: what is wrong with the sources.

    Yields:
        Case by case; pairs are read when their turn comes.
    """
    count = len(pairs) if most is None else min(most, len(pairs))
    for number in np.unique(np.linspace(0, len(pairs) - 1, count).round().astype(int)):
        yield from how.cases(pairs[int(number)], factor, degradation)
