"""The fast bilateral solver: a smooth target on a coarse grid over position and colour.

Pixels that are near each other and alike in colour fall into one vertex of the grid, so that the system to solve has
few unknowns; the smoothness term compares each vertex with its neighbours in position and in colour.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from scipy import sparse
from torch import Tensor
from torch.nn.functional import interpolate

from graphsr.baselines.base import Baseline, Method
from graphsr.errors import InputError
from graphsr.features.channels import three_channels

# JPEG's YCbCr of RGB in 0..255; the chroma planes are shifted by 128.
_YCBCR = np.array([[0.299, 0.587, 0.114], [-0.168736, -0.331264, 0.5], [0.5, -0.418688, -0.081312]])
_BISTOCHASTIC_STEPS = 10
_SOLVER_STEPS = 25
_SOLVER_TOLERANCE = 1e-5
_LEAST_DIAGONAL = 1e-5


class BilateralSolver(Baseline):
    """Smooth the interpolated source; a pixel has the confidence of its source pixel: 1, or what was given.

    Args:
        spatial: Side of a vertex in the image, in source pixels.
        luma: Its side in brightness, of 255.
        chroma: Its sides in colour, of 255; a guide of one channel is luma alone.
        smoothness: The published lambda.
    """

    method = "bilateral-solver"

    def __init__(self, spatial: float = 0.25, luma: float = 8.0, chroma: float = 8.0, smoothness: float = 8.0) -> None:
        super().__init__()
        if min(spatial, luma, chroma, smoothness) <= 0:
            raise InputError("BilateralSolver: spatial, luma, chroma and smoothness must be positive")
        self.spatial, self.luma, self.chroma, self.smoothness = spatial, luma, chroma, smoothness

    def estimate(self, guide: Tensor, source: Tensor, interpolated: Tensor, confidence: Tensor) -> Tensor:
        confidence = interpolate(confidence, size=guide.shape[-2:], mode="nearest-exact")
        target = torch.empty_like(interpolated)
        for image in range(guide.shape[0]):
            grid = build_grid(self.coordinates(guide[image], (source.shape[-2], source.shape[-1])))
            values, weights = (plane[image, 0].double().cpu().numpy().ravel() for plane in (interpolated, confidence))
            values = grid.solve(values, weights, self.smoothness)
            target[image, 0] = torch.from_numpy(values.reshape(guide.shape[-2:]))
        return target

    def coordinates(self, guide: Tensor, source_size: tuple[int, int]) -> np.ndarray:
        """Return the vertex that each pixel of a guide falls into.

        Args:
            guide: (C, H, W) in 0..1.
            source_size: (h, w).

        Returns:
            (pixels, 3 or 5) row, column, luma and, of colours, two chromas.
        """
        height, width = guide.shape[-2:]
        sides = (self.spatial * n / m for n, m in zip((height, width), source_size, strict=True))
        row, column = (
            (np.arange(n) / max(1.0, side)).astype(np.int64) for n, side in zip((height, width), sides, strict=True)
        )
        position = [plane.ravel() for plane in np.meshgrid(row, column, indexing="ij")]
        if guide.shape[0] == 1:
            luma = 255 * guide[0].double().cpu().numpy().ravel()
            return np.stack([*position, (luma / self.luma).astype(np.int64)], 1)
        colours = 255 * three_channels(guide[None])[0].double().cpu().numpy().reshape(3, -1)
        luma, blue, red = _YCBCR @ colours + np.array([[0.0], [128.0], [128.0]])
        colour = [luma / self.luma, blue / self.chroma, red / self.chroma]
        return np.stack([*position, *(plane.astype(np.int64) for plane in colour)], 1)


@dataclass(frozen=True, eq=False)
class Grid:
    """The vertices that pixels fall into.

    Attributes:
        splat: (vertices, pixels), 1 where a pixel falls into a vertex.
        blur: (vertices, vertices), 2 * dimensions on the diagonal, 1 between neighbours.
    """

    splat: sparse.csr_matrix
    blur: sparse.csr_matrix

    def solve(self, values: np.ndarray, confidence: np.ndarray, smoothness: float) -> np.ndarray:
        """Return the smooth values closest to `values` where the confidence is large; all are (pixels,)."""
        mass = self.splat @ np.ones_like(values)
        scale, mass = bistochastic(self.blur, mass)
        weight = self.splat @ confidence
        right = self.splat @ (confidence * values)
        scaling = sparse.diags(scale)
        matrix = (smoothness * (sparse.diags(mass) - scaling @ self.blur @ scaling) + sparse.diags(weight)).tocsr()
        # Vertices without confidence start from the mean of what was interpolated there.
        mean = (self.splat @ values) / (self.splat @ np.ones_like(values))
        start = np.where(weight > 0, right / np.maximum(weight, _LEAST_DIAGONAL), mean)
        return np.asarray(self.splat.T @ conjugate_gradients(matrix, right, start))


def build_grid(coordinates: np.ndarray) -> Grid:
    """Build the grid of whole-numbered coordinates (pixels, dimensions)."""
    pixels, dimensions = coordinates.shape
    # One number for each vertex; an empty row at either end of every dimension keeps neighbours apart.
    spans = coordinates.max(0) - coordinates.min(0) + 3
    strides = np.concatenate([[1], np.cumprod(spans[:-1])])
    keys, vertex = np.unique((coordinates - coordinates.min(0) + 1) @ strides, return_inverse=True)
    splat = sparse.csr_matrix((np.ones(pixels), (vertex.ravel(), np.arange(pixels))), (len(keys), pixels))
    blur = sparse.identity(len(keys), format="csr") * (2.0 * dimensions)
    for stride in strides:
        beside = np.minimum(np.searchsorted(keys, keys + stride), len(keys) - 1)
        here = np.flatnonzero(keys[beside] == keys + stride)
        ahead = sparse.csr_matrix((np.ones(len(here)), (here, beside[here])), blur.shape)
        blur = blur + ahead + ahead.T
    return Grid(splat, blur.tocsr())


def bistochastic(blur: sparse.csr_matrix, mass: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return n and m, (vertices,), with  diag(n) blur diag(n) 1 = m  and m close to the mass (vertices,) given."""
    scale = np.ones_like(mass)
    for _ in range(_BISTOCHASTIC_STEPS):
        scale = np.sqrt(scale * mass / (blur @ scale))
    # Not the mass itself: so the smoothness term is exactly 0 for a constant.
    return scale, scale * (blur @ scale)


def conjugate_gradients(matrix: sparse.csr_matrix, right: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Solve  matrix x = right  for x (vertices,) in the published number of steps."""
    diagonal = np.maximum(matrix.diagonal(), _LEAST_DIAGONAL)
    x = start.copy()
    residual = right - matrix @ x
    search = residual / diagonal
    norm = residual @ search
    for _ in range(_SOLVER_STEPS):
        if np.linalg.norm(residual) <= _SOLVER_TOLERANCE * np.linalg.norm(right):
            break
        along = matrix @ search
        length = norm / (search @ along)
        x += length * search
        residual -= length * along
        preconditioned = residual / diagonal
        norm, before = residual @ preconditioned, norm
        search = preconditioned + (norm / before) * search
    return x


METHOD = Method(
    name="bilateral-solver",
    title="Fast bilateral solver",
    year=2016,
    reference="Barron, Poole, The Fast Bilateral Solver, ECCV 2016",
    build=lambda factor: BilateralSolver(),
)
