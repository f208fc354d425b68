"""How much memory a computation takes at its peak, as Linux tells it."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from pathlib import Path

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")
_RESET_PEAK = "5"


def growth_at_peak(run: Callable[[], object]) -> int:
    """Bytes by which the peak of the resident memory (VmHWM) during `run` exceeds the resident memory before it."""
    _give_back_freed_memory()
    _RESET.write_text(_RESET_PEAK)
    before = _status_bytes("VmRSS")
    run()
    return _status_bytes("VmHWM") - before


def _give_back_freed_memory() -> None:
    """What compiling and warming up have freed would otherwise serve the computation and not be seen."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of the GNU C library
    if trim is not None:
        trim(0)


def _status_bytes(entry: str) -> int:
    found = re.search(rf"^{entry}:\s+(\d+) kB$", _STATUS.read_text(), re.MULTILINE)
    if found is None:
        raise OSError(f"{_STATUS} has no {entry}")
    return int(found[1]) * 1024
