"""The synthetic scenes as a data set without end."""

from __future__ import annotations

from graphsr.data.pair import Pair, PairList
from graphsr.scenes import scene

_SIZE = (256, 256)
# Seeds below are for training, the hundred from here on for validation.
_FIRST_VALIDATION_SEED = 1_000_000
_VALIDATION_SCENES = 100


class Rendered(PairList):
    """Render scenes of 256 x 256 pixels with exact depth in metres; no scene is in two splits."""

    def __init__(self, split: str) -> None:
        self.first = _FIRST_VALIDATION_SEED if split == "val" else 0
        self.scenes = _VALIDATION_SCENES if split == "val" else _FIRST_VALIDATION_SEED

    def __len__(self) -> int:
        return self.scenes

    def read(self, number: int) -> Pair:
        drawn = scene(self.first + number, _SIZE)
        return Pair(f"synthetic/{self.first + number}", drawn.guide, drawn.depth, "m")
