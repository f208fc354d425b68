"""What is checked of a file before it is read: that it is a regular file, and that its pixels fit into memory."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from difflib import get_close_matches
from itertools import islice
from pathlib import Path

import numpy as np

from graphsr.errors import InputError
from graphsr.memory import require_memory

# Decoded, converted, turned upright and made contiguous: so many copies of an image exist at once at the most.
_COPIES = 4
# Names in a folder that one that is not there is compared with, and how like it they have to be, from 0 to 1.
_COMPARED, _ALIKE = 1000, 0.75


@dataclass(frozen=True)
class Header:
    """What a file says of its pixels.

    Attributes:
        shape: (H, W) or (H, W, C).
        itemsize: Bytes of a value.
    """

    shape: tuple[int, ...]
    itemsize: int

    @property
    def nbytes(self) -> int:
        """Return the bytes of all values."""
        return int(np.prod(self.shape, dtype=object)) * self.itemsize


def check_regular_file(path: str | os.PathLike[str], what: str, where: str = "") -> None:
    """Check that a path can be read as a file; a pipe or a device would never end.

    Args:
        path: The file to read.
        what: What should be given instead of a folder.
        where: The beginning of the message; default the path.

    Raises:
        InputError: There is no file, or it is none.
    """
    where = where or os.fspath(path)
    try:
        mode = os.stat(path).st_mode
    except FileNotFoundError:
        raise InputError(f"{where}: no such file{_alike(Path(path))}") from None
    except (OSError, ValueError) as error:  # a null character in the name is a ValueError
        raise InputError(f"{where}: cannot be opened ({getattr(error, 'strerror', None) or error})") from error
    if stat.S_ISDIR(mode):
        raise InputError(f"{where}: is a folder; give {what}")
    if not stat.S_ISREG(mode):
        raise InputError(f"{where}: is a pipe or a device; give {what}")


def _alike(path: Path) -> str:
    """Return the end of a message about a file that is not there: those beside it whose names are nearly the same."""
    try:
        with os.scandir(path.parent) as entries:
            names = [entry.name for entry in islice(entries, _COMPARED)]
    except (OSError, ValueError):
        return ""
    stems = {Path(name).stem for name in names}  # suffixes are alike anyway
    near = get_close_matches(path.stem, sorted(stems), n=1, cutoff=_ALIKE)
    found = sorted(name for name in names if Path(name).stem in near)[:2]
    return f"; did you mean {' or '.join(str(path.with_name(name)) for name in found)}?" if found else ""


def check_pixels(path: Path, header: Header, bytes_per_pixel: int) -> None:
    """Check, before it is decoded, that an image fits into memory.

    Args:
        path: The file, for the message.
        header: What it says of its pixels.
        bytes_per_pixel: Memory that each pixel takes later on.
    """
    height, width = header.shape[:2]
    later = int(height) * int(width) * bytes_per_pixel
    require_memory(
        f"{path}: {width} x {height} pixels",
        max(_COPIES * header.nbytes, later),
        "crop it, or as GeoTIFF let graphsr raster upsample it in tiles",
    )
