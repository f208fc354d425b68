"""Tiny data sets of every kind, written in its layout on disk."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import h5py
import numpy as np
import pytest

from graphsr.data import open_pairs
from graphsr.errors import InputError
from graphsr.files import write_image

SIZE = (6, 8)
DISPARITY = np.arange(48, dtype=np.uint8).reshape(SIZE)  # one 0, which is unknown
UNKNOWN = DISPARITY == 0
CALIBRATION = "cam0=[3997.684 0 1176.728; 0 3997.684 1011.728; 0 0 1]\ndoffs=131.111\nbaseline=193.001\n"


def picture(seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(0, 256, (*SIZE, 3), dtype=np.uint8)


def write(path: Path, array: np.ndarray) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_image(path, array)


def write_scene(scene: Path) -> None:
    """A Middlebury scene in the files of its year."""
    new = scene.parent.name == "2014"
    with_infinity = np.where(UNKNOWN, np.inf, DISPARITY).astype(np.float32)
    for place, view in enumerate((0, 1) if new else (1, 5)):
        write(scene / (f"im{view}.png" if new else f"view{view}.png"), picture(place))
        write(scene / (f"disp{view}.pfm" if new else f"disp{view}.png"), with_infinity if new else DISPARITY)
    (scene / ("calib.txt" if new else "dmin.txt")).write_text(CALIBRATION if new else "100\n")


def write_middlebury(root: Path) -> None:
    for name in (
        *("2005/Art", "2005/Moebius", "2005/Reindeer", "2006/Aloe", "2006/Lampshade1", "2006/Bowling2"),
        *("2014/Pipes-perfect", "2014/Pipes-imperfect", "2014/Shelves-perfect", "2014/Motorcycle-perfect"),
    ):
        write_scene(root / name)
    write(root / "2005" / "Dwarves" / "view1.png", picture())  # given out without maps
    (root / "2006" / "readme.txt").write_text("not a scene")


def depth_mm(seed: int) -> np.ndarray:
    depth = np.random.default_rng(seed).integers(1, 9000, SIZE).astype(np.uint16)
    depth[0, 0] = 0
    return depth


def write_diml(root: Path) -> None:
    for scene, count in (("train/HR/cafe", 11), ("train/HR/office", 5), ("test/HR/library", 2)):
        for n in range(count):
            write(root / scene / "color" / f"{n:04}_c.png", picture(n))
            write(root / scene / "depth_filled" / f"{n:04}_depth_filled.png", depth_mm(n))
        (root / scene / "color" / ".hidden").touch()


def write_packed_diml(root: Path) -> None:
    (root / "npy").mkdir(parents=True)
    for split, count in (("train", 3), ("val", 2), ("test", 1)):
        images = np.stack([picture(n).transpose(2, 0, 1) for n in range(count)])
        np.save(root / "npy" / f"images_{split}_HR.npy", images)
        np.save(root / "npy" / f"depth_{split}_HR.npy", np.stack([depth_mm(n) for n in range(count)]))


def write_folder(root: Path, count: int = 12) -> None:
    for n in range(count):
        write(root / "guides" / f"{n:02}.png", picture(n))
        write(root / "targets" / f"{n:02}.npy", DISPARITY.astype(np.float64) + n)


def write_split_folder(root: Path) -> None:
    for split, count in (("train", 3), ("val", 2), ("test", 1)):
        write_folder(root / split, count)


def write_nyuv2(root: Path) -> None:
    root.mkdir(parents=True, exist_ok=True)
    (root / "split_idc.json").write_text(json.dumps({"train": [4, 0, 2], "val": [1], "test": [3, 3]}))
    with h5py.File(root / "nyu_depth_v2_labeled.mat", "w") as file:
        file["images"] = np.stack([picture(n).transpose(2, 1, 0) for n in range(5)])
        file["depths"] = np.stack([DISPARITY.T / 8.0 + n for n in range(5)]).astype(np.float32)


def write_nyuv2_frames(root: Path) -> None:
    for frame in (7, 11, 12):
        write(root / "rgb" / f"{frame}.jpg", picture(frame))
        write(root / "depth8" / f"{frame}.png", DISPARITY)
    (root / "split.json").write_text(json.dumps({"train": [12, 7], "val": [11], "test": [11]}))


def write_precise_nyuv2_frames(root: Path) -> None:
    """Write the frames of which two have depth in millimetres."""
    write_nyuv2_frames(root)
    for frame in (7, 11):
        write(root / "depth16" / f"{frame}.png", depth_mm(frame) + 1)


def write_stored(root: Path) -> None:
    """Write a public set as a folder of pairs in 16 bits."""
    for name in ("alley_1_0001", "ambush_2_0001", "cave_2_0001", "cave_4_0001"):
        write(root / "guides" / f"{name}.jpg", picture())
        write(root / "targets" / f"{name}.png", depth_mm(1))


def write_hci(root: Path) -> None:
    for scene in ("antinous", "cotton", "dishes", "dots"):
        write(root / scene / "color.png", picture())
        write(root / scene / "disparity.pfm", (DISPARITY - 20.0).astype(np.float32))


def write_middlebury_views(root: Path) -> None:
    for scene, views in (("2001_bull", (2, 6)), ("2003_teddy", (2,)), ("2003_cones", (2,)), ("2006_Aloe_half", (1, 5))):
        for view in views:
            write(root / scene / f"view{view}.png", picture(view))
            write(root / scene / f"disp{view}.png", DISPARITY)


@dataclass(frozen=True)
class Layout:
    kind: str
    write: Callable[[Path], None]
    lengths: dict[str, int]
    unit: str
    size: tuple[int, int] = SIZE

    @property
    def split(self) -> str:
        """Return the first split that there is."""
        return next(iter(self.lengths))


LAYOUTS = {
    "middlebury": Layout("middlebury", write_middlebury, {"train": 6, "val": 6, "test": 6}, "mm"),
    "diml": Layout("diml", write_diml, {"train": 9 + 4, "val": 2 + 1, "test": 2}, "mm"),
    "diml, packed": Layout("diml", write_packed_diml, {"train": 3, "val": 2, "test": 1}, "mm"),
    "folder": Layout("folder", write_folder, {"train": 10, "val": 2, "test": 12}, ""),
    "folder, split": Layout("folder", write_split_folder, {"train": 3, "val": 2, "test": 1}, ""),
    "nyuv2": Layout("nyuv2", write_nyuv2, {"train": 3, "val": 1, "test": 2}, "m"),
    "nyuv2-frames": Layout("nyuv2-frames", write_nyuv2_frames, {"train": 2, "val": 1, "test": 1}, "m"),
    "nyuv2-precise": Layout("nyuv2-precise", write_precise_nyuv2_frames, {"train": 1, "val": 1, "test": 1}, "m"),
    "hci": Layout("hci", write_hci, {"train": 2, "val": 1}, "px"),
    "middlebury-views": Layout("middlebury-views", write_middlebury_views, {"train": 5, "val": 1}, "px"),
    "flyingthings": Layout("flyingthings", write_stored, {"val": 4, "test": 4}, "px"),
    "gso": Layout("gso", write_stored, {"train": 3, "val": 1, "test": 4}, "m"),
    "middlebury2014": Layout("middlebury2014", write_stored, {"val": 4, "test": 4}, "mm"),
    "replica": Layout("replica", write_stored, {"val": 4, "test": 4}, "mm"),
    "sintel": Layout("sintel", write_stored, {"train": 2, "val": 2, "test": 4}, "px"),
    "tartanair": Layout("tartanair", write_stored, {"train": 4, "test": 4}, "m"),
    "taskonomy": Layout("taskonomy", write_stored, {"val": 4, "test": 4}, "m"),
    "synthetic": Layout("synthetic", lambda _: None, {"train": 1_000_000, "val": 100}, "m", (256, 256)),
}
every_layout = pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
every_layout_on_disk = pytest.mark.parametrize("layout", list(LAYOUTS.values())[:-1], ids=list(LAYOUTS)[:-1])


def complaint(kind: str, root: Path, split: str = "train") -> str:
    with pytest.raises(InputError) as caught:
        open_pairs(kind, root, split)
    return str(caught.value)
