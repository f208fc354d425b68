"""What the pair shows at the points of the source's edges: the guide across each edge, and the source around it.

Both are turned and mirrored so that all edges look alike: the high side of the source is ahead along the normal. So a
network has less to learn, and cannot prefer a direction.
"""

from __future__ import annotations

import math

import numpy as np
import torch
from torch.nn.functional import grid_sample

from graphsr.measurements.edge_points import EdgePoints

# The guide is read at whole distances along the normal, up to so many guide pixels to both sides, ...
REACH = 12
# ... on so many lines beside each other, ...
LINES = 7
# ... which are so many source pixels apart, between so many guide pixels.
_BETWEEN, _LEAST_BETWEEN, _MOST_BETWEEN = 0.2, 1.0, 3.0
# Colours of a guide are reduced to so many.
COLOURS = 3
# Numbers that describe the source about a point.
DESCRIPTION = 31
# Weaker contrasts of a patch, in standard deviations of the guide, are not made larger.
_LEAST_CONTRAST = 0.05
# Values beyond the two sides of an edge, in steps of the edge, are cut off here.
_BEYOND = 2.0


def standardised(guide: np.ndarray) -> np.ndarray:
    """Return (COLOURS, H, W) the principal colours of a guide (H, W, C), in standard deviations of the guide.

    The first is that in which the guide varies most. A guide of fewer colours has zeros in the others.
    """
    # One plane a colour: sums over the last axis of few colours are slow. Products by torch, as the threads of NumPy's
    # wait busily after each, and slow down what follows.
    planes = torch.from_numpy(np.moveaxis(guide, 2, 0).reshape(guide.shape[2], -1).astype(np.float32))
    planes -= planes.mean(1, keepdim=True, dtype=torch.float64).float()
    covariance = (planes @ planes.T).double().numpy() / planes.shape[1]
    variances, vectors = np.linalg.eigh(covariance)
    std = math.sqrt(max(variances.sum(), 0.0)) or 1.0
    principal = torch.from_numpy((vectors.T[::-1][:COLOURS] / std).astype(np.float32)) @ planes
    colours = np.zeros((COLOURS, *guide.shape[:2]), np.float32)
    colours[: len(principal)] = principal.reshape(-1, *guide.shape[:2]).numpy()
    return colours


def axes_of(points: EdgePoints, matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the unit vectors across and along each edge (N, 2), x and y in the guide, for a (2, 3) placement."""
    across = points.normals @ np.linalg.inv(matrix[:, :2])
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return across, np.stack([-across[:, 1], across[:, 0]], 1) * _handedness(points.normals)[:, None]


def descriptions(points: EdgePoints, factor: float) -> np.ndarray:
    """Return (N, DESCRIPTION) what the source is like about each point, as if its normal were between 0 and 45 degrees.

    They are the source pixels around, the normal, where in its pixel the point is, the step and the factor.
    """
    around, inside = np.clip(points.around, -_BEYOND, 1 + _BEYOND), points.places % 1 - 0.5
    for axis in (0, 1):
        mirrored = points.normals[:, axis] < 0
        around = np.where(mirrored[:, None, None], np.flip(around, 2 - axis), around)
        inside[mirrored, axis] *= -1
    normals = np.abs(points.normals)
    swapped = normals[:, 1] > normals[:, 0]
    around = np.where(swapped[:, None, None], around.transpose(0, 2, 1), around)
    normals, inside = (np.where(swapped[:, None], each[:, ::-1], each) for each in (normals, inside))
    steps = np.log(np.clip(points.steps, 1e-3, None))[:, None]
    factors = np.full_like(steps, math.log2(factor))
    return np.concatenate([around.reshape(len(around), -1), normals, inside, steps, factors], 1, dtype=np.float32)


def patches(
    colours: np.ndarray, points: EdgePoints, matrix: np.ndarray, ahead: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Read the guide across the edges of the source.

    Args:
        colours: (COLOURS, H, W), see `standardised`.
        points: On the edges of the source.
        matrix: (2, 3) the placement: maps source pixels to guide pixels.
        ahead: (N,) how far from each point the middle of its patch lies along the normal, in guide pixels.

    Returns:
        (N, COLOURS + 1, LINES, 2 REACH + 1) the colours, about their mean in the patch and in units of their contrast
        there, and which samples lie in the guide; (N,) the logarithm of the contrast.
    """
    across, along = axes_of(points, matrix)
    between = np.clip(_BETWEEN * factor_of(matrix), _LEAST_BETWEEN, _MOST_BETWEEN)
    lines = (np.arange(LINES) - LINES // 2) * between
    distances = np.arange(-REACH, REACH + 1) + ahead[:, None]
    middles = points.places @ matrix[:, :2].T + matrix[:, 2] - 0.5
    x, y = (
        (
            middles[:, k, None, None]
            + lines[:, None] * along[:, k, None, None]
            + (distances * across[:, k, None])[:, None]
        )
        for k in (0, 1)
    )
    height, width = colours.shape[1:]
    inside = ((x > -1) & (x < width) & (y > -1) & (y < height))[:, None].astype(np.float32)
    values = _interpolated(colours, x, y) * inside
    count = np.maximum(inside.sum((2, 3), keepdims=True), 1)
    values -= values.sum((2, 3), keepdims=True) / count
    values *= inside
    contrast = np.sqrt(np.square(values).sum((1, 2, 3), keepdims=True) / count)
    values /= contrast + _LEAST_CONTRAST
    return np.concatenate([values, inside], 1), np.log(contrast + _LEAST_CONTRAST)[:, 0, 0, 0]


def factor_of(matrix: np.ndarray) -> float:
    """Return how many guide pixels a source pixel is wide."""
    return math.sqrt(abs(np.linalg.det(matrix[:, :2])))


def _handedness(normals: np.ndarray) -> np.ndarray:
    """Return (N,) -1 for normals that one mirror image turns to between 0 and 45 degrees, and 1 for the others."""
    x, y = normals.T
    return np.where((x < 0) ^ (y < 0) ^ (np.abs(y) > np.abs(x)), -1.0, 1.0)


def _interpolated(image: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return (N, C, LINES, M) an image (C, H, W) between its pixels, linearly, at x and y (N, LINES, M)."""
    height, width = image.shape[1:]
    places = np.stack([(2 * x + 1) / width - 1, (2 * y + 1) / height - 1], -1, dtype=np.float32)
    grid = torch.from_numpy(places.reshape(1, len(x), -1, 2))
    found = grid_sample(torch.from_numpy(image)[None], grid, padding_mode="border", align_corners=False)
    return found[0].transpose(0, 1).reshape(len(x), len(image), *x.shape[1:]).numpy()
