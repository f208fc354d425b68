"""What the reader and the writer need to know about a file format."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from graphsr.errors import InputError
from graphsr.files.image import Array, Image
from graphsr.files.limits import Header


def nothing_to_import(path: Path) -> None:
    """Accept any path: the format's library is always installed."""


@dataclass(frozen=True)
class Format:
    """One file format.

    Attributes:
        name: The name used in messages.
        suffixes: In lower case with their dot; the first is recommended.
        signatures: What the file's first bytes may be.
        measure: Reads the header of a file alone; it may raise any exception for damaged bytes.
        read: Reads a file; it may raise any exception for damaged bytes.
        write: Writes (H, W) or (H, W, C) of one of `types`, with the value that means missing; None if the format is
            read only.
        types: The types that `write` accepts, narrow to wide.
        channels: The numbers of channels that `write` accepts; None for any.
        lossy: Whether compression changes values.
        require: Raises an `InputError` if the format's library is not installed.
    """

    name: str
    suffixes: tuple[str, ...]
    signatures: tuple[bytes, ...]
    measure: Callable[[Path], Header]
    read: Callable[[Path], Image]
    write: Callable[[Path, Array, float | None], None] | None = None
    types: tuple[str, ...] = ()
    channels: tuple[int, ...] | None = None
    lossy: bool = False
    require: Callable[[Path], None] = nothing_to_import

    def stored_type(self, source: np.dtype[Any]) -> np.dtype[Any] | None:
        """Return the type in which values of type `source` are stored; None where that would destroy them.

        The source's own type if the format has it, else the narrowest that holds all its values (of floats,
        at least 32 bits for an integer source, whose upsampled values have fractions). An integer source may
        also end in the widest integer type, where the writer counts what had to be clipped.
        """
        types = [np.dtype(name) for name in self.types]
        if source in types:
            return source
        integers = [t for t in types if t.kind in "iu"]
        floats = [t for t in types if t.kind == "f"]
        if source.kind == "f":
            holding = [t for t in floats if np.can_cast(source, t)]
            return holding[0] if holding else floats[-1] if floats else None
        if self.lossy:
            return None
        holding = [t for t in integers if np.can_cast(source, t)]
        holding += [t for t in floats if t.itemsize >= 4 and np.can_cast(source, t)]
        return holding[0] if holding else floats[-1] if floats else integers[-1]

    def check_channels(self, path: Path, channels: int) -> None:
        """Check that files of this format hold that many channels; raise an `InputError` if not."""
        if self.channels is None or channels in self.channels:
            return
        allowed = " or ".join(str(count) for count in self.channels)
        raise InputError(
            f"{path}: a {self.name} file holds {allowed} channels, and the image has {channels}; "
            "give the output the suffix .tif or .npy"
        )
