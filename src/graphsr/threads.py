"""How many threads torch's operations and numba's kernels use. Both count: one left alone would starve the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numba
import torch


def use_threads(count: int) -> None:
    """From now on. For a process of our own, which shares the cores with its like."""
    torch.set_num_threads(count)
    numba.set_num_threads(count)


@contextmanager
def on_threads(count: int) -> Iterator[None]:
    """For a while. For the user's process, which gets its threads back."""
    before = torch.get_num_threads(), numba.get_num_threads()
    use_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        numba.set_num_threads(before[1])
