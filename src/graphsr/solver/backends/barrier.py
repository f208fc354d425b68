"""A team of threads inside one kernel, with a barrier: each runs the same loop on its strips, and waits for the others.

numba's own parallel loops begin and end a team every time, and take seconds to compile. Here a team stays in one
compiled loop, and the last to arrive at a barrier does what is to be done once before it releases the others.
"""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from llvmlite import binding  # type: ignore[import-untyped]
from numba import types
from numba.extending import intrinsic

from graphsr.compiled import inner

LAST, RELEASED, ABANDONED = 1, 0, -1  # what `arrive` returns
# A thread that waits spins so often, some hundred microseconds; then it sleeps, as on a busy machine those it waits for
# may not run at all. Yielding the core instead would give it to other programs for milliseconds.
_SPINS = 50_000
_SLEEP = 50  # microseconds; on Windows milliseconds, which it has nothing shorter than
_intrinsic: Any = intrinsic  # its types are those of what it decorates
# Places in the array of a barrier, each in a cache line of its own: who has arrived, how often all have, who failed.
_ARRIVED, _ROUND, _FAILED, _SIZE = 0, 16, 32, 48


def _external(name: str, function: Any, signature: Any) -> Any:
    """Return a function of the machine's library for kernels; by a name of ours, under which cached ones find it."""
    binding.add_symbol(name, ctypes.cast(function, ctypes.c_void_p).value)
    return types.ExternalFunction(name, signature)


if sys.platform == "win32":
    _library: Any = ctypes.WinDLL("kernel32")
    _function, _SLEEP = _library.Sleep, 1
else:
    _function = ctypes.CDLL(None).usleep
_sleep = _external("graphsr_sleep", _function, types.int32(types.uint32))


class Team:
    """Threads that run kernels together; the caller is one of them."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._others = ThreadPoolExecutor(size - 1) if size > 1 else None

    def run(self, kernel: Callable[..., int], *arguments: Any) -> int:
        """Call kernel(rank, size, barrier, *arguments) on every thread; return what the caller's own call does."""
        barrier = np.zeros(_SIZE, np.int64)
        if self._others is None:
            return kernel(0, 1, barrier, *arguments)

        def take_part(rank: int) -> int:
            try:
                return kernel(rank, self.size, barrier, *arguments)
            except BaseException:
                barrier[_FAILED] = 1  # so that nobody waits for this one
                raise

        try:
            others = [self._others.submit(take_part, rank) for rank in range(1, self.size)]
            result = take_part(0)
        except BaseException:
            barrier[_FAILED] = 1
            raise
        for other in others:
            other.result()
        return result


@_intrinsic
def _add(_, barrier, place, value):  # type: ignore[no-untyped-def]
    """Add to a number that threads share; return what it was."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.atomic_rmw("add", builder.gep(array.data, [arguments[1]]), arguments[2], "seq_cst")

    return types.int64(barrier, types.int64, types.int64), generate


@_intrinsic
def _load(_, barrier, place):  # type: ignore[no-untyped-def]
    """Return a number that threads share."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.load_atomic(builder.gep(array.data, [arguments[1]]), "seq_cst", 8)

    return types.int64(barrier, types.int64), generate


@inner()
def arrive(barrier, size):  # type: ignore[no-untyped-def]
    """Arrive at the barrier of a team. The last gets LAST at once, and is to call `release`; the others get RELEASED
    after that, or ABANDONED, if one of them failed.
    """
    now = _load(barrier, _ROUND)
    if _add(barrier, _ARRIVED, 1) == size - 1:
        return LAST
    spins = 0
    while _load(barrier, _ROUND) == now:
        if _load(barrier, _FAILED) != 0:
            return ABANDONED
        spins += 1
        if spins > _SPINS:
            _sleep(_SLEEP)
    return RELEASED


@inner()
def release(barrier, size):  # type: ignore[no-untyped-def]
    """Release those who wait; all that was written before is visible to them."""
    _add(barrier, _ARRIVED, -size)
    _add(barrier, _ROUND, 1)
