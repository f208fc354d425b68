"""Middlebury stereo as published, by year: 2005/SCENE, 2006/SCENE, 2014/SCENE. Depth in millimetres.

The maps hold disparities. Depth is focal length times baseline over disparity, where the disparity is counted from the
principal points: the files leave out a constant, `dmin` (2005, 2006) or `doffs` (2014).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphsr.data.images import read_guide, read_map, require_folder
from graphsr.data.pair import Pair, PairList
from graphsr.errors import InputError

# The published split. The 2014 folders are called SCENE-perfect.
VALIDATION = ("Moebius", "Lampshade1", "Lampshade2", "Shelves", "Playtable")
TEST = ("Reindeer", "Bowling1", "Bowling2", "Adirondack", "Motorcycle")
# Scenes of 2005 whose maps were never given out.
_WITHOUT_MAPS = ("Computer", "Drumsticks", "Dwarves")
_EXPECTED = "2005/SCENE, 2006/SCENE or 2014/SCENE-perfect"


@dataclass(frozen=True)
class Camera:
    """Turn disparity into depth: depth_mm = focal_px * baseline_mm / (disparity_px + offset_px)"""

    focal_px: float
    baseline_mm: float
    offset_px: float

    def depth_mm(self, disparity: np.ndarray) -> np.ndarray:
        """Return depth (H, W) float32 of a disparity (H, W), which is 0 (2005, 2006) or infinite (2014) if unknown."""
        depth = np.full(disparity.shape, np.nan, np.float32)
        known = np.isfinite(disparity) & (disparity > 0)
        depth[known] = self.focal_px * self.baseline_mm / (disparity[known].astype(np.float64) + self.offset_px)
        return depth


@dataclass(frozen=True)
class View:
    """The files of one pair."""

    guide: Path
    disparity: Path
    camera: Camera


class Middlebury(PairList):
    """Read both views of every scene. Of 2014, scenes rectified imperfectly on purpose are left out.

    8-bit disparities make steps that grow with the square of the depth, so the pairs claim no step.
    """

    def __init__(self, root: Path, split: str) -> None:
        scenes = [scene for scene in _scenes(require_folder(root, _EXPECTED)) if _split_of(scene) == split]
        if not scenes:
            raise InputError(f"{root}: no Middlebury scenes of split {split!r}; expected {_EXPECTED}")
        # Every half of a pair is looked for at once, not hours into a training.
        self.views = [view for scene in scenes for view in _views(scene)]

    def __len__(self) -> int:
        return len(self.views)

    def read(self, number: int) -> Pair:
        view = self.views[number]
        scene = view.disparity.parent
        name = f"middlebury/{scene.parent.name}/{scene.name}/{view.disparity.stem}"
        return Pair(name, read_guide(view.guide), view.camera.depth_mm(read_map(view.disparity)), "mm")


def _scenes(root: Path) -> Iterator[Path]:
    for year in ("2005", "2006", "2014"):
        for scene in sorted((root / year).glob("*")):
            hidden = scene.name.startswith(".") or scene.name in _WITHOUT_MAPS or scene.name.endswith("-imperfect")
            if scene.is_dir() and not hidden:
                yield scene


def _split_of(scene: Path) -> str:
    name = scene.name.removesuffix("-perfect")
    return "val" if name in VALIDATION else "test" if name in TEST else "train"


def _views(scene: Path) -> list[View]:
    if scene.parent.name == "2014":
        camera = _read_calibration(_existing(scene / "calib.txt"))
        files = [("im0.png", "disp0.pfm"), ("im1.png", "disp1.pfm")]
    else:
        camera = _read_dmin(_existing(scene / "dmin.txt"))
        files = [("view1.png", "disp1.png"), ("view5.png", "disp5.png")]
    return [View(_existing(scene / guide), _existing(scene / disparity), camera) for guide, disparity in files]


def _existing(path: Path) -> Path:
    if not path.is_file():
        raise InputError(f"{path}: no such file; a Middlebury scene of {path.parent.parent.name} has to have it")
    return path


def _read_dmin(path: Path) -> Camera:
    try:
        offset = int(path.read_text())
    except ValueError as error:
        raise InputError(f"{path}: expected one whole number, the disparity left out of the maps") from error
    # The rig of 2005 and 2006: 3740 px at full size, 160 mm.
    return Camera(3740.0, 160.0, float(offset))


def _read_calibration(path: Path) -> Camera:
    """Read lines of key=value; cam0 is a matrix [fx 0 cx; 0 fy cy; 0 0 1]. Both views share the camera."""
    text = path.read_text(errors="replace")

    def number(key: str) -> float:
        found = re.search(rf"^\s*{key}\s*=\s*\[?\s*([-+0-9.eE]+)", text, re.MULTILINE)
        try:
            return float(found[1])  # type: ignore[index]
        except (TypeError, ValueError) as error:
            raise InputError(f"{path}: expected a line {key}=NUMBER with the camera's {key}") from error

    return Camera(number("cam0"), number("baseline"), number("doffs"))
