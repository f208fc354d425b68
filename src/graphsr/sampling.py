"""D: averaging the target over the footprint of each source pixel, its adjoint, and the interpolation back.

Both axes are treated alike and apart: a source of `cells` pixels lies over a target of `size` pixels, cell c
covers [c f, (c + 1) f) with f = size / cells, and a pixel counts by the length it shares with the cell. Since
f >= 1 a pixel meets at most two cells, so D and its adjoint are a handful of gathers, never a matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch.nn.functional import avg_pool2d, interpolate, pad

from graphsr.errors import InputError

# A share below this is rounding of c * f, not a real overlap.
_NEGLIGIBLE = 1e-9


@dataclass(frozen=True)
class Axis:
    """One axis of D: `cells` source pixels over `size` target pixels, as index and weight tables."""

    size: int
    cells: int
    first: np.ndarray  # (cells,) first pixel of each cell
    count: np.ndarray  # (cells,) how many pixels it meets
    taps: np.ndarray  # (cells, most) their weights in the mean, zero padded; each row sums to 1
    owners: np.ndarray  # (size, 2) the cells a pixel meets (twice the same one where there is only one)
    shares: np.ndarray  # (size, 2) its weights in them

    @property
    def factor(self) -> float:
        return self.size / self.cells

    @property
    def home(self) -> np.ndarray:
        """(size,) the cell that holds most of each pixel."""
        return np.where(self.shares[:, 0] >= self.shares[:, 1], self.owners[:, 0], self.owners[:, 1])

    @property
    def straddles(self) -> np.ndarray:
        """(size,) which pixels lie in two cells."""
        return self.shares[:, 1] > 0


@lru_cache(maxsize=64)
def axis(size: int, cells: int) -> Axis:
    factor = size / cells
    edges = np.arange(cells + 1) * factor
    first = np.floor(edges[:-1] + _NEGLIGIBLE).astype(np.int64)
    last = np.minimum(np.ceil(edges[1:] - _NEGLIGIBLE).astype(np.int64), size) - 1
    count = last - first + 1
    pixels = first[:, None] + np.arange(count.max())
    overlap = np.minimum(edges[1:, None], pixels + 1) - np.maximum(edges[:-1, None], pixels)
    taps = np.where(pixels <= last[:, None], overlap, 0.0) / factor
    taps /= taps.sum(1, keepdims=True)

    owners = np.full((size, 2), -1, np.int64)
    shares = np.zeros((size, 2))
    for cell in range(cells):
        for tap in range(count[cell]):
            pixel = first[cell] + tap
            place = 0 if owners[pixel, 0] < 0 else 1
            owners[pixel, place] = cell
            shares[pixel, place] = taps[cell, tap]
    owners[:, 1] = np.where(owners[:, 1] < 0, owners[:, 0], owners[:, 1])
    return Axis(size, cells, first, count, taps, owners, shares)


def _as_size(name: str, size: tuple[int, int]) -> tuple[int, int]:
    height, width = (int(n) for n in size)
    if height < 1 or width < 1:
        raise InputError(f"{name} must be at least 1 x 1 pixel, not {height} x {width}")
    return height, width


class Sampling:
    """The linear map D from a target of `size` (H, W) to a source of `source_size` (h, w).

    `D(y)` averages (..., H, W) to (..., h, w), each pixel weighted by the area it shares with the source pixel;
    `D.adjoint(s)` is its exact transpose. Any factor >= 1, also non-integer and different for the two axes.
    """

    def __init__(self, size: tuple[int, int], source_size: tuple[int, int]) -> None:
        self.size = _as_size("size", size)
        self.source_size = _as_size("source_size", source_size)
        if self.size[0] < self.source_size[0] or self.size[1] < self.source_size[1]:
            raise InputError(
                f"the target ({self.size[0]} x {self.size[1]}) must be at least as large as the source "
                f"({self.source_size[0]} x {self.source_size[1]}): the factor cannot be below 1"
            )
        self.rows = axis(self.size[0], self.source_size[0])
        self.columns = axis(self.size[1], self.source_size[1])

    def __repr__(self) -> str:
        return f"Sampling(size={self.size}, source_size={self.source_size})"

    @property
    def factor(self) -> tuple[float, float]:
        return self.rows.factor, self.columns.factor

    @property
    def straddles(self) -> bool:
        """Whether some target pixels lie in more than one source pixel: a factor that is not whole."""
        return bool(self.rows.straddles.any() or self.columns.straddles.any())

    @property
    def couples_cells(self) -> bool:
        """Whether a source pixel may have no target pixel of its own: a factor between 1 and 2."""
        return any(1 < along.factor < 2 for along in (self.rows, self.columns))

    def __call__(self, target: torch.Tensor) -> torch.Tensor:
        """(..., H, W) -> (..., h, w)"""
        self._check(target, self.size, "target")
        return _average(_average(target, self.rows, -2), self.columns, -1)

    def adjoint(self, source: torch.Tensor) -> torch.Tensor:
        """(..., h, w) -> (..., H, W)"""
        self._check(source, self.source_size, "source")
        return _spread(_spread(source, self.columns, -1), self.rows, -2)

    def masked(self, target: torch.Tensor, valid: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Average only the valid pixels of (..., H, W); also (..., h, w) the share of each cell that is valid.

        A cell without a valid pixel gets the value 0 and the share 0.
        """
        valid = valid.to(target.dtype)
        share = self(valid)
        mean = self(torch.where(valid > 0, target, torch.zeros_like(target)) * valid)
        return torch.where(share > 0, mean / share.clamp_min(_NEGLIGIBLE), torch.zeros_like(mean)), share

    @staticmethod
    def _check(values: torch.Tensor, size: tuple[int, int], name: str) -> None:
        if tuple(values.shape[-2:]) != size:
            raise InputError(f"{name} must end in {size}, but its shape is {tuple(values.shape)}")


def _average(values: torch.Tensor, along: Axis, dim: int) -> torch.Tensor:
    if along.size == along.cells:
        return values
    if along.size % along.cells == 0:
        return values.unflatten(dim, (along.cells, along.size // along.cells)).mean(dim)
    first = torch.as_tensor(along.first, device=values.device)
    taps = torch.as_tensor(along.taps, dtype=values.dtype, device=values.device)
    shape = [1] * values.ndim
    shape[dim] = along.cells
    total = torch.zeros(1, dtype=values.dtype, device=values.device)
    for tap in range(taps.shape[1]):
        pixel = (first + tap).clamp_max(along.size - 1)
        total = total + taps[:, tap].reshape(shape) * values.index_select(dim, pixel)
    return total


def _spread(values: torch.Tensor, along: Axis, dim: int) -> torch.Tensor:
    if along.size == along.cells:
        return values
    owners = torch.as_tensor(along.owners, device=values.device)
    shares = torch.as_tensor(along.shares, dtype=values.dtype, device=values.device)
    shape = [1] * values.ndim
    shape[dim] = along.size
    spread = shares[:, 0].reshape(shape) * values.index_select(dim, owners[:, 0])
    if along.straddles.any():
        spread = spread + shares[:, 1].reshape(shape) * values.index_select(dim, owners[:, 1])
    return spread


def fill_holes(source: torch.Tensor, known: torch.Tensor) -> torch.Tensor:
    """Fill unknown source pixels (B, K, h, w) smoothly from the known ones (B, 1 or K, h, w), coarse to fine.

    Known pixels keep their value. A channel without any known pixel becomes 0.
    """
    known = known.to(source.dtype).expand_as(source)
    source = torch.where(known > 0, source, torch.zeros_like(source))
    if bool((known > 0).all()):
        return source
    if source.shape[-2:] == (1, 1):
        return source
    odd = (0, source.shape[-1] % 2, 0, source.shape[-2] % 2)
    weight = avg_pool2d(pad(known, odd), 2)
    mean = avg_pool2d(pad(known * source, odd), 2)
    coarse_known = (weight > 0).to(source.dtype)
    coarse = fill_holes(mean / weight.clamp_min(_NEGLIGIBLE), coarse_known)
    filled = interpolate(coarse, scale_factor=2, mode="bilinear", align_corners=False)
    return torch.where(known > 0, source, filled[..., : source.shape[-2], : source.shape[-1]])


def interpolate_source(source: torch.Tensor, size: tuple[int, int], known: torch.Tensor | None = None) -> torch.Tensor:
    """Pixel-centred bicubic interpolation of (B, K, h, w) to (B, K, H, W); holes are filled first, never NaN.

    `known` (B, 1 or K, h, w) marks the pixels that have a value (default: those that are finite).
    """
    if known is None:
        known = torch.isfinite(source)
    filled = fill_holes(torch.nan_to_num(source, nan=0.0, posinf=0.0, neginf=0.0), known)
    if tuple(filled.shape[-2:]) == tuple(size):
        return filled
    return interpolate(filled, size=size, mode="bicubic", align_corners=False)
