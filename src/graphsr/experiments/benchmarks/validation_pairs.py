"""Validation pairs of several data sets in one folder: what benchmarks of measurements are run on."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from graphsr.data import Pair, open_pairs
from graphsr.errors import InputError

# Kind of data set, and its folder in --data.
SETS = (
    ("hci", "hci"),
    ("middlebury-views", "middlebury"),
    ("gso", "gso"),
    ("sintel", "sintel"),
    ("nyuv2-precise", "nyuv2"),
)


def read_pairs(data: Path, most: int) -> Iterator[tuple[str, Pair]]:
    """Yield the validation pairs of every set in a folder, at most so many of each, evenly spaced, with its name."""
    found = [(kind, data / folder) for kind, folder in SETS if (data / folder).is_dir()]
    if not found:
        raise InputError(f"{data}: none of the folders {', '.join(folder for _, folder in SETS)} is in it")
    for kind, folder in found:
        pairs = open_pairs(kind, folder, "val")
        for number in np.unique(np.linspace(0, len(pairs) - 1, min(most, len(pairs))).astype(int)):
            yield kind, pairs[int(number)]


def read_crops(data: Path, most: int, side: int) -> Iterator[tuple[str, Pair]]:
    """Yield the middles, `side` pixels square, of the same pairs; those that are smaller are left out."""
    for kind, pair in read_pairs(data, most):
        first = [(length - side) // 2 for length in pair.size]
        inner = slice(first[0], first[0] + side), slice(first[1], first[1] + side)
        if min(first) >= 0 and np.isfinite(pair.target[inner]).any():
            yield kind, Pair(pair.name, pair.guide[inner], pair.target[inner], pair.unit)
