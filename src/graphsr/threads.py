"""The number of threads of torch and of numba. Both are set: either alone would starve the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numba
import torch


def use_threads(count: int) -> None:
    """Set the number of threads for good, as in a worker process that shares the cores with others."""
    torch.set_num_threads(count)
    numba.set_num_threads(count)


@contextmanager
def on_threads(count: int) -> Iterator[None]:
    """Set the number of threads inside a `with` block; the user's process gets its own numbers back."""
    before = torch.get_num_threads(), numba.get_num_threads()
    use_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before[0])
        numba.set_num_threads(before[1])
