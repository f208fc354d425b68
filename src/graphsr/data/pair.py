"""A guide with the true map of the same view: what every data set is a sequence of."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import overload

import numpy as np

from graphsr.errors import InputError


@dataclass(frozen=True, eq=False)
class Pair:
    """Hold one view.

    Attributes:
        name: says which view it is, and of which data set.
        guide: (H, W, C) uint8.
        target: (H, W) float32, NaN = unknown.
        unit: of the target: "m", "mm" or "px" (disparity); "" if unknown.
        step: the target was rounded to multiples of this; 0 if it was not.
        source: (h, w) float32, NaN = missing: what a low-resolution sensor gave of the view; None where there is none,
            and a source is made of the target.
        notes: what somebody who uses the pair may want to know of its files.
    """

    name: str
    guide: np.ndarray
    target: np.ndarray
    unit: str = ""
    step: float = 0.0
    source: np.ndarray | None = None
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.guide.shape[:2] != self.target.shape:
            raise InputError(
                f"{self.name}: the guide is {self.guide.shape[1]} pixels wide and {self.guide.shape[0]} high, but its "
                f"map {self.target.shape[1]} and {self.target.shape[0]}; both must show the same pixels"
            )

    @property
    def size(self) -> tuple[int, int]:
        """Return (H, W)."""
        return self.target.shape[0], self.target.shape[1]


class PairList(Sequence[Pair]):
    """A data set: a sequence whose pairs are read when they are asked for.

    A new data set is a subclass with `__len__` and `read`, and a line in `graphsr.data`.
    """

    notes: tuple[str, ...] = ()  # what somebody who uses the data set may want to know
    has_sources: bool = False  # whether every pair has the source of a low-resolution sensor

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def read(self, number: int) -> Pair:
        """Read pair `number` of 0 to len(self) - 1 from its files."""

    @overload
    def __getitem__(self, number: int) -> Pair: ...

    @overload
    def __getitem__(self, number: slice) -> list[Pair]: ...

    def __getitem__(self, number: int | slice) -> Pair | list[Pair]:
        if isinstance(number, slice):
            return [self.read(n) for n in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        return self.read(number % len(self))
