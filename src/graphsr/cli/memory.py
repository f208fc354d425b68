"""How the program asks the system for memory."""

from __future__ import annotations

import ctypes
import os
import sys

# Parameters of mallopt, from glibc's malloc.h.
_TRIM_THRESHOLD, _MMAP_THRESHOLD, _ARENA_MAX = -1, -3, -8
# More would be faster still, but windows of rasters would take more than their 3 GB
# (docs/evidence/tolerance-and-speed.md).
_KEPT = 128 * 2**20


def keep_freed_memory() -> None:
    """Use freed memory again instead of giving it back: the system clears every page that it hands out, and the maps
    inside a network have very many. On glibc alone, and not where the user has said how it should allocate.
    """
    if sys.platform != "linux" or any(name.startswith(("MALLOC_", "GLIBC_TUNABLES")) for name in os.environ):
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return  # another C library
    for parameter, value in ((_TRIM_THRESHOLD, _KEPT), (_MMAP_THRESHOLD, _KEPT), (_ARENA_MAX, 1)):
        mallopt(parameter, value)
