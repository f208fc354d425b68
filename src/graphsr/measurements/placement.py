"""How a source lies on its guide: what was found, in parameters, as a map, and in words."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from graphsr.measurements.rotation import RotatedFrame
from graphsr.sampling import Sampling


@dataclass(frozen=True, eq=False)
class Alignment:
    """How a source lies on its guide.

    Attributes:
        matrix: (2, 3) maps x and y in source pixels to x and y in guide pixels, corners at 0; None: edge to edge.
        words: What was found, or why nothing was.
        error: Estimated standard error of the placement, in guide pixels.
    """

    matrix: np.ndarray | None = None
    words: str = ""
    error: float = math.inf

    def same_place(self, other: Alignment) -> bool:
        """Return whether another one puts the source at the same place."""
        if self.matrix is None or other.matrix is None:
            return self.matrix is other.matrix
        return bool(np.array_equal(self.matrix, other.matrix))

    def frame(self, size: tuple[int, int]) -> RotatedFrame:
        """Return the frame about a guide of `size` (H, W) in which the source lies along rows and columns."""
        angle = 0.0 if self.matrix is None else math.atan2(self.matrix[1, 0], self.matrix[0, 0])
        return RotatedFrame(size, angle)

    def sampling(self, size: tuple[int, int], source_size: tuple[int, int], footprint: str = "box") -> Sampling:
        """Return D for the frame about a guide of `size` (H, W) and a source of `source_size` (h, w)."""
        if self.matrix is None:
            return Sampling(size, source_size, footprint=footprint)
        frame = self.frame(size)
        (step_x, _, x), (_, step_y, y) = frame.matrix(self.matrix).tolist()
        return Sampling(frame.frame_size, source_size, origin=(y, x), step=(step_y, step_x), footprint=footprint)


EDGE_TO_EDGE = Alignment()


@dataclass(frozen=True, eq=False)
class Placements:
    """Placements of a source by four parameters, all in guide pixels.

    They are the shift x and y, and scale and rotation about the middle of the guide, at half a diagonal from it.

    Attributes:
        nominal: (2, 3) the placement edge to edge.
        size: W and H of the guide.
    """

    nominal: np.ndarray
    size: np.ndarray

    @classmethod
    def edge_to_edge(cls, size: tuple[int, int], source_size: tuple[int, int]) -> Placements:
        """Return those of a source of `source_size` (h, w) about edge to edge on a guide of `size` (H, W)."""
        width_and_height = np.array(size[::-1])
        nominal = np.column_stack([np.diag(width_and_height / np.array(source_size[::-1])), np.zeros(2)])
        return cls(nominal, width_and_height)

    @property
    def half(self) -> float:
        """Return half a diagonal of the guide."""
        return float(np.hypot(*self.size)) / 2

    def matrix(self, parameters: np.ndarray) -> np.ndarray:
        """Return the (2, 3) map of source pixels to guide pixels."""
        scale, angle = parameters[2:] / self.half
        about = (1 + scale) * np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
        return np.column_stack([about @ self.nominal[:, :2], self.size / 2 - about @ self.size / 2 + parameters[:2]])

    def alignment(self, parameters: np.ndarray, error: float) -> Alignment:
        """Return the placement of parameters (4,) whose standard error is known."""
        sure = f" (give or take {error:.2g} pixels)" if math.isfinite(error) else ""
        words = f"the source belongs {self.in_words(parameters)}{sure}"
        return Alignment(self.matrix(parameters), words, error)

    def in_words(self, parameters: np.ndarray) -> str:
        """Return shift, scale and rotation in words."""
        x, y, scale, rotation = parameters
        across = f"{abs(x):.2f} guide pixels further {'right' if x >= 0 else 'left'}"
        words = f"{across} and {abs(y):.2f} further {'down' if y >= 0 else 'up'}"
        if scale:
            words += f", {abs(scale) / self.half:.2%} {'larger' if scale > 0 else 'smaller'}"
        if rotation:
            sense = "clockwise" if rotation > 0 else "counterclockwise"
            words += f", rotated by {math.degrees(abs(rotation) / self.half):.2f} degrees {sense}"
        return words
