"""Seconds that can be compared: taken in one process, in turns, and the best of several."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_seconds(repeats: int, *contenders: Callable[[], object]) -> list[float]:
    """The least seconds of each contender. They take turns, so that a busy spell of the machine meets all of them."""
    best = [float("inf")] * len(contenders)
    for _ in range(repeats):
        for i, run in enumerate(contenders):
            began = time.perf_counter()
            run()
            best[i] = min(best[i], time.perf_counter() - began)
    return best
