"""Data sets as sequences of pairs, and the way from a pair to a training sample."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from graphsr.data.diml import DIML
from graphsr.data.folder import Folder
from graphsr.data.hci import HCI
from graphsr.data.middlebury import Middlebury
from graphsr.data.middlebury_views import MiddleburyViews
from graphsr.data.nyuv2 import NYUv2, NYUv2Frames
from graphsr.data.pair import Pair, PairList
from graphsr.data.public_folders import STORED_SETS, open_stored
from graphsr.data.rendered import Rendered
from graphsr.errors import InputError
from graphsr.suggestion import suggestion

__all__ = ["Pair", "PairList", "kinds", "open_pairs"]

_KINDS: dict[str, Callable[[Path, str], PairList]] = {
    "diml": DIML,
    "folder": Folder,
    "hci": HCI,
    "middlebury": Middlebury,
    "middlebury-views": MiddleburyViews,
    "nyuv2": NYUv2,
    "nyuv2-frames": NYUv2Frames,
    "nyuv2-precise": partial(NYUv2Frames, precise=True),
    "synthetic": lambda _, split: Rendered(split),
    **{kind: partial(open_stored, kind) for kind in STORED_SETS},
}
_SPLITS = ("train", "val", "test")
_WITHOUT_TEST = ("hci", "middlebury-views", "synthetic")


def kinds() -> list[str]:
    """List the data sets that `open_pairs` knows.

    Returns:
        Their names, sorted.

    Example:
        >>> from graphsr import data
        >>> "hci" in data.kinds()
        True
    """
    return sorted(_KINDS)


def open_pairs(
    kind: str,
    root: Path | str,
    split: str,
    *,
    missing: float | None = None,
    validation: tuple[str, ...] | None = None,
) -> PairList:
    """Open one split of a data set on disk. docs/data.md has the layouts.

    Args:
        kind: one of `kinds()`.
        root: the folder of the data set; "synthetic" needs none.
        split: "train", "val" or "test".
        missing: of the kind "folder": the value that means "unknown".
        validation: of the kind "folder": patterns of the names that are for validation, instead of every tenth.

    Returns:
        A sequence of pairs, read when they are asked for.

    Example:
        >>> open_pairs("synthetic", "", "val")[0].target.shape
        (256, 256)
    """
    if kind not in _KINDS:
        raise InputError(f"no kind of data set is called {kind!r}: {suggestion(kind, kinds())}")
    if split not in _SPLITS:
        raise InputError(f"no split is called {split!r}: use one of {', '.join(_SPLITS)}")
    if split == "test" and kind in _WITHOUT_TEST:
        raise InputError(f"{kind} has no split 'test': use 'train' or 'val'")
    if kind == "folder":
        return Folder(Path(root), split, missing=missing, validation=validation)
    if missing is not None or validation is not None:
        raise InputError(f"{kind}: says itself what is unknown and what is for validation; say these of 'folder' alone")
    return _KINDS[kind](Path(root), split)
