"""The data sets that experiments use, where they are found, and what of them is measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from graphsr.data import PairList, open_pairs
from graphsr.data.nyuv2 import NYUv2
from graphsr.errors import InputError
from graphsr.experiments.options import Options
from graphsr.suggestion import suggestion


@dataclass(frozen=True)
class DataSetSpec:
    """Describe a data set.

    Attributes:
        name: As in tables and options.
        kind: Of `graphsr.data.open_pairs`.
        folders: Names of folders it may be in.
        split: The split that is measured.
        published: The name it has in published.toml; "": no published figure is of these pairs.
        note: What a reader of the figures must know.
        frames: Measured instead of the split, by their numbers.
    """

    name: str
    kind: str
    folders: tuple[str, ...]
    split: str
    published: str = ""
    note: str = ""
    frames: range | None = None


@dataclass(frozen=True)
class DataSet:
    """A data set that was found in a folder."""

    spec: DataSetSpec
    folder: Path

    @property
    def name(self) -> str:
        return self.spec.name

    @cached_property
    def pairs(self) -> PairList:
        """Open the pairs that are measured."""
        pairs = open_pairs(self.spec.kind, self.folder, self.spec.split)
        if self.spec.frames is not None:
            assert isinstance(pairs, NYUv2)
            pairs.numbers = list(self.spec.frames)
        return pairs

    def published_name(self, most: int | None) -> str:
        """Return the name in published.toml; "" where fewer pairs are measured than were for publication."""
        return self.spec.published if most is None or most >= len(self.pairs) else ""

    def describe(self, most: int | None) -> str:
        """Return a sentence on which pairs are measured."""
        count = len(self.pairs) if most is None else min(most, len(self.pairs))
        what = f"split {self.spec.split}"
        if self.spec.frames is not None:
            what = f"frames {self.spec.frames.start} to {self.spec.frames.stop - 1}"
        note = f" ({self.spec.note})" if self.spec.note else ""
        return f"{self.name}: {count} of {len(self.pairs)} pairs, {what}{note}"


SPECS = (
    DataSetSpec("middlebury", "middlebury", ("Middlebury", "middlebury"), "test", "middlebury"),
    DataSetSpec("nyuv2", "nyuv2", ("NYU Depth v2", "NYUv2", "nyuv2"), "test", "nyuv2"),
    DataSetSpec("diml", "diml", ("DIML", "diml"), "test", "diml"),
    # Published figures are of the test split of the labelled file.
    DataSetSpec("nyuv2-frames", "nyuv2-frames", ("nyuv2",), "val", note="8-bit depth unless depth16/ is there"),
    DataSetSpec("hci", "hci", ("hci", "HCI"), "val", note="disparity"),
    DataSetSpec("middlebury-views", "middlebury-views", ("middlebury", "Middlebury"), "val", note="disparity"),
    DataSetSpec("synthetic", "synthetic", ("",), "val", note="rendered scenes, nothing on disk"),
)


def find_data_sets(options: Options, known: tuple[DataSetSpec, ...] = SPECS) -> tuple[list[DataSet], list[str]]:
    """Find the data sets asked for, or all on disk.

    Args:
        options: What the user asks for.
        known: The data sets to choose from.

    Returns:
        The data sets, and a sentence on each that is not there. If none was asked for and none is on disk, the
        rendered scenes take their place.
    """
    by_name = {spec.name: spec for spec in known}
    for name in options.data_sets:
        if name not in by_name:
            raise InputError(f"--sets {name!r}: no data set is called so; {suggestion(name, by_name)}")
    wanted = [by_name[name] for name in options.data_sets] or [spec for spec in known if spec.kind != "synthetic"]
    found: list[DataSet] = []
    missing: list[str] = []
    for spec in wanted:
        one = _find(spec, options.data)
        if isinstance(one, DataSet):
            found.append(one)
        else:
            missing.append(one)
    if not found and not options.data_sets:
        found.append(DataSet(by_name["synthetic"], Path()))
    return found, missing


def _find(spec: DataSetSpec, root: Path | None) -> DataSet | str:
    """Return the data set, or why it is not there."""
    if spec.kind == "synthetic":
        return DataSet(spec, Path())
    if root is None:
        return f"{spec.name}: no data; say where with --data"
    reason = f"none of the folders {', '.join(spec.folders)} is in {root}"
    for folder in (root / name for name in spec.folders if (root / name).is_dir()):
        try:
            one = DataSet(spec, folder)
            len(one.pairs)
            return one
        except InputError as error:
            reason = str(error)
    return f"{spec.name}: no data ({reason})"
