"""What the gallery shows of one example: its files, its command, its picture and its figures."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphsr.pictures import Picture, colourise, robust_range


@dataclass(frozen=True, eq=False)
class Made:
    """A pair whose truth is known.

    Attributes:
        guide: (H, W, C), as the model reads it.
        source: (h, w) or (h, w, K), in the units of the truth; NaN for missing.
        truth: (H, W) or (H, W, K).
        show: Makes a picture (H, W, 3) of a map of any size.
    """

    guide: np.ndarray
    source: np.ndarray
    truth: np.ndarray
    show: Callable[[np.ndarray], Picture]


@dataclass(frozen=True)
class Example:
    """One entry of the gallery.

    Attributes:
        name: Of its folder and picture.
        title: Its heading.
        text: What is real about it and what is not.
        command: With the names of its files.
        make: Writes the files that the command reads into a folder.
        output: The file that the command writes.
        score: Compares a target with the truth.
        words: What the score is, with its unit.
        digits: Of the score, after the point.
    """

    name: str
    title: str
    text: str
    command: str
    make: Callable[[Path], Made]
    output: str
    score: Callable[[np.ndarray, np.ndarray], float]
    words: str
    digits: int = 1


def rmse(target: np.ndarray, truth: np.ndarray) -> float:
    """Return the root of the mean square error."""
    return float(np.sqrt(np.mean((target.astype(np.float64) - truth) ** 2)))


def in_colours_of(truth: np.ndarray) -> Callable[[np.ndarray], Picture]:
    """Return the function that shows maps in the colour scale of a truth (H, W)."""
    low, high = robust_range(truth)
    return lambda values: colourise(values, low, high)


def average(values: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Return the means of (H, W) or (H, W, K) over blocks, (h, w) or (h, w, K)."""
    blocks = values.reshape(size[0], values.shape[0] // size[0], size[1], values.shape[1] // size[1], -1)
    means: np.ndarray = blocks.mean((1, 3))
    return means[..., 0] if values.ndim == 2 else means
