"""A data set of one's own: guides/NAME.* with targets/NAME.*, in any format that graphsr.files reads."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

import numpy as np

from graphsr.data.images import as_map, read_guide, require_folder
from graphsr.data.pair import Pair, PairList
from graphsr.errors import InputError
from graphsr.files import read_image, suspected_missing
from graphsr.files.registry import is_image

_SPLITS = ("train", "val", "test")
_NAMED_AT_MOST = 3
# Without other word, every so many-th pair is for validation.
_VALIDATION_EVERY = 10


@dataclass(frozen=True)
class PairFiles:
    """The files of one pair."""

    guide: Path
    target: Path
    source: Path | None


class Folder(PairList):
    """Read ROOT/guides and ROOT/targets, or the two in ROOT/train, ROOT/val and ROOT/test.

    Without folders for the splits, "val" is every tenth pair by name from the first on, "train" the others and "test"
    all of them. A single pair is in every split.

    NaN in a target is unknown, and so is the value that a TIFF file declares to mean no data; 0 is a value. Where there
    is a folder `sources` beside `targets`, it holds what a low-resolution sensor gave of every view.

    Args:
        root: the folder.
        split: "train", "val" or "test".
        missing: the value that means "unknown" in targets and sources.
        validation: patterns such as "alley_*" of the names that are for validation, instead of every tenth.
        divisor: what the values of a file are divided by.
        unit: of the values then.
    """

    def __init__(
        self,
        root: Path,
        split: str,
        *,
        missing: float | None = None,
        validation: tuple[str, ...] | None = None,
        divisor: float = 1.0,
        unit: str = "",
    ) -> None:
        require_folder(root, "guides/ and targets/, or train/, val/ and test/ with these")
        self.missing, self.divisor, self.unit = missing, divisor, unit
        has_splits = any((root / name).is_dir() for name in _SPLITS)
        if has_splits and validation is not None:
            raise InputError(f"{root}: has folders for the splits, so patterns for validation say nothing: leave them")
        self.root = root / split if has_splits else root
        files = _match(self.root)
        self.files = files if has_splits else _choose(files, split, validation)
        if not self.files:
            expected = "" if files else "; expected guides/NAME.* with targets/NAME.*"
            raise InputError(f"{self.root}: no pairs of split {split!r}{expected}")
        self.has_sources = self.files[0].source is not None
        if split == "val" and len(files) == 1 and not has_splits:
            self.notes = (f"{root}: there is one pair, so it is used for training and for validation",)

    def __len__(self) -> int:
        return len(self.files)

    def read(self, number: int) -> Pair:
        files = self.files[number]
        target, notes = self._read_values(files.target)
        source = None
        if files.source is not None:
            source, more = self._read_values(files.source)
            notes += more
        name = f"{self.root.name}/{files.guide.stem}"
        return Pair(name, read_guide(files.guide), target, self.unit, source=source, notes=notes)

    def _read_values(self, path: Path) -> tuple[np.ndarray, tuple[str, ...]]:
        """Read a target or a source (H, W), and what is to be said of it."""
        image = read_image(path)
        values = as_map(image, self.missing)
        silent = self.missing is None and image.missing is None
        share = suspected_missing(image.array) if silent else 0.0
        notes: tuple[str, ...] = ()
        if share:
            note = f"{share:.1%} of the values are 0; if 0 means no measurement, say so with --missing 0 or missing = 0"
            notes = (f"{path}: {note}",)
        return values if self.divisor == 1 else values / np.float32(self.divisor), notes


def _choose(files: list[PairFiles], split: str, validation: tuple[str, ...] | None) -> list[PairFiles]:
    """Return the pairs of a split where there are no folders for them."""
    if split == "test" or (validation is None and len(files) == 1):
        return files
    if validation is None:
        held_out = [n % _VALIDATION_EVERY == 0 for n in range(len(files))]
    else:
        held_out = [any(fnmatch(one.guide.stem, pattern) for pattern in validation) for one in files]
    return [one for one, held in zip(files, held_out, strict=True) if held == (split == "val")]


def _match(root: Path) -> list[PairFiles]:
    """Return the files of every pair, by name."""
    guides, targets = (_by_stem(require_folder(root / name, "images")) for name in ("guides", "targets"))
    sources = _by_stem(root / "sources") if (root / "sources").is_dir() else None
    _check_alike(guides, targets, "target")
    _check_alike(targets, guides, "guide")
    if sources is not None:
        _check_alike(targets, sources, "source")
        _check_alike(sources, targets, "target")
    return [PairFiles(guides[stem], targets[stem], sources[stem] if sources else None) for stem in sorted(guides)]


def _check_alike(having: dict[str, Path], other: dict[str, Path], lacking: str) -> None:
    alone = [str(having[stem]) for stem in sorted(having) if stem not in other]
    if alone:
        more = f" and {len(alone) - _NAMED_AT_MOST} more" if len(alone) > _NAMED_AT_MOST else ""
        raise InputError(f"no {lacking} of the same name for {', '.join(alone[:_NAMED_AT_MOST])}{more}")


def _by_stem(path: Path) -> dict[str, Path]:
    found: dict[str, Path] = {}
    for file in sorted(path.iterdir()):
        if file.name.startswith(".") or not is_image(file):
            continue
        if file.stem in found:
            raise InputError(f"{file}: there is also {found[file.stem].name}; a name may occur once")
        found[file.stem] = file
    return found
