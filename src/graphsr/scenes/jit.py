"""How the kernels of this package are compiled: single-threaded, cached on disk, IEEE division."""

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any, TypeVar, cast

from numba import njit

from graphsr.checked_cache import check_cache

F = TypeVar("F", bound=Callable[..., Any])

# All of fastmath but the promise that infinities and NaN do not occur: slabs divide by zero.
_OPTIONS: dict[str, Any] = {
    "fastmath": {"contract", "reassoc", "arcp", "nsz", "afn"},
    "error_model": "numpy",
}
# What only kernels call needs no wrapper for Python and no cache of its own: that halves the time to compile.
_BARE: dict[str, Any] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def fingerprint() -> str:
    """Hash the sources of this package.

    The cache of a kernel looks only at its own file and at what it closes over: one that calls other files
    has to close over this, or it would run old code after a change in them.
    """
    digest = sha256()
    for path in sorted(Path(__file__).parent.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def kernel(function: F) -> F:
    """Compile a function that Python calls."""
    compiled = njit(cache=True, **_OPTIONS)(function)
    check_cache(compiled)
    return cast(F, compiled)


def called(function: F) -> F:
    """Compile a function that only kernels call."""
    return cast(F, njit(**_OPTIONS, **_BARE)(function))


def inlined(function: F) -> F:
    """Compile a function into the kernels that call it: a call would count references to each array."""
    return cast(F, njit(**_OPTIONS, **_BARE, forceinline=True)(function))
