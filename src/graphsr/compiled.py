"""How kernels are compiled: those that Python calls, and those that only other kernels call.

The first call of a program on a new machine waits for this, so kernels are compiled for one kind of arguments, and only
what is called from Python gets the code that reads Python's objects and a file in the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import njit

# Nothing calls kernels from C.
_ENTRY: dict[str, Any] = {"cache": True, "nogil": True, "no_cfunc_wrapper": True, "error_model": "numpy"}
_INNER: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True, "no_cpython_wrapper": True, "error_model": "numpy"}


def entry(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for a kernel that Python calls; options are those of `numba.njit`."""
    return lambda function: njit(**_ENTRY, **options)(function)


def inner(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator for a kernel that only kernels call; by `check_caches` they notice its changes."""
    return lambda function: njit(**_INNER, **options)(function)
