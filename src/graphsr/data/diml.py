"""DIML indoor: the folders as they are given out, or the arrays the published code packs them into. Depth in mm.

A depth of 0 is unknown, always. The published code said so only after it had rotated a sample, so that at test time
holes counted as surfaces at the camera.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graphsr.data.images import read_guide, read_map, require_folder
from graphsr.data.pair import Pair, PairList
from graphsr.errors import InputError

# Of each training scene, the first part of its images; the rest is for validation.
_TRAINING_PART = 0.9
_COLOUR, _DEPTH = "_c.png", "_depth_filled.png"


class DIML(PairList):
    """Read ROOT/npy, if there is such a folder, else ROOT/train/HR/SCENE and ROOT/test/HR/SCENE."""

    def __init__(self, root: Path, split: str) -> None:
        packed = (require_folder(root, "DIML: train/HR, test/HR, or npy") / "npy").is_dir()
        self.pairs: PairList = Packed(root / "npy", split) if packed else Raw(root, split)

    def __len__(self) -> int:
        return len(self.pairs)

    def read(self, number: int) -> Pair:
        return self.pairs.read(number)


class Raw(PairList):
    """Read SCENE/color/ID_c.png with SCENE/depth_filled/ID_depth_filled.png."""

    def __init__(self, root: Path, split: str) -> None:
        part = require_folder(root / ("test" if split == "test" else "train") / "HR", "DIML scenes: SCENE/color")
        self.files: list[tuple[Path, Path]] = []
        for scene in _visible(part):
            files = _files(scene)
            first = int(_TRAINING_PART * len(files))
            self.files += {"train": files[:first], "val": files[first:], "test": files}[split]
        if not self.files:
            raise InputError(f"{part}: no DIML images of split {split!r}; expected SCENE/color/ID{_COLOUR}")

    def __len__(self) -> int:
        return len(self.files)

    def read(self, number: int) -> Pair:
        colour, depth = self.files[number]
        name = f"diml/{colour.parent.parent.name}/{colour.name.removesuffix(_COLOUR)}"
        return Pair(name, read_guide(colour), _known(read_map(depth)), "mm")


class Packed(PairList):
    """Read images_SPLIT_HR.npy (N, 3, H, W) uint8 and depth_SPLIT_HR.npy (N, H, W)."""

    def __init__(self, root: Path, split: str) -> None:
        self.split = split
        self.images, self.depths = root / f"images_{split}_HR.npy", root / f"depth_{split}_HR.npy"
        images, depths = _mapped(self.images), _mapped(self.depths)
        if images.ndim != 4 or images.shape[1] != 3 or images.dtype != np.uint8:
            raise InputError(f"{self.images}: is {images.dtype} {images.shape}; expected uint8 (N, 3, H, W)")
        expected = (images.shape[0], *images.shape[2:])
        if depths.shape != expected:
            raise InputError(f"{self.depths}: is {depths.shape}; expected {expected}, as {self.images.name} has")
        self.frames = len(images)

    def __len__(self) -> int:
        return self.frames

    def read(self, number: int) -> Pair:
        # Mapped anew each time: a mapped array that is sent to another process goes there as a copy, gigabytes.
        guide = np.ascontiguousarray(_mapped(self.images)[number].transpose(1, 2, 0))
        return Pair(f"diml/{self.split}/{number}", guide, _known(_mapped(self.depths)[number]), "mm")


def _known(depth: np.ndarray) -> np.ndarray:
    return np.where(depth > 0, depth, np.nan).astype(np.float32)


def _visible(path: Path) -> list[Path]:
    return sorted(entry for entry in path.iterdir() if not entry.name.startswith("."))


def _files(scene: Path) -> list[tuple[Path, Path]]:
    """Return the images of a scene by name, each with its depth."""
    colours = _visible(require_folder(scene / "color", f"the images of a DIML scene: ID{_COLOUR}"))
    depths = _visible(require_folder(scene / "depth_filled", f"the maps of a DIML scene: ID{_DEPTH}"))
    wanted = [scene / "depth_filled" / (colour.name.removesuffix(_COLOUR) + _DEPTH) for colour in colours]
    for file in wanted:
        if file not in depths:
            raise InputError(f"{file}: no such file; there is a colour image for it")
    for file in depths:
        if file not in wanted:
            raise InputError(f"{file}: has no colour image; expected {file.name.removesuffix(_DEPTH)}{_COLOUR}")
    return list(zip(colours, wanted, strict=True))


def _mapped(path: Path) -> np.ndarray:
    try:
        array: np.ndarray = np.load(path, mmap_mode="r")
        return array
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; a packed DIML array was expected here") from None
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{path}: cannot be read as an array of numbers: {error}") from error
