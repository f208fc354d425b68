"""D: the mean of the target over the footprint of each source pixel, its adjoint, and the interpolation back.

Both axes are treated alike and apart (`graphsr.axes`), so that D and its adjoint are a handful of gathers, never a
matrix. Two images of the same view, edge to edge, have origin 0 and step size / source_size; a window of a raster, or a
source that had to be aligned, has any, so that some source pixels may lie outside the target and some target pixels
under none.
"""

from __future__ import annotations

import numpy as np
import torch
from torch.nn.functional import avg_pool2d, interpolate, pad

from graphsr.axes import Axis, axis
from graphsr.errors import InputError
from graphsr.footprints import check_footprint, cubic_weight

# The least share of known pixels by which a mean is divided.
_NEGLIGIBLE = 1e-9
# The cubic kernel that torch uses.
_CUBIC = -0.75


def _as_size(name: str, size: tuple[int, int]) -> tuple[int, int]:
    height, width = (int(n) for n in size)
    if height < 1 or width < 1:
        raise InputError(f"{name} must be at least 1 x 1 pixel, not {height} x {width}")
    return height, width


class Sampling:
    """The linear map D from a target of `size` (H, W) to a source of `source_size` (h, w).

    `D(y)` averages (..., H, W) to (..., h, w), each pixel weighted by the area it shares with the source pixel, or as
    another footprint says; `D.adjoint(s)` is its exact transpose. Any factor >= 1, also non-integer and different for
    the two axes.

    Args:
        size: (H, W) of the target.
        source_size: (h, w) of the source.
        origin: Where source pixel (0, 0) begins (down, right), in target pixels. Default the target's corner. The
            source need not cover the target, nor the target the source: a source pixel outside gets 0, a target pixel
            that no source pixel covers has no part in any.
        step: How many target pixels a source pixel measures (down, right). Default edge to edge. Source pixels that the
            target's border cuts average over what is inside; those of which less than a target pixel and less than half
            is inside count as outside.
        footprint: What a source pixel averages over: "box" its area; "bicubic" as PIL and MATLAB reduce images;
            "gaussian:SIGMA" with SIGMA in source pixels; "point" its middle. Those other than the box count as outside
            where their middle does.

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
        footprint: str = "box",
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
        check_footprint(footprint)
        self.footprint = footprint
        steps = (None, None) if step is None else step
        self.rows = axis(self.size[0], self.source_size[0], origin[0], steps[0], footprint)
        self.columns = axis(self.size[1], self.source_size[1], origin[1], steps[1], footprint)

    def __repr__(self) -> str:
        placed = "" if self.edge_to_edge else f", origin={self.origin}, step={self.factor}"
        kind = "" if self.footprint == "box" else f", footprint={self.footprint!r}"
        return f"Sampling(size={self.size}, source_size={self.source_size}{placed}{kind})"

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
        """Return whether source pixels share their target pixels: a factor between 1 and 2, or a wide footprint."""
        return self.rows.couples_cells or self.columns.couples_cells

    def __call__(self, target: torch.Tensor) -> torch.Tensor:
        """Average a target (..., H, W) to (..., h, w)."""
        self._check(target, self.size, "target")
        return _average(_average(target, self.rows, -2), self.columns, -1)

    def adjoint(self, source: torch.Tensor) -> torch.Tensor:
        """Apply the transpose to (..., h, w): (..., H, W)."""
        self._check(source, self.source_size, "source")
        return _widen(_widen(source, self.columns, -1), self.rows, -2)

    def moved(self, down: float, right: float) -> Sampling:
        """Return the same, its source pixels moved by so many target pixels."""
        return Sampling(
            self.size,
            self.source_size,
            origin=(self.origin[0] + down, self.origin[1] + right),
            step=self.factor,
            footprint=self.footprint,
        )

    def masked(self, target: torch.Tensor, valid: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Average only the valid pixels of (..., H, W); return also (..., h, w) the share of each source pixel.

        A source pixel without a valid pixel gets the value 0 and the share 0.
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
        for n in range(1, owners.shape[1]):
            spread = spread + shares[:, n].reshape(shape) * values.index_select(dim, owners[:, n])
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
    if isinstance(size, Sampling) and not size.edge_to_edge:
        # Columns first, while there are few rows: rows are copied whole, columns pixel by pixel.
        return _cubic(_cubic(filled, size.columns, -1), size.rows, -2)
    sides = size.size if isinstance(size, Sampling) else tuple(size)
    if tuple(filled.shape[-2:]) == sides:
        return filled
    whole = sides[0] % filled.shape[2] == sides[1] % filled.shape[3] == 0
    if isinstance(size, Sampling) and filled.shape[:2] == (1, 1) and whole:
        return _cubic_by_whole_factors(filled, (sides[0] // filled.shape[2], sides[1] // filled.shape[3]))
    return interpolate(filled, size=sides, mode="bicubic", align_corners=False)


def _cubic(values: torch.Tensor, along: Axis, dim: int) -> torch.Tensor:
    """Interpolate along one axis by four gathers; beyond the border the last value is repeated."""
    centre = (np.arange(along.size) + 0.5 - along.origin) / along.step - 0.5
    before = np.floor(centre).astype(np.int64)
    shape = [1] * values.ndim
    shape[dim] = along.size
    total = torch.zeros(1, dtype=values.dtype, device=values.device)
    for tap in range(-1, 3):
        place = torch.as_tensor(np.clip(before + tap, 0, along.cells - 1), device=values.device)
        weight = torch.as_tensor(cubic_weight(before + tap - centre, _CUBIC), dtype=values.dtype, device=values.device)
        total = total + weight.reshape(shape) * values.index_select(dim, place)
    return total


def _cubic_by_whole_factors(values: torch.Tensor, factors: tuple[int, int]) -> torch.Tensor:
    """Interpolate one plane (1, 1, h, w) by whole factors as torch does, but for rounding, in a half to a fifth of the
    time: the pixels of all source pixels lie alike on them, so that each axis is a product of matrices.
    """

    def weights(factor: int) -> torch.Tensor:
        centre = (np.arange(factor)[:, None] + 0.5) / factor - 0.5
        taps = cubic_weight(np.arange(-2, 3) - centre, _CUBIC)
        return torch.as_tensor(taps, dtype=values.dtype, device=values.device)

    with torch.autocast(values.device.type, enabled=False):  # which is for networks, not for measured values
        five = pad(values, (2, 2, 0, 0), mode="replicate").unfold(-1, 5, 1)
        values = (five @ weights(factors[1]).T).flatten(-2)
        five = pad(values, (0, 0, 2, 2), mode="replicate").unfold(-2, 5, 1)
        return (weights(factors[0]) @ five.mT).flatten(-3, -2)
