"""The threads of torch and of numba: their number (both are set: either alone would starve the other), and where they
may run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import numba
import torch

from graphsr.errors import GraphSRError

# A thread is worth so many pixels of a sweep. Beside fewer it waits for a core on which one of torch's still spins
# (docs/solver.md, "Threads").
WORTH_A_THREAD = 1 << 17
_first_process: int | None = None


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


@contextmanager
def running_kernels(pixels: int) -> Iterator[None]:
    """Run kernels inside a `with` block on as many threads as they are worth; several threads may do so at once.

    Args:
        pixels: How many a kernel sweeps: few are not worth all threads.
    """
    check_process()
    before = numba.get_num_threads()
    wanted = min(before, max(1, pixels // WORTH_A_THREAD))
    if wanted != before:
        numba.set_num_threads(wanted)
    try:
        yield
    finally:
        if wanted != before:
            numba.set_num_threads(before)


def check_process() -> None:
    """Check that kernels can run in this process.

    Raises:
        GraphSRError: If it was forked from one that has run some: of the threads that they would wait for, a forked
            process inherits the names alone.
    """
    global _first_process
    if _first_process not in (None, os.getpid()):
        raise GraphSRError(
            "this process was forked from one that has used graphsr before, and the threads of its kernels do not "
            "survive that; start processes by spawn: multiprocessing.get_context('spawn'), or "
            "DataLoader(..., multiprocessing_context='spawn')"
        )
    _first_process = os.getpid()
