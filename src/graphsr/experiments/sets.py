"""The data sets that experiments are made on, where they are found, and what of them is measured."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from graphsr.data import PairList, open_pairs
from graphsr.errors import InputError
from graphsr.experiments.plan import Plan
from graphsr.suggestion import suggestion


@dataclass(frozen=True)
class Place:
    """A data set by name: its kind (docs/data.md), the folders it may be in, and the split that is measured."""

    name: str
    kind: str
    folders: tuple[str, ...]
    split: str
    published: str = ""  # the set whose published figures stand beside
    remark: str = ""


@dataclass(frozen=True)
class FoundSet:
    """A data set that is there."""

    place: Place
    folder: Path

    @property
    def name(self) -> str:
        return self.place.name

    @cached_property
    def pairs(self) -> PairList:
        return open_pairs(self.place.kind, self.folder, self.place.split)

    def says(self, most: int | None) -> str:
        count = len(self.pairs) if most is None else min(most, len(self.pairs))
        remark = f" ({self.place.remark})" if self.place.remark else ""
        return f"{self.name}: {count} of {len(self.pairs)} pairs, split {self.place.split}{remark}"


PLACES = (
    Place("middlebury", "middlebury", ("Middlebury", "middlebury"), "test", "middlebury"),
    Place("nyuv2", "nyuv2", ("NYU Depth v2", "NYUv2", "nyuv2"), "test", "nyuv2"),
    Place("diml", "diml", ("DIML", "diml"), "test", "diml"),
    Place(
        "nyuv2-frames", "nyuv2-frames", ("nyuv2",), "val", "nyuv2",
        "8-bit depth; published figures are of the test split in full precision",
    ),
    Place("hci", "hci", ("hci", "HCI"), "val", remark="disparity"),
    Place("middlebury-views", "middlebury-views", ("middlebury", "Middlebury"), "val", remark="disparity"),
    Place("synthetic", "synthetic", ("",), "val", remark="rendered scenes, nothing on disk"),
)  # fmt: skip
_BY_NAME = {place.name: place for place in PLACES}


def find_sets(plan: Plan) -> tuple[list[FoundSet], list[str]]:
    """The data sets asked for that are there, and a word about each that is not.

    Asked for nothing, all on disk; the synthetic scenes then only stand in for the lack of others.
    """
    wanted = [_known(name) for name in plan.sets] or [place for place in PLACES if place.kind != "synthetic"]
    found: list[FoundSet] = []
    missing: list[str] = []
    for place in wanted:
        one = _find(place, plan.data)
        if isinstance(one, FoundSet):
            found.append(one)
        else:
            missing.append(one)
    if not found and not plan.sets:
        found.append(FoundSet(_BY_NAME["synthetic"], Path()))
    return found, missing


def _known(name: str) -> Place:
    if name not in _BY_NAME:
        raise InputError(f"--sets {name!r}: no data set is called so; {suggestion(name, _BY_NAME)}")
    return _BY_NAME[name]


def _find(place: Place, root: Path | None) -> FoundSet | str:
    if place.kind == "synthetic":
        return FoundSet(place, Path())
    if root is None:
        return f"{place.name}: no data; say where with --data"
    reason = f"none of the folders {', '.join(place.folders)} is in {root}"
    for folder in (root / name for name in place.folders if (root / name).is_dir()):
        try:
            one = FoundSet(place, folder)
            len(one.pairs)
            return one
        except InputError as error:
            reason = str(error)
    return f"{place.name}: no data ({reason})"
