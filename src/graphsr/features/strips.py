"""Large maps in strips of rows, where nothing is trained.

What lies between the input and the output of a few layers is larger than either. A strip of rows at a time it stays in
the cache, and its memory is used again for the next strip instead of being asked of the system. A strip is computed
with a halo of rows around it that is cut off again, so the result is that of the whole.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import torch
from torch import Tensor

# What the widest map of a strip takes, in bytes: 256 x 256 pixels are one strip. Smaller ones fit into smaller caches,
# but their halos are computed twice: at 6 MiB that is a fifth of the work, at a megapixel.
_STRIP_BYTES = 16 * 2**20


class Strip(NamedTuple):
    """A strip of rows: those that it is for, and those that are read for it, `begin` to `end`."""

    first: int
    last: int
    begin: int
    end: int

    def rows_of(self, x: Tensor, units: int) -> Tensor:
        """Return what is read of a map (B, C, H, W) whose H is a multiple of `units`, the number of rows in all."""
        scale = x.shape[2] // units
        return x[:, :, self.begin * scale : self.end * scale]

    def inner_rows(self, y: Tensor) -> Tensor:
        """Return the rows of a result (B, C, H, W) of this strip that are its own."""
        scale = y.shape[2] // (self.end - self.begin)
        return y[:, :, (self.first - self.begin) * scale : (self.last - self.begin) * scale]


def strips(units: int, halo: int, bytes_per_unit: int) -> Iterator[Strip]:
    """Yield the strips of so many rows, from the top.

    Args:
        units: Rows of the coarsest map.
        halo: Rows around a strip that are read for it.
        bytes_per_unit: What the widest map takes for each row.
    """
    rows = max(2 * halo, _STRIP_BYTES // bytes_per_unit, 1)
    count = max(1, round(units / rows))
    for n in range(count):
        first, last = n * units // count, (n + 1) * units // count
        yield Strip(first, last, max(first - halo, 0), min(last + halo, units))


def in_strips(
    compute: Callable[..., Tensor], inputs: Sequence[Tensor], units: int, *, halo: int, bytes_per_unit: int
) -> Tensor:
    """Compute a map strip by strip; with gradients, or of several images, all at once.

    Args:
        compute: Maps to a map.
        inputs: Of it, each (1, C, n units, W).
        units: See `strips`.
        halo: See `strips`.
        bytes_per_unit: See `strips`.
    """
    whole = torch.is_grad_enabled() or any(x.shape[0] > 1 or x.shape[2] % units for x in inputs)
    chosen = [] if whole else list(strips(units, halo, bytes_per_unit))
    if len(chosen) < 2:
        return compute(*inputs)
    out: Tensor | None = None
    for strip in chosen:
        y = strip.inner_rows(compute(*(strip.rows_of(x, units) for x in inputs)))
        scale = y.shape[2] // (strip.last - strip.first)
        if out is None:
            shape = (1, y.shape[1], scale * units, y.shape[3])
            out = torch.empty(shape, dtype=y.dtype, device=y.device, memory_format=torch.channels_last)
        out[:, :, scale * strip.first : scale * strip.last] = y
    assert out is not None
    return out
