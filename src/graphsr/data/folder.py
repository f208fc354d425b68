"""A data set of one's own: guides/NAME.* with targets/NAME.*, in any format that graphsr.files reads."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graphsr.data.images import folder
from graphsr.data.pair import Pair, PairList
from graphsr.errors import InputError
from graphsr.files import mark_missing, read_image
from graphsr.files.registry import FORMATS

_SPLITS = ("train", "val", "test")
_SUFFIXES = tuple(suffix for entry in FORMATS for suffix in entry.suffixes)
_NAMED_AT_MOST = 3
# Without folders for the splits, every so many-th pair is for validation.
_VALIDATION_EVERY = 10


class Folder(PairList):
    """ROOT/guides and ROOT/targets, or the two in ROOT/train, ROOT/val and ROOT/test.

    Without the latter: "val" is every tenth pair by name from the first on, "train" the others, "test" all of them.
    NaN in a target is unknown, and so is the value that a TIFF file declares to mean no data; 0 is a value.
    """

    def __init__(self, root: Path, split: str) -> None:
        folder(root, "guides/ and targets/, or train/, val/ and test/ with these")
        apart = any((root / name).is_dir() for name in _SPLITS)
        self.root = root / split if apart else root
        files = _matched(self.root)
        self.files = files if apart else _part(files, split)
        if not self.files:
            raise InputError(f"{self.root}: no pairs of split {split!r}; expected guides/NAME.* with targets/NAME.*")

    def __len__(self) -> int:
        return len(self.files)

    def read(self, number: int) -> Pair:
        guide, target = self.files[number]
        return Pair(f"{self.root.name}/{guide.stem}", _read_guide(guide), _read_target(target))


def _part(files: list[tuple[Path, Path]], split: str) -> list[tuple[Path, Path]]:
    return [pair for n, pair in enumerate(files) if split == "test" or (n % _VALIDATION_EVERY == 0) == (split == "val")]


def _matched(root: Path) -> list[tuple[Path, Path]]:
    guides, targets = (_by_stem(folder(root / name, "images")) for name in ("guides", "targets"))
    for having, other, lacking in ((guides, targets, "target"), (targets, guides, "guide")):
        alone = [str(having[stem]) for stem in sorted(having) if stem not in other]
        if alone:
            more = f" and {len(alone) - _NAMED_AT_MOST} more" if len(alone) > _NAMED_AT_MOST else ""
            raise InputError(f"no {lacking} of the same name for {', '.join(alone[:_NAMED_AT_MOST])}{more}")
    return [(guides[stem], targets[stem]) for stem in sorted(guides)]


def _by_stem(path: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for file in sorted(path.iterdir()):
        if file.name.startswith(".") or file.suffix.lower() not in _SUFFIXES:
            continue
        if file.stem in found:
            raise InputError(f"{file}: there is also {found[file.stem].name}; a name may occur once")
        found[file.stem] = file
    return found


def _read_target(path: Path) -> np.ndarray:
    """(H, W) float32"""
    image = read_image(path)
    values = mark_missing(image.array, image.missing)[0].reshape(*image.size, -1)
    # Some grey maps are stored as RGB.
    if not all(np.array_equal(values[..., 0], values[..., c], equal_nan=True) for c in range(1, image.channels)):
        raise InputError(f"{path}: has {image.channels} different channels; a map of one channel was expected")
    return np.ascontiguousarray(values[..., 0], dtype=np.float32)


def _read_guide(path: Path) -> np.ndarray:
    """(H, W, 3) uint8"""
    image = read_image(path)
    values = image.array.reshape(*image.size, -1)
    if image.channels == 2:
        raise InputError(f"{path}: has 2 channels; a guide has one, or three and more of which the first three count")
    values = np.repeat(values, 3, 2) if image.channels == 1 else values[..., :3]
    return np.ascontiguousarray(_as_bytes(values, path))


def _as_bytes(values: np.ndarray, path: Path) -> np.ndarray:
    if values.dtype == np.uint8:
        return values
    if values.dtype == np.uint16:
        return (values / 257.0).round().astype(np.uint8)
    if values.dtype.kind == "f" and values.min() >= 0 and values.max() <= 1:
        return (values.astype(np.float32) * 255).round().astype(np.uint8)
    raise InputError(f"{path}: a guide has to hold 8 bits, 16 bits, or real numbers from 0 to 1")
