"""NYUv2: the labelled .mat file with the published split, or a folder of its frames as images."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from graphsr.data.images import folder, read_guide, read_map
from graphsr.data.pair import Pair, PairList
from graphsr.errors import InputError

# What 8-bit frames are stored in: metres = (v + 0.5) * range / 255.
_RANGE_8_BIT_M = 9.9955


def read_split(path: Path, split: str) -> list[int]:
    try:
        numbers = json.loads(path.read_text())[split]
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; it lists the frames of each split") from None
    except (KeyError, TypeError, ValueError) as error:
        raise InputError(f"{path}: expected JSON with a list of frame numbers called {split!r}") from error
    return [int(number) for number in numbers]


class NYUv2(PairList):
    """nyu_depth_v2_labeled.mat beside split_idc.json, as published. Depth in metres, in-painted, no holes."""

    def __init__(self, root: Path, split: str) -> None:
        import h5py

        file = folder(root, "the folder of nyu_depth_v2_labeled.mat") / "nyu_depth_v2_labeled.mat"
        self.numbers = read_split(root / "split_idc.json", split)
        try:
            self.file = h5py.File(file, "r")
            self.images, self.depths = self.file["images"], self.file["depths"]
        except FileNotFoundError:
            raise InputError(f"{file}: no such file") from None
        except (OSError, KeyError) as error:
            raise InputError(
                f"{file}: is not the labelled NYUv2 file (HDF5 with images and depths): {error}"
            ) from error

    def __len__(self) -> int:
        return len(self.numbers)

    def read(self, number: int) -> Pair:
        frame = self.numbers[number]
        # Stored (3, W, H) and (W, H), as MATLAB writes it.
        guide = np.ascontiguousarray(np.transpose(self.images[frame], (2, 1, 0)))
        depth = np.ascontiguousarray(np.transpose(self.depths[frame])).astype(np.float32)
        return Pair(f"nyuv2/{frame}", guide, depth, "m")


class NYUv2Frames(PairList):
    """Frames as files: rgb/N.jpg, depth8/N.png (8 bit), split.json."""

    def __init__(self, root: Path, split: str) -> None:
        self.root = folder(root, "NYUv2 frames: rgb/N.jpg, depth8/N.png, split.json")
        self.numbers = read_split(root / "split.json", split)

    def __len__(self) -> int:
        return len(self.numbers)

    def read(self, number: int) -> Pair:
        frame = self.numbers[number]
        step = _RANGE_8_BIT_M / 255
        depth = (read_map(self.root / "depth8" / f"{frame}.png") + np.float32(0.5)) * np.float32(step)
        return Pair(f"nyuv2/{frame}", read_guide(self.root / "rgb" / f"{frame}.jpg"), depth, "m", step)
