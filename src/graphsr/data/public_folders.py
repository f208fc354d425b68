"""Public data sets stored as folders of pairs: their scale, what is unknown, and what is left out of training.

Each is guides/NAME.* with targets/NAME.png in 16 bits, as docs/data.md lists them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from graphsr.data.folder import Folder
from graphsr.data.pair import PairList

_ALL: tuple[str, ...] = ("*",)
_NOTHING_UNKNOWN = math.nan


@dataclass(frozen=True)
class StoredSet:
    """Say how a data set is stored, and which of its names are for validation.

    Attributes:
        divisor: a stored number divided by this is in `unit`.
        unit: "m", "mm" or "px".
        missing: the stored number that means "unknown"; NaN if everything is known.
        validation: patterns of names that are left out of training; None: every tenth.
    """

    divisor: float
    unit: str
    missing: float = _NOTHING_UNKNOWN
    validation: tuple[str, ...] | None = None


# Many views of one room are one room: those sets are left out as a whole, or not at all.
STORED_SETS = {
    "flyingthings": StoredSet(64, "px", validation=_ALL),
    "gso": StoredSet(2000, "m"),
    "middlebury2014": StoredSet(1, "mm", 0, validation=_ALL),
    "replica": StoredSet(1, "mm", 0, validation=_ALL),
    "sintel": StoredSet(64, "px", validation=("alley*", "bandage*", "cave_4*", "market_5*", "sleeping*")),
    "tartanair": StoredSet(2000, "m", 0, validation=()),
    "taskonomy": StoredSet(512, "m", 0, validation=_ALL),
}


def open_stored(kind: str, root: Path, split: str) -> PairList:
    """Open one of `STORED_SETS` in its folder."""
    how = STORED_SETS[kind]
    return Folder(root, split, missing=how.missing, validation=how.validation, divisor=how.divisor, unit=how.unit)
