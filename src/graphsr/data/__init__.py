"""Data sets as sequences of pairs, and the way from a pair to a training sample."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from graphsr.data.diml import DIML
from graphsr.data.folder import Folder
from graphsr.data.hci import HCI
from graphsr.data.middlebury import Middlebury
from graphsr.data.middlebury_views import MiddleburyViews
from graphsr.data.nyuv2 import NYUv2, NYUv2Frames
from graphsr.data.pair import Pair, PairList, Pairs
from graphsr.data.rendered import Rendered
from graphsr.errors import InputError
from graphsr.suggestion import suggestion

__all__ = ["Pair", "PairList", "Pairs", "kinds", "open_pairs"]

_KINDS: dict[str, Callable[[Path, str], PairList]] = {
    "diml": DIML,
    "folder": Folder,
    "hci": HCI,
    "middlebury": Middlebury,
    "middlebury-views": MiddleburyViews,
    "nyuv2": NYUv2,
    "nyuv2-frames": NYUv2Frames,
    "synthetic": lambda _, split: Rendered(split),
}


_SPLITS = ("train", "val", "test")
_WITHOUT_TEST = ("hci", "middlebury-views", "synthetic")


def kinds() -> list[str]:
    """The data sets `open_pairs` knows."""
    return sorted(_KINDS)


def open_pairs(kind: str, root: Path | str, split: str) -> PairList:
    """The pairs of one split ("train", "val" or "test") of a data set on disk. docs/data.md has the layouts."""
    if kind not in _KINDS:
        raise InputError(f"no kind of data set is called {kind!r}: {suggestion(kind, kinds())}")
    if split not in _SPLITS:
        raise InputError(f"no split is called {split!r}: use one of {', '.join(_SPLITS)}")
    if split == "test" and kind in _WITHOUT_TEST:
        raise InputError(f"{kind} has no split 'test': use 'train' or 'val'")
    return _KINDS[kind](Path(root), split)
