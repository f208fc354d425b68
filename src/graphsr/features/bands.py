"""Large maps in bands of rows, where nothing is trained.

What lies between the input and the output of a few layers is larger than either. A band of rows at a time it stays in
the cache, and its memory is used again for the next band instead of being asked of the system. A band is computed with
a halo of rows around it that is cut off again, so the result is that of the whole.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

# What the widest map of a band takes, in bytes: 256 x 256 pixels are one band. Smaller ones fit into smaller caches,
# but their halos are computed twice: at 6 MiB that is a fifth of the work, at a megapixel.
_BAND_BYTES = 16 * 2**20


class Band(NamedTuple):
    """A band of rows: those that it is for, and those that are read for it, `begin` to `end`."""

    first: int
    last: int
    begin: int
    end: int

    def rows_of(self, x: Tensor, units: int) -> Tensor:
        """Return what is read of a map (B, C, H, W) whose H is a multiple of `units`, the number of rows in all."""
        scale = x.shape[2] // units
        return x[:, :, self.begin * scale : self.end * scale]

    def inner_rows(self, y: Tensor) -> Tensor:
        """Return the rows of a result (B, C, H, W) of this band that are its own."""
        scale = y.shape[2] // (self.end - self.begin)
        return y[:, :, (self.first - self.begin) * scale : (self.last - self.begin) * scale]


def bands(units: int, halo: int, bytes_per_unit: int) -> Iterator[Band]:
    """Yield the bands of so many rows, from the top.

    Args:
        units: Rows of the coarsest map.
        halo: Rows around a band that are read for it.
        bytes_per_unit: What the widest map takes for each row.
    """
    rows = max(2 * halo, _BAND_BYTES // bytes_per_unit, 1)
    count = max(1, round(units / rows))
    for n in range(count):
        first, last = n * units // count, (n + 1) * units // count
        yield Band(first, last, max(first - halo, 0), min(last + halo, units))


def in_bands(
    compute: Callable[..., Tensor], inputs: Sequence[Tensor], units: int, *, halo: int, bytes_per_unit: int
) -> Tensor:
    """Compute a map band by band; with gradients, or of several images, all at once.

    Args:
        compute: Maps to a map.
        inputs: Of it, each (1, C, n units, W).
        units: See `bands`.
        halo: See `bands`.
        bytes_per_unit: See `bands`.
    """
    whole = torch.is_grad_enabled() or any(x.shape[0] > 1 or x.shape[2] % units for x in inputs)
    chosen = [] if whole else list(bands(units, halo, bytes_per_unit))
    if len(chosen) < 2:
        return compute(*inputs)
    out: Tensor | None = None
    for band in chosen:
        y = band.inner_rows(compute(*(band.rows_of(x, units) for x in inputs)))
        scale = y.shape[2] // (band.last - band.first)
        if out is None:
            shape = (1, y.shape[1], scale * units, y.shape[3])
            out = torch.empty(shape, dtype=y.dtype, device=y.device, memory_format=torch.channels_last)
        out[:, :, scale * band.first : scale * band.last] = y
    assert out is not None
    return out
