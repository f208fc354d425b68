"""How much of an edge the guide has where the edges of a source are, for any placement of the source."""

from __future__ import annotations

import math
from copy import copy

import numpy as np
from scipy import ndimage

from graphsr.measurements.edge_points import EdgePoints

# The standard deviation of the Gaussian whose derivative finds the guide's edges: in guide pixels; and in source
# pixels, as the points of the source are less precise at large factors. The larger counts.
_BLUR = 0.7
_SOURCE_BLUR = 0.07
# An edge of the guide counts half where its squared gradient is this quantile of all.
_HALF_COUNTED = 0.8
# Points that leave the guide by more pixels than this are all alike.
_MARGIN = 2


def guide_edges(guide: np.ndarray, blur: float) -> np.ndarray:
    """Return (3, H, W) the structure tensor xx, 2 xy, yy of a guide (H, W, C), scaled to between 0 and 1."""
    tensor = np.zeros((3, *guide.shape[:2]), np.float32)
    for channel in np.moveaxis(guide, 2, 0):
        values = channel.astype(np.float32)
        across, down = (ndimage.gaussian_filter(values, blur, order, mode="nearest") for order in ((0, 1), (1, 0)))
        for plane, product in zip(tensor, (across * across, 2 * across * down, down * down), strict=True):
            plane += product
    strength = tensor[0] + tensor[2]
    half = float(np.quantile(strength, _HALF_COUNTED)) or float(strength.max()) or 1.0
    tensor /= strength + np.float32(half)
    return tensor


class Score:
    """How much of an edge the guide has at the points of the source's edges, as a function of their placement."""

    def __init__(self, guide: np.ndarray, points: EdgePoints, nominal: np.ndarray) -> None:
        self.points, self.nominal = points, nominal
        factor = math.sqrt(nominal[0, 0] * nominal[1, 1])
        edges = guide_edges(guide, max(_BLUR, _SOURCE_BLUR * factor))
        self.size = edges.shape[1:]
        # Points that leave the guide find there what is usual in it.
        self.edges = np.empty((self.size[0] + 2 * _MARGIN, self.size[1] + 2 * _MARGIN, 3), np.float32)
        self.edges[:] = edges.mean((1, 2))
        self.edges[_MARGIN:-_MARGIN, _MARGIN:-_MARGIN] = np.moveaxis(edges, 0, 2)  # points read all three at once
        self.weights = self._weights()

    def thinned(self, most: int) -> Score:
        """Return the same with at most so many of the points, evenly chosen."""
        few = copy(self)
        few.points = self.points.thinned(most)
        few.weights = few._weights()
        return few

    def at_shifts(self, matrix: np.ndarray, reach: int) -> np.ndarray:
        """Return (2 reach + 1, 2 reach + 1) the score at whole shifts down and right, to the nearest pixel."""
        nearest = np.rint(self._position(matrix))
        shifts = range(-reach, reach + 1)
        return np.array([[self._sum(self._at(nearest + np.array([x, y]))) for x in shifts] for y in shifts])

    def _weights(self) -> np.ndarray:
        """Return (N, 3) what the structure tensor is multiplied by at every point."""
        normals = self.points.normals @ np.linalg.inv(self.nominal[:, :2])
        x, y = (normals / np.linalg.norm(normals, axis=1, keepdims=True)).T
        return np.asarray((np.stack([x * x, x * y, y * y], 1) * self.points.weights[:, None]).astype(np.float32))

    def _position(self, matrix: np.ndarray) -> np.ndarray:
        return np.asarray(self.points.places @ matrix[:, :2].T + matrix[:, 2] - 0.5)

    def _at(self, pixels: np.ndarray) -> np.ndarray:
        """Return (N, 3) the guide's edges at whole x and y (N, 2)."""
        height, width = self.size
        columns = np.clip(pixels[:, 0], -_MARGIN, width + _MARGIN - 1).astype(np.intp) + _MARGIN
        rows = np.clip(pixels[:, 1], -_MARGIN, height + _MARGIN - 1).astype(np.intp) + _MARGIN
        return np.asarray(self.edges[rows, columns])

    def _sum(self, found: np.ndarray) -> float:
        return float(np.vdot(found, self.weights))
