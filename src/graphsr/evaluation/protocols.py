"""How a method is judged: which patches, which source, which figures. Figures of two protocols are never mixed.

`patches`     the paper's: 256 x 256 patches on a grid from the top left corner, the source a mean over cells
`successors`  of later papers: whole images, the source reduced by antialiased bicubic interpolation, RMSE six pixels
              from the border
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from torch.nn.functional import interpolate

from graphsr.data.degradation import average
from graphsr.data.pair import Pair, Pairs
from graphsr.data.staircase import undo_staircase
from graphsr.errors import InputError
from graphsr.suggestion import suggestion

PATCH = 256
_INSET = 6


@dataclass(frozen=True, eq=False)
class Case:
    """One thing to upsample: a pair, its source (h, w), and the pixels that count."""

    pair: Pair
    source: np.ndarray
    counted: np.ndarray


@dataclass(frozen=True)
class Protocol:
    name: str
    says: str
    cases: Callable[[Pair, float], Iterator[Case]]


def _patches(pair: Pair, factor: float) -> Iterator[Case]:
    if factor > PATCH:
        raise InputError(f"factor {factor:g}: is more than the patches of the protocol have pixels, {PATCH}")
    target = undo_staircase(pair.target, pair.step)
    for top in range(0, pair.size[0] - PATCH + 1, PATCH):
        for left in range(0, pair.size[1] - PATCH + 1, PATCH):
            rows, columns = slice(top, top + PATCH), slice(left, left + PATCH)
            patch = Pair(f"{pair.name} at {top}, {left}", pair.guide[rows, columns], target[rows, columns], pair.unit)
            side = round(PATCH / factor)
            source = average(patch.target, (side, side))
            if np.isfinite(source).any():
                yield Case(patch, source, np.isfinite(patch.target))


def _whole(pair: Pair, factor: float) -> Iterator[Case]:
    target = undo_staircase(pair.target, pair.step)
    if not np.isfinite(target).all():
        raise InputError(f"{pair.name}: has unknown pixels; the protocol 'successors' is for maps without")
    cells = tuple(int(n // factor) for n in pair.size)
    size = tuple(round(n * factor) for n in cells)
    cropped = Pair(pair.name, pair.guide[: size[0], : size[1]], target[: size[0], : size[1]], pair.unit)
    values = torch.from_numpy(np.ascontiguousarray(cropped.target))[None, None]
    source = interpolate(values, size=cells, mode="bicubic", antialias=True, align_corners=False)[0, 0].numpy()
    counted = np.zeros(cropped.size, bool)
    counted[_INSET:-_INSET, _INSET:-_INSET] = True
    yield Case(cropped, source, counted)


PROTOCOLS = {
    "patches": Protocol("patches", "256 x 256 patches, source averaged over cells", _patches),
    "successors": Protocol("successors", "whole images, source reduced bicubically, RMSE 6 pixels inside", _whole),
}


def protocol(name: str) -> Protocol:
    if name not in PROTOCOLS:
        raise InputError(f"protocol {name!r}: unknown; {suggestion(name, PROTOCOLS)}")
    return PROTOCOLS[name]


def cases(pairs: Pairs, how: Protocol, factor: float, most: int | None) -> Iterator[Case]:
    """The cases of a data set; of at most `most` pairs, spread evenly over it."""
    count = len(pairs) if most is None else min(most, len(pairs))
    for number in np.unique(np.linspace(0, len(pairs) - 1, count).round().astype(int)):
        yield from how.cases(pairs[int(number)], factor)
