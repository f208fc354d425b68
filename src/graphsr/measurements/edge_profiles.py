"""Where the guide changes along lines across the edges of a source: what refines an alignment.

Along such a line the guide has one colour before the edge and another beyond it. How well two constants explain the
line, as a function of where one gives way to the other, tells where the edge is: it is the whole line that counts, so
that texture, and shadows beside the edge, pull less than they would at the point of the strongest gradient.
"""

from __future__ import annotations

import math

import numpy as np
from scipy import ndimage

from graphsr.measurements.edge_points import GROUPS, EdgePoints

# Lines are sampled at this distance, in guide pixels.
_STEP = 0.5
# Each side of a change has at least so many pixels.
_SIDE = 1.5
# Squared differences below this, in variances of the guide, are noise.
_NOISE = 0.005
# Changes are blurred by so many guide pixels, or source pixels if that is more, as the points are not more precise.
_BLUR, _SOURCE_BLUR = 0.5, 0.03
# More lines add time, but no precision.
_MOST_LINES = 6000
# What a dilation of a pixel (of an eighth of a source pixel, if that is more) costs, of the largest score there can be.
_DILATION = 0.1


class EdgeProfiles:
    """The guide along lines across the edges of a source, from the placement of the source that they were taken at.

    All edges of a source may seem to lie a little further to their low side, or to their high side: where things are
    larger in the source than in the guide, or where surfaces beside the edges slant. That is a parameter of its own,
    the dilation. Without it, things of which only one side has an edge would pull the placement.

    Args:
        guide: (H, W, C).
        points: On the edges of the source.
        matrix: (2, 3) the placement: maps source pixels to guide pixels.
        reach: How many guide pixels lines reach to both sides.
    """

    def __init__(self, guide: np.ndarray, points: EdgePoints, matrix: np.ndarray, reach: float) -> None:
        thinned, self.reach = points.thinned(_MOST_LINES), reach
        self.places, self.groups, self.matrix = thinned.places, thinned.groups, matrix
        normals = thinned.normals @ np.linalg.inv(matrix[:, :2])
        self.normals = normals / np.linalg.norm(normals, axis=1, keepdims=True)
        # Lines begin at other fractions of a step each, or all would favour the same positions.
        self.phase = np.random.default_rng(0).uniform(-0.5, 0.5, len(self.places)) * _STEP
        lines, inside = self._lines(guide)
        factor = math.sqrt(abs(np.linalg.det(matrix[:, :2])))
        blur = max(_BLUR, _SOURCE_BLUR * factor)
        scores = ndimage.gaussian_filter1d(_scores_of_changes(lines), blur / _STEP, axis=1, mode="nearest")
        scores -= scores.mean(1, keepdims=True)
        self.scores = scores * (thinned.weights * inside)[:, None]
        largest = float(self.scores.max(1).sum()) / GROUPS
        self.penalty = _DILATION * largest / max(1.0, factor / 8) ** 2

    def by_group(self, matrix: np.ndarray, dilation: float) -> np.ndarray:
        """Return (GROUPS,) how well the guide changes where the edges are, for a placement near the one of the lines.

        Args:
            matrix: (2, 3) maps source pixels to guide pixels.
            dilation: How far edges lie towards their high side, in guide pixels.
        """
        moved = self.places @ (matrix - self.matrix)[:, :2].T + (matrix - self.matrix)[:, 2]
        along = np.einsum("nk,nk->n", self.normals, moved) + dilation - self.phase
        position = np.clip((along + self.reach - _SIDE) / _STEP + 0.5, 0, self.scores.shape[1] - 1.001)
        first = position.astype(np.intp)
        share, rows = position - first, np.arange(len(first))
        found = (1 - share) * self.scores[rows, first] + share * self.scores[rows, first + 1]
        return np.bincount(self.groups, found, GROUPS) - self.penalty * dilation**2

    def _lines(self, guide: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return (N, M, C) the guide along the lines, in its standard deviations, and which (N,) are inside it."""
        steps = np.arange(-self.reach, self.reach + _STEP / 2, _STEP) + self.phase[:, None]
        middles = self.places @ self.matrix[:, :2].T + self.matrix[:, 2]
        x, y = np.moveaxis(middles[:, None] + steps[..., None] * self.normals[:, None] - 0.5, 2, 0)
        height, width = guide.shape[:2]
        inside = ((x >= -1) & (x <= width) & (y >= -1) & (y <= height)).all(1)
        values = guide.astype(np.float32)
        std = float((values - values.mean((0, 1))).std()) or 1.0
        planes = [
            ndimage.map_coordinates(plane / std, [y, x], order=1, mode="nearest") for plane in np.moveaxis(values, 2, 0)
        ]
        return np.stack(planes, 2), inside


def _scores_of_changes(lines: np.ndarray) -> np.ndarray:
    """Return how well two constants explain lines (N, M, C) that change between samples: (N, changes).

    It is the logarithm of the likelihood of the least squares that they leave.
    """
    samples = lines.shape[1]
    lines = lines - lines.mean(1, keepdims=True)  # for rounding
    least = round(_SIDE / _STEP)
    before = np.arange(least, samples - least + 1)
    sums = lines.cumsum(1, dtype=np.float64)[:, before - 1]
    total = np.square(lines, dtype=np.float64).sum((1, 2))[:, None]
    # The mean of the line is 0, so what lies beyond has the same sum with the other sign.
    explained = np.square(sums).sum(2) * (1 / before + 1 / (samples - before))
    return np.asarray(-np.log(np.maximum(total - explained, 0) / samples + _NOISE))
