"""What a file holds once it is read."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Image:
    """Pixels as they were stored: array (H, W) or (H, W, C), in the file's own type and units.

    `notes` says what reading changed (an alpha channel dropped, a rotation applied), and `missing` is the
    value that the file itself declares to mean "no data" (GeoTIFF), if any.
    """

    array: Array
    path: Path
    notes: tuple[str, ...] = ()
    missing: float | None = None

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.array.dtype

    @property
    def size(self) -> tuple[int, int]:
        height, width = self.array.shape[:2]
        return height, width

    @property
    def channels(self) -> int:
        return channel_count(self.array)


def channel_count(array: Array) -> int:
    return 1 if array.ndim == 2 else array.shape[2]
