"""Ctrl-C in a training run."""

from __future__ import annotations

import signal
import threading


class Stopping:
    """Turns an interrupt into a wish to stop after the step."""

    def __init__(self) -> None:
        self.asked = False

    def __enter__(self) -> Stopping:
        self.before = None
        if threading.current_thread() is threading.main_thread():  # only there can it be heard
            self.before = signal.signal(signal.SIGINT, self._hear)
        return self

    def _hear(self, *_: object) -> None:
        if self.asked:
            raise KeyboardInterrupt  # asked twice: at once
        self.asked = True

    def __exit__(self, *_: object) -> None:
        if self.before is not None:
            signal.signal(signal.SIGINT, self.before)
