"""A guide rotated to the axes of its source, and targets rotated back.

Source pixels have to lie along rows and columns of the target to be averages of it. Where the source is rotated, the
solve therefore runs on the rotated guide, and its target is rotated back: the source keeps its own samples.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy import ndimage


@dataclass(frozen=True)
class RotatedFrame:
    """A larger image that holds an image of `size` (H, W), rotated about its middle by `angle` radians from x to y."""

    size: tuple[int, int]
    angle: float

    @property
    def margins(self) -> tuple[int, int]:
        """Return the pixels (down, right) by which the frame is larger on every side."""
        height, width = self.size
        down, right = abs(math.sin(self.angle)) * width / 2, abs(math.sin(self.angle)) * height / 2
        return math.ceil(down), math.ceil(right)

    @property
    def frame_size(self) -> tuple[int, int]:
        """Return (H, W) of the frame."""
        return self.size[0] + 2 * self.margins[0], self.size[1] + 2 * self.margins[1]

    def matrix(self, matrix: np.ndarray) -> np.ndarray:
        """Return a (2, 3) map of source pixels to pixels of the image, x before y, as one to pixels of the frame."""
        middle, frame_middle = np.array(self.size[::-1]) / 2, np.array(self.frame_size[::-1]) / 2
        back = self._rotation(-self.angle)[::-1, ::-1]
        return np.column_stack([back @ matrix[:, :2], back @ (matrix[:, 2] - middle) + frame_middle])

    def rotated(self, image: np.ndarray) -> np.ndarray:
        """Return (H, W, C) as the frame (H', W', C) shows it; beyond its border the last values are repeated."""
        return self._resampled(image, self.size, self.frame_size, self.angle)

    def rotated_back(self, image: np.ndarray) -> np.ndarray:
        """Return (H', W', C) of the frame as the image (H, W, C)."""
        return self._resampled(image, self.frame_size, self.size, -self.angle)

    def _resampled(
        self, image: np.ndarray, size: tuple[int, int], new_size: tuple[int, int], angle: float
    ) -> np.ndarray:
        rotation = self._rotation(angle)
        offset = (np.array(size) - 1) / 2 - rotation @ ((np.array(new_size) - 1) / 2)
        planes = [
            ndimage.affine_transform(plane, rotation, offset, new_size, order=1, mode="nearest")
            for plane in np.moveaxis(image, 2, 0).astype(np.result_type(image.dtype, np.float32))
        ]
        return np.stack(planes, 2)

    @staticmethod
    def _rotation(angle: float) -> np.ndarray:
        """Return (2, 2) what rotates y and x by an angle from x to y."""
        return np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])
