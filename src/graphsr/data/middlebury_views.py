"""Middlebury stereo scenes in folders of their own: SCENE/viewN.png with SCENE/dispN.png, 8-bit disparity, 0 unknown.

The folder name begins with the year. Disparities are stored eightfold (2001), fourfold (2003) or plain.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graphsr.data.images import read_guide, read_map, require_folder
from graphsr.data.pair import Pair, PairList
from graphsr.errors import InputError

# Left out of training, to be measured on.
VALIDATION = ("2001_venus", "2003_teddy", "2006_Baby1_half", "2006_Midd1_half", "2006_Wood2_half")
_STORED_TIMES = {"2001": 8.0, "2003": 4.0}


class MiddleburyViews(PairList):
    """Read the views of a split; five scenes are for validation. Disparity in pixels."""

    def __init__(self, root: Path, split: str) -> None:
        maps = sorted(require_folder(root, "Middlebury scenes").glob("*/disp*.png"))
        self.maps = [file for file in maps if (file.parent.name in VALIDATION) == (split == "val")]
        # Every half of a pair is looked for at once, not hours into a training.
        self.views = [_view_of(file) for file in self.maps]
        if not self.maps:
            raise InputError(
                f"{root}: no Middlebury views of split {split!r}; expected SCENE/viewN.png, SCENE/dispN.png"
            )

    def __len__(self) -> int:
        return len(self.maps)

    def read(self, number: int) -> Pair:
        file = self.maps[number]
        times = _STORED_TIMES.get(file.parent.name[:4], 1.0)
        stored = read_map(file)
        target = np.where(stored > 0, stored / times, np.nan).astype(np.float32)
        return Pair(
            f"middlebury/{file.parent.name}/{file.stem}", read_guide(self.views[number]), target, "px", 1 / times
        )


def _view_of(file: Path) -> Path:
    """Return the file of the colour image of a disparity map."""
    stem = file.stem.replace("disp", "view")
    for suffix in (".png", ".jpg", ".ppm"):
        view = file.with_name(stem + suffix)
        if view.exists():
            return view
    raise InputError(f"{file}: has no colour image beside it; expected {stem}.png")
