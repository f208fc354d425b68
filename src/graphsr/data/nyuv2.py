"""NYUv2: the labelled .mat file with the published split, or a folder of its frames as images."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from graphsr.data.images import read_guide, read_map, require_folder
from graphsr.data.pair import Pair, PairList
from graphsr.errors import InputError

# What 8-bit frames are stored in: metres = (v + 0.5) * range / 255.
_RANGE_8_BIT_M = 9.9955


def read_split(path: Path, split: str) -> list[int]:
    """Read the frame numbers of a split from a JSON file of lists by name."""
    try:
        numbers = json.loads(path.read_text())[split]
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; it lists the frames of each split") from None
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: expected JSON with a list of frame numbers called {split!r}") from error
    if not isinstance(numbers, list) or not numbers or not all(type(number) is int for number in numbers):
        raise InputError(f"{path}: {split!r} has to be a list of frame numbers, and not empty")
    return numbers


class NYUv2(PairList):
    """Read nyu_depth_v2_labeled.mat beside split_idc.json, as published. Depth in metres, in-painted, no holes."""

    def __init__(self, root: Path, split: str) -> None:
        self.path = require_folder(root, "the folder of nyu_depth_v2_labeled.mat") / "nyu_depth_v2_labeled.mat"
        self.numbers = read_split(root / "split_idc.json", split)
        with _opened(self.path) as file:
            count = _frame_count(file, self.path)
        wrong = [number for number in self.numbers if not 0 <= number < count]
        if wrong:
            raise InputError(f"{root / 'split_idc.json'}: frame {wrong[0]} of {split!r}; there are 0 to {count - 1}")

    def __len__(self) -> int:
        return len(self.numbers)

    def read(self, number: int) -> Pair:
        frame = self.numbers[number]
        # Opened anew each time: an open file cannot be sent to another process.
        with _opened(self.path) as file:
            image, depth = file["images"][frame], file["depths"][frame]
        # Stored (3, W, H) and (W, H), as MATLAB writes it.
        guide = np.ascontiguousarray(np.transpose(image, (2, 1, 0)))
        return Pair(f"nyuv2/{frame}", guide, np.ascontiguousarray(depth.T, dtype=np.float32), "m")


def _opened(path: Path) -> Any:
    import h5py  # only here: the other kinds do without

    try:
        return h5py.File(path, "r")
    except FileNotFoundError:
        raise InputError(f"{path}: no such file") from None
    except OSError as error:
        raise InputError(f"{path}: is not the labelled NYUv2 file (HDF5): {error}") from error


def _frame_count(file: Any, path: Path) -> int:
    shapes = [file[name].shape if name in file else None for name in ("images", "depths")]
    images, depths = shapes
    if images is None or depths is None or len(images) != 4 or images[1] != 3 or depths != (images[0], *images[2:]):
        raise InputError(
            f"{path}: is not the labelled NYUv2 file: expected images (N, 3, W, H) and depths (N, W, H), "
            f"found {' and '.join(str(shape) for shape in shapes)}"
        )
    return int(images[0])


class NYUv2Frames(PairList):
    """Read frames as files: rgb/N.jpg, split.json, and depth16/N.png (millimetres) or else depth8/N.png (8 bit).

    Args:
        root: the folder.
        split: a name in split.json.
        precise: take only the frames whose depth is there in 16 bits.
    """

    def __init__(self, root: Path, split: str, *, precise: bool = False) -> None:
        self.root = require_folder(root, "NYUv2 frames: rgb/N.jpg, depth16/N.png or depth8/N.png, split.json")
        self.numbers = read_split(root / "split.json", split)
        if precise:
            self.numbers = [number for number in self.numbers if self._precise_depth(number).exists()]
            if not self.numbers:
                raise InputError(f"{root / 'depth16'}: no frames of split {split!r}; expected N.png in millimetres")

    def __len__(self) -> int:
        return len(self.numbers)

    def read(self, number: int) -> Pair:
        frame = self.numbers[number]
        guide = read_guide(self.root / "rgb" / f"{frame}.jpg")
        precise = self._precise_depth(frame)
        if precise.exists():
            return Pair(f"nyuv2/{frame}", guide, read_map(precise) / np.float32(1000), "m")
        step = _RANGE_8_BIT_M / 255
        depth = (read_map(self.root / "depth8" / f"{frame}.png") + np.float32(0.5)) * np.float32(step)
        return Pair(f"nyuv2/{frame}", guide, depth, "m", step)

    def _precise_depth(self, frame: int) -> Path:
        return self.root / "depth16" / f"{frame}.png"
