"""A worker process ends with the process that it works for, also where that is killed."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_SET_DEATH_SIGNAL = 1  # PR_SET_PDEATHSIG, from Linux's prctl.h


def end_with(parent: int) -> None:
    """End this process when `parent` does; at once if it has ended already.

    PyTorch's workers look for their parent too, but take whoever is their parent when they have started: one that was
    killed while they started is never missed.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_SET_DEATH_SIGNAL, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)
