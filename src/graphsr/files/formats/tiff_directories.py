"""The chain of directories of a TIFF file, followed before a library does: it may be cut off, or lead to itself."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import BinaryIO

from graphsr.errors import InputError

_CLASSIC, _BIG = 42, 43
# More pages than any image has; the pages of a file are listed before one of them is read.
_MOST = 10_000


def check_directories(path: Path) -> None:
    """Follow the directories of a TIFF file.

    Args:
        path: The file.

    Raises:
        InputError: A directory lies beyond the end of the file, or leads back to one before it.
    """
    with path.open("rb") as stream:
        start = stream.read(8)
        order = "<" if start[:2] == b"II" else ">"
        (kind,) = struct.unpack(f"{order}H", start[2:4])
        if kind not in (_CLASSIC, _BIG):
            raise InputError(f"{path}: cannot be read as TIFF; its first bytes are those of another kind of file")
        # Numbers of entries, bytes of an entry, offsets: wider in files that may exceed 4 GB.
        count, entry, offset = ("H", 12, "I") if kind == _CLASSIC else ("Q", 20, "Q")
        at = _number(stream, 4 if kind == _CLASSIC else 8, order, offset, path)
        seen: set[int] = set()
        while at:
            if at in seen or len(seen) >= _MOST:
                raise InputError(f"{path}: its directory of pages leads back to itself; the file is damaged")
            seen.add(at)
            entries = _number(stream, at, order, count, path)
            at = _number(stream, at + struct.calcsize(f"{order}{count}") + entries * entry, order, offset, path)


def _number(stream: BinaryIO, at: int, order: str, code: str, path: Path) -> int:
    size = struct.calcsize(f"{order}{code}")
    data = b""
    if at + size <= os.fstat(stream.fileno()).st_size:
        stream.seek(at)
        data = stream.read(size)
    if len(data) < size:
        raise InputError(f"{path}: cut short; its directory of pages lies beyond the end of the file")
    (value,) = struct.unpack(f"{order}{code}", data)
    return int(value)
