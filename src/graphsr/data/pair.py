"""A guide with the true map of the same view: what every data set is a sequence of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from graphsr.errors import InputError


@dataclass(frozen=True, eq=False)
class Pair:
    """One view.

    guide   (H, W, C) uint8
    target  (H, W) float32, NaN = unknown
    unit    of the target: "m", "mm" or "px" (disparity); "" if unknown
    step    the target was rounded to multiples of this; 0: it was not
    """

    name: str
    guide: np.ndarray
    target: np.ndarray
    unit: str = ""
    step: float = 0.0

    def __post_init__(self) -> None:
        if self.guide.shape[:2] != self.target.shape:
            raise InputError(
                f"{self.name}: the guide is {self.guide.shape[0]} x {self.guide.shape[1]} pixels, but its map "
                f"{self.target.shape[0]} x {self.target.shape[1]}; both must show the same pixels"
            )

    @property
    def size(self) -> tuple[int, int]:
        return self.target.shape[0], self.target.shape[1]


# What training and evaluation read: anything with a length that gives pairs by number.
Pairs = Sequence[Pair]


class PairList(Sequence[Pair]):
    """A data set whose pairs are read when asked for."""

    def __len__(self) -> int:
        raise NotImplementedError

    def read(self, number: int) -> Pair:
        raise NotImplementedError

    def __getitem__(self, number):  # type: ignore[no-untyped-def]
        if isinstance(number, slice):
            return [self.read(n) for n in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        return self.read(number % len(self))
