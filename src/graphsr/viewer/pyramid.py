"""An image at all resolutions that a page may show it in, cut into tiles."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
from numpy.typing import NDArray

TILE = 512  # pixels on a side
# What stands for a missing value in a tile: drivers of graphics cards may not keep NaN apart from numbers.
MISSING = np.float32(-3e38)


class Pyramid:
    """An image (H, W) or (H, W, 3) and its reductions by 2, 4, 8, ..., each made when it is first asked for.

    Args:
        values: float32 with NaN for missing, or uint8.
    """

    def __init__(self, values: NDArray[Any]) -> None:
        self._levels = [values]
        self._lock = threading.Lock()
        self.count = level_count((values.shape[0], values.shape[1]))

    def level(self, number: int) -> NDArray[Any]:
        """Return the image reduced `number` times; 0 is the image itself."""
        with self._lock:
            while len(self._levels) <= number:
                self._levels.append(halved(self._levels[-1]))
            return self._levels[number]

    def tile(self, number: int, column: int, row: int) -> NDArray[Any] | None:
        """Return a tile (at most TILE x TILE) of a level; None where there is none."""
        if not 0 <= number < self.count or column < 0 or row < 0:
            return None
        level = self.level(number)
        tile = level[row * TILE : (row + 1) * TILE, column * TILE : (column + 1) * TILE]
        return tile if tile.size else None


def level_count(size: tuple[int, int]) -> int:
    """Return how many levels there are until all of the image is one tile."""
    count = 1
    while max(size) > TILE:
        size = -(-size[0] // 2), -(-size[1] // 2)
        count += 1
    return count


def halved(image: NDArray[Any]) -> NDArray[Any]:
    """Return the means over 2 x 2 pixels; at odd edges over those that there are, and of floats the known ones.

    Args:
        image: (H, W) or (H, W, C), float32 or uint8.

    Returns:
        Half the size, rounded up, in the same type.
    """
    odd = [(0, image.shape[0] % 2), (0, image.shape[1] % 2), (0, 0)][: image.ndim]
    if image.shape[0] % 2 or image.shape[1] % 2:
        image = np.pad(image, odd, mode="edge")
    quarters = image[::2, ::2], image[::2, 1::2], image[1::2, ::2], image[1::2, 1::2]
    if image.dtype == np.uint8:
        total = np.stack(quarters).sum(0, dtype=np.uint16)
        return np.asarray((total + 2) // 4, np.uint8)
    mean: NDArray[Any] = (quarters[0] + quarters[1] + quarters[2] + quarters[3]) * np.float32(0.25)
    holes = np.isnan(mean)
    if holes.any():
        known = np.stack([quarter[holes] for quarter in quarters])
        counts = np.maximum(np.isfinite(known).sum(0), 1)
        partial = np.where(np.isnan(known).all(0), np.nan, np.nansum(known, 0) / counts)
        mean[holes] = partial.astype(np.float32)
    return mean


def packed(values: NDArray[Any]) -> bytes:
    """Return values as a page reads them: rows from the top, little-endian, `MISSING` for NaN."""
    if values.dtype == np.uint8:
        return values.tobytes()
    return np.where(np.isnan(values), MISSING, values).astype("<f4").tobytes()
