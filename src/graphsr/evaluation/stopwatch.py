"""Seconds that can be compared: taken in one process, in turns, and the best of several."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numba
import torch


def best_seconds(repeats: int, *contenders: Callable[[], object]) -> list[float]:
    """The least seconds of each contender. They take turns, so that a busy spell of the machine meets all of them."""
    best = [float("inf")] * len(contenders)
    for _ in range(repeats):
        for i, run in enumerate(contenders):
            began = time.perf_counter()
            run()
            best[i] = min(best[i], time.perf_counter() - began)
    return best


@contextmanager
def on_threads(count: int) -> Iterator[None]:
    """Numba's kernels and torch's operations on `count` threads."""
    before = numba.get_num_threads(), torch.get_num_threads()
    numba.set_num_threads(count)
    torch.set_num_threads(count)
    try:
        yield
    finally:
        numba.set_num_threads(before[0])
        torch.set_num_threads(before[1])
