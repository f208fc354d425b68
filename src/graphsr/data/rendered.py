"""The synthetic scenes as a data set without end."""

from __future__ import annotations

from graphsr.data.pair import Pair, PairList
from graphsr.scenes import scene

# Seeds below are for training, from here on for validation.
_FIRST_VALIDATION_SEED = 1_000_000


class Rendered(PairList):
    """`count` scenes of `size` (H, W); depth in metres, exact."""

    def __init__(self, split: str, size: tuple[int, int] = (256, 256), count: int | None = None) -> None:
        self.first = _FIRST_VALIDATION_SEED if split == "val" else 0
        self.size, self.scenes = size, count or (100 if split == "val" else _FIRST_VALIDATION_SEED)

    def __len__(self) -> int:
        return self.scenes

    def read(self, number: int) -> Pair:
        drawn = scene(self.first + number, self.size)
        return Pair(f"synthetic/{self.first + number}", drawn.guide, drawn.depth, "m")
