"""Seconds that can be compared: taken in one process, in turns, and the best of several."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_seconds(repeats: int, *computations: Callable[[], object]) -> list[float]:
    """Return the least seconds of each; they take turns, so that other load on the machine slows all of them."""
    best = [float("inf")] * len(computations)
    for _ in range(repeats):
        for i, compute in enumerate(computations):
            began = time.perf_counter()
            compute()
            best[i] = min(best[i], time.perf_counter() - began)
    return best
