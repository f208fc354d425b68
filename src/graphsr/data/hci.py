"""The HCI 4D light field scenes, centre views: SCENE/color.png and SCENE/disparity.pfm, exact disparity."""

from __future__ import annotations

from pathlib import Path

from graphsr.data.images import read_guide, read_map, require_folder
from graphsr.data.pair import Pair, PairList
from graphsr.errors import InputError

# Left out of training, to be measured on.
VALIDATION = ("boardgames", "dishes", "pens", "vinyl")
# Test patterns, which no real scene is like.
PATTERNS = ("backgammon", "dots", "pyramids", "stripes")


class HCI(PairList):
    """Read the scenes of a split; four are for validation, test patterns are left out."""

    def __init__(self, root: Path, split: str) -> None:
        scenes = sorted(file.parent for file in require_folder(root, "the HCI scenes").glob("*/disparity.pfm"))
        scenes = [scene for scene in scenes if scene.name not in PATTERNS]
        self.scenes = [scene for scene in scenes if (scene.name in VALIDATION) == (split == "val")]
        if not self.scenes:
            raise InputError(f"{root}: no HCI scenes of split {split!r}; expected SCENE/color.png, SCENE/disparity.pfm")

        for scene in self.scenes:
            if not (scene / "color.png").exists():
                raise InputError(f"{scene / 'color.png'}: no such file, but its disparity.pfm is there")

    def __len__(self) -> int:
        return len(self.scenes)

    def read(self, number: int) -> Pair:
        scene = self.scenes[number]
        return Pair(f"hci/{scene.name}", read_guide(scene / "color.png"), read_map(scene / "disparity.pfm"), "px")
