"""A team of threads inside one kernel: each runs the same loop on its strips, and waits where it needs the others.

numba's own parallel loops begin and end a team every time, and take seconds to compile. Here a team stays in one
compiled loop, and whoever comes to a meeting last does what is to be done once before all go on.
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

LAST, FOLLOWS, ABANDONED = 1, 0, -1  # what `meet` returns
# A thread that waits looks so often, some hundred microseconds; then it sleeps, as on a busy machine those it waits for
# may not run at all. Yielding the core instead would give it to other programs for milliseconds.
_LOOKS = 50_000
_SLEEP = 50  # microseconds; on Windows milliseconds, which it has nothing shorter than
_intrinsic: Any = intrinsic  # its types are those of what it decorates
# Places in the array of a meeting, each in a cache line of its own: who has come, how often all have, who gave up.
_COME, _ROUND, _GIVEN_UP, _SIZE = 0, 16, 32, 48


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
        """Call kernel(rank, size, meeting, *arguments) on every thread; return what the caller's own call does."""
        meeting = np.zeros(_SIZE, np.int64)
        if self._others is None:
            return kernel(0, 1, meeting, *arguments)

        def take_part(rank: int) -> int:
            try:
                return kernel(rank, self.size, meeting, *arguments)
            except BaseException:
                meeting[_GIVEN_UP] = 1  # so that nobody waits for this one
                raise

        try:
            others = [self._others.submit(take_part, rank) for rank in range(1, self.size)]
            result = take_part(0)
        except BaseException:
            meeting[_GIVEN_UP] = 1
            raise
        for other in others:
            other.result()
        return result


@_intrinsic
def _add(_, meeting, place, value):  # type: ignore[no-untyped-def]
    """Add to a number that threads share; return what it was."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.atomic_rmw("add", builder.gep(array.data, [arguments[1]]), arguments[2], "seq_cst")

    return types.int64(meeting, types.int64, types.int64), generate


@_intrinsic
def _look(_, meeting, place):  # type: ignore[no-untyped-def]
    """Return a number that threads share."""

    def generate(context, builder, signature, arguments):  # type: ignore[no-untyped-def]
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        return builder.load_atomic(builder.gep(array.data, [arguments[1]]), "seq_cst", 8)

    return types.int64(meeting, types.int64), generate


@inner()
def meet(meeting, size):  # type: ignore[no-untyped-def]
    """Come to a meeting of a team. The last gets LAST at once, and is to call `go_on`; the others get FOLLOWS after
    that, or ABANDONED, if somebody will not come.
    """
    now = _look(meeting, _ROUND)
    if _add(meeting, _COME, 1) == size - 1:
        return LAST
    looks = 0
    while _look(meeting, _ROUND) == now:
        if _look(meeting, _GIVEN_UP) != 0:
            return ABANDONED
        looks += 1
        if looks > _LOOKS:
            _sleep(_SLEEP)
    return FOLLOWS


@inner()
def go_on(meeting, size):  # type: ignore[no-untyped-def]
    """Let those who wait go on, in the sight of all that was written before."""
    _add(meeting, _COME, -size)
    _add(meeting, _ROUND, 1)
