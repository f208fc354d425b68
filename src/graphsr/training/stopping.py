"""Ctrl-C in a training run."""

from __future__ import annotations

import signal
import threading


class Stopping:
    """Turn an interrupt into `asked`, so that the run ends after the step; a second one interrupts at once."""

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> Stopping:
        self._before = None
        if threading.current_thread() is threading.main_thread():  # only there can handlers be set
            self._before = signal.signal(signal.SIGINT, self._handle)
        return self

    def _handle(self, *_: object) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
