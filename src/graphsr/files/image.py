"""The content of an image file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Image:
    """Pixels as they are stored in a file.

    Attributes:
        array: (H, W) or (H, W, C), in the file's own type and units.
        path: The file.
        notes: What reading changed (an alpha channel dropped, a rotation applied).
        missing: The value that the file itself declares to mean "no data" (GeoTIFF), if any.
    """

    array: Array
    path: Path
    notes: tuple[str, ...] = ()
    missing: float | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the values."""
        return self.array.dtype

    @property
    def size(self) -> tuple[int, int]:
        """(H, W)."""
        height, width = self.array.shape[:2]
        return height, width

    @property
    def channels(self) -> int:
        """1 for an array (H, W)."""
        return channel_count(self.array)


def channel_count(array: Array) -> int:
    """Return the number of channels of an image (H, W) or (H, W, C)."""
    return 1 if array.ndim == 2 else array.shape[2]
