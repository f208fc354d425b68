"""D: the mean of the target over the footprint of each source pixel, its adjoint, and the interpolation back.

Both axes are treated alike and apart. The footprint of a source pixel is called a cell: cell c covers [origin + c step,
origin + (c + 1) step) in target pixels, and a pixel counts by the length it shares with it. Two images of the same
view, edge to edge, have origin 0 and step size / cells; a window of a raster, or a source that had to be aligned, has
any, so that some cells may lie outside the target and some pixels in no cell. Since step >= 1 a pixel meets at most two
cells, so D and its adjoint are a handful of gathers, never a matrix.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from torch.nn.functional import avg_pool2d, interpolate, pad

from graphsr.errors import InputError

# A share below this is rounding of c * step, not a real overlap.
_NEGLIGIBLE = 1e-9
# The cubic kernel that torch uses.
_CUBIC = -0.75


@dataclass(frozen=True, eq=False)
class Axis:
    """One axis of D: `cells` source pixels over `size` target pixels, as index and weight tables."""

    size: int
    cells: int
    origin: float  # where cell 0 begins, in pixels
    step: float  # pixels a cell
    first: np.ndarray  # (cells,) first pixel of each cell
    count: np.ndarray  # (cells,) how many pixels it meets; 0 for a cell outside the target
    taps: np.ndarray  # (cells, most) their weights in the mean, zero padded; each row sums to 1, or 0 outside
    owners: np.ndarray  # (size, 2) the cells a pixel meets (twice the same one where there is one; the nearest if none)
    shares: np.ndarray  # (size, 2) its weights in them
    visible: np.ndarray  # (cells,) the part of each cell that lies in the target

    @property
    def even(self) -> bool:
        """Return whether cells are equal blocks of whole pixels that fill the axis."""
        return self.origin == 0 and self.size % self.cells == 0 and self.step == self.size // self.cells

    @property
    def home(self) -> np.ndarray:
        """Return (size,) the cell that holds most of each pixel."""
        return np.where(self.shares[:, 0] >= self.shares[:, 1], self.owners[:, 0], self.owners[:, 1])

    @property
    def straddles(self) -> np.ndarray:
        """Return (size,) which pixels lie in two cells."""
        return self.shares[:, 1] > 0

    @property
    def couples_cells(self) -> bool:
        """Return whether a cell may have no pixel of its own."""
        own = self.count == 0
        own[self.owners[~self.straddles, 0]] = True
        return 1 < self.step < 2 or not bool(own.all())


@lru_cache(maxsize=256)
def axis(size: int, cells: int, origin: float = 0.0, step: float | None = None) -> Axis:
    """Build the tables of one axis.

    A cell that the target's border cuts averages over its visible part. If that is less than a pixel and less than half
    of the cell, the cell counts as outside.
    """
    step = size / cells if step is None else step
    edges = origin + np.arange(cells + 1) * step
    begin, end = np.clip(edges[:-1], 0.0, size), np.clip(edges[1:], 0.0, size)
    inside = _inside(end - begin, step)
    if not inside.any():
        raise InputError(
            f"Sampling: {cells} source pixels of {step:g} target pixels from {origin:g} on all lie outside the target, "
            f"which goes from 0 to {size}"
        )
    first = np.minimum(np.floor(begin + _NEGLIGIBLE).astype(np.int64), size - 1)
    last = np.minimum(np.ceil(end - _NEGLIGIBLE).astype(np.int64), size) - 1
    count = np.where(inside, last - first + 1, 0)
    pixels = first[:, None] + np.arange(count.max())
    overlap = np.minimum(end[:, None], pixels + 1) - np.maximum(begin[:, None], pixels)
    taps = np.where(pixels < (first + count)[:, None], overlap, 0.0)
    taps /= np.where(inside, taps.sum(1), 1.0)[:, None]
    owners, shares = _transposed(size, first, count, taps)
    return Axis(size, cells, origin, step, first, count, taps, owners, shares, inside * (end - begin) / step)


def _inside(visible: np.ndarray, step: float) -> np.ndarray:
    """Return which cells lie in the target, enough of them, from the length of each that does (cells,)."""
    inside = visible >= min(1.0, 0.5 * step) - _NEGLIGIBLE
    # A target as narrow as a pixel may see no more than a part of a cell.
    return inside if inside.any() else (visible > _NEGLIGIBLE) & (visible == visible.max())


def _transposed(size: int, first: np.ndarray, count: np.ndarray, taps: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return owners and shares (size, 2): the cells that each pixel meets, and its weights in them."""
    owners = np.full((size, 2), -1, np.int64)
    shares = np.zeros((size, 2))
    for cell in range(first.size):
        for tap in range(count[cell]):
            pixel = first[cell] + tap
            place = 0 if owners[pixel, 0] < 0 else 1
            owners[pixel, place] = cell
            shares[pixel, place] = taps[cell, tap]
    owned = np.flatnonzero(owners[:, 0] >= 0)
    # Cells follow each other without gaps, so only pixels before the first or behind the last one have none.
    nearest = np.clip(np.arange(size), owned[0], owned[-1])
    owners[:, 0] = owners[nearest, 0]
    owners[:, 1] = np.where(owners[:, 1] < 0, owners[:, 0], owners[:, 1])
    return owners, shares


def _as_size(name: str, size: tuple[int, int]) -> tuple[int, int]:
    height, width = (int(n) for n in size)
    if height < 1 or width < 1:
        raise InputError(f"{name} must be at least 1 x 1 pixel, not {height} x {width}")
    return height, width


class Sampling:
    """The linear map D from a target of `size` (H, W) to a source of `source_size` (h, w).

    `D(y)` averages (..., H, W) to (..., h, w), each pixel weighted by the area it shares with the source pixel;
    `D.adjoint(s)` is its exact transpose. Any factor >= 1, also non-integer and different for the two axes.

    Args:
        size: (H, W) of the target.
        source_size: (h, w) of the source.
        origin: Where source pixel (0, 0) begins (down, right), in target pixels. Default the target's corner. The
            source need not cover the target, nor the target the source: a source pixel outside gets 0, a target pixel
            that no source pixel covers has no part in any.
        step: How many target pixels a source pixel measures (down, right). Default edge to edge. Source pixels that the
            target's border cuts average over what is inside; those of which less than a target pixel and less than half
            is inside count as outside.

    Example:
        >>> import torch, graphsr
        >>> D = graphsr.Sampling((4, 4), (2, 2))
        >>> D(torch.arange(16.0).reshape(4, 4))
        tensor([[ 2.5000,  4.5000],
                [10.5000, 12.5000]])
    """

    def __init__(
        self,
        size: tuple[int, int],
        source_size: tuple[int, int],
        *,
        origin: tuple[float, float] = (0.0, 0.0),
        step: tuple[float, float] | None = None,
    ) -> None:
        self.size = _as_size("size", size)
        self.source_size = _as_size("source_size", source_size)
        if step is None and (self.size[0] < self.source_size[0] or self.size[1] < self.source_size[1]):
            raise InputError(
                f"the target ({self.size[0]} x {self.size[1]}) must be at least as large as the source "
                f"({self.source_size[0]} x {self.source_size[1]}): the factor cannot be below 1"
            )
        if step is not None and not min(step) >= 1:
            raise InputError(f"Sampling: step must be at least 1 pixel, not {step}: the factor cannot be below 1")
        steps = (None, None) if step is None else step
        self.rows = axis(self.size[0], self.source_size[0], origin[0], steps[0])
        self.columns = axis(self.size[1], self.source_size[1], origin[1], steps[1])

    def __repr__(self) -> str:
        placed = "" if self.edge_to_edge else f", origin={self.origin}, step={self.factor}"
        return f"Sampling(size={self.size}, source_size={self.source_size}{placed})"

    @property
    def factor(self) -> tuple[float, float]:
        """Return how many target pixels a source pixel measures (down, right)."""
        return self.rows.step, self.columns.step

    @property
    def origin(self) -> tuple[float, float]:
        """Return where source pixel (0, 0) begins (down, right), in target pixels."""
        return self.rows.origin, self.columns.origin

    @property
    def visible(self) -> np.ndarray:
        """Return the part of each source pixel that lies in the target, (h, w); 0 for one that counts as outside."""
        return np.outer(self.rows.visible, self.columns.visible)

    @property
    def edge_to_edge(self) -> bool:
        """Return whether the source covers the target and nothing else."""
        return all(along.origin == 0 and along.step == along.size / along.cells for along in (self.rows, self.columns))

    @property
    def straddles(self) -> bool:
        """Return whether some target pixels lie in more than one source pixel: a factor that is not whole."""
        return bool(self.rows.straddles.any() or self.columns.straddles.any())

    @property
    def couples_cells(self) -> bool:
        """Return whether a source pixel may have no target pixel of its own: a factor between 1 and 2."""
        return self.rows.couples_cells or self.columns.couples_cells

    def __call__(self, target: torch.Tensor) -> torch.Tensor:
        """Average a target (..., H, W) to (..., h, w)."""
        self._check(target, self.size, "target")
        return _average(_average(target, self.rows, -2), self.columns, -1)

    def adjoint(self, source: torch.Tensor) -> torch.Tensor:
        """Apply the transpose to (..., h, w): (..., H, W)."""
        self._check(source, self.source_size, "source")
        return _widen(_widen(source, self.columns, -1), self.rows, -2)

    def masked(self, target: torch.Tensor, valid: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Average only the valid pixels of (..., H, W); return also (..., h, w) the share of each cell that is valid.

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
    if along.even and along.step == 1:
        return values
    if along.even:
        blocks: torch.Tensor = torch.unflatten(values, dim, (along.cells, along.size // along.cells))
        return blocks.mean(dim)
    first = torch.as_tensor(along.first, device=values.device)
    taps = torch.as_tensor(along.taps, dtype=values.dtype, device=values.device)
    shape = [1] * values.ndim
    shape[dim] = along.cells
    total = torch.zeros(1, dtype=values.dtype, device=values.device)
    for tap in range(taps.shape[1]):
        pixel = (first + tap).clamp_max(along.size - 1)
        total = total + taps[:, tap].reshape(shape) * values.index_select(dim, pixel)
    return total


def _widen(values: torch.Tensor, along: Axis, dim: int) -> torch.Tensor:
    if along.even and along.step == 1:
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
    if bool((known > 0).all()) or source.shape[-2:] == (1, 1):
        return source
    return fill_from(source, known, fill_holes(*halved(source, known)))


def halved(source: torch.Tensor, known: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return means of the known pixels of 2 x 2 blocks (B, K, h/2, w/2), and which have any; known (B, K, h, w)."""
    known = known.to(source.dtype)
    odd = (0, source.shape[-1] % 2, 0, source.shape[-2] % 2)
    weight = avg_pool2d(pad(known, odd), 2)
    mean = avg_pool2d(pad(torch.where(known > 0, source, torch.zeros_like(source)), odd), 2)
    return mean / weight.clamp_min(_NEGLIGIBLE), (weight > 0).to(source.dtype)


def fill_from(source: torch.Tensor, known: torch.Tensor, coarse: torch.Tensor) -> torch.Tensor:
    """Fill unknown pixels of (B, K, h, w) from the image of half the resolution; known ones stay."""
    finer = interpolate(coarse, scale_factor=2, mode="bilinear", align_corners=False)
    return torch.where(known > 0, source, finer[..., : source.shape[-2], : source.shape[-1]])


def interpolate_source(
    source: torch.Tensor, size: tuple[int, int] | Sampling, known: torch.Tensor | None = None
) -> torch.Tensor:
    """Interpolate (B, K, h, w) to (B, K, H, W), pixel-centred and bicubic; holes are filled first, never NaN.

    `size` is (H, W), or the Sampling that says where the source lies. `known` (B, 1 or K, h, w) marks the pixels that
    have a value (default: those that are finite).
    """
    if known is None:
        known = torch.isfinite(source)
    filled = fill_holes(torch.nan_to_num(source, nan=0.0, posinf=0.0, neginf=0.0), known)
    if isinstance(size, Sampling):
        if not size.edge_to_edge:
            return _cubic(_cubic(filled, size.rows, -2), size.columns, -1)
        size = size.size
    if tuple(filled.shape[-2:]) == tuple(size):
        return filled
    return interpolate(filled, size=size, mode="bicubic", align_corners=False)


def _cubic(values: torch.Tensor, along: Axis, dim: int) -> torch.Tensor:
    """Interpolate along one axis by four gathers; beyond the border the last value is repeated."""
    centre = (np.arange(along.size) + 0.5 - along.origin) / along.step - 0.5
    before = np.floor(centre).astype(np.int64)
    shape = [1] * values.ndim
    shape[dim] = along.size
    total = torch.zeros(1, dtype=values.dtype, device=values.device)
    for tap in range(-1, 3):
        place = torch.as_tensor(np.clip(before + tap, 0, along.cells - 1), device=values.device)
        weight = torch.as_tensor(_cubic_weight(before + tap - centre), dtype=values.dtype, device=values.device)
        total = total + weight.reshape(shape) * values.index_select(dim, place)
    return total


def _cubic_weight(distance: np.ndarray) -> np.ndarray:
    d = np.abs(distance)
    near = ((_CUBIC + 2) * d - (_CUBIC + 3)) * d * d + 1
    far = ((_CUBIC * d - 5 * _CUBIC) * d + 8 * _CUBIC) * d - 4 * _CUBIC
    return np.where(d <= 1, near, np.where(d < 2, far, 0.0))
