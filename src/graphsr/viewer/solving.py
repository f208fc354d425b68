"""Solves one after the other, away from the server's threads: the newest wins, and says how far it is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from numba.core import event

from graphsr.files.pair import PairOptions
from graphsr.solver.progress import Meter, Part, observed

_COMPILATION = "numba:compile"  # the kind of event, not sent for kernels that are loaded from the cache


class Cancelled(Exception):
    """A solve was given up, because nobody wants it any more."""


@dataclass
class Progress:
    """How far a solve is, and since when."""

    meter: Meter = field(default_factory=Meter)
    began: float = field(default_factory=time.monotonic)

    def as_json(self) -> dict[str, Any]:
        """Return what the page needs to know."""
        seconds = time.monotonic() - self.began
        return {"message": self.meter.words, "fraction": self.meter.fraction, "seconds": seconds}


class _CompilationListener(event.Listener):
    """Says that kernels are being compiled, which takes long and happens once."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def on_start(self, _: Any) -> None:
        self._progress.meter.words = "compiling kernels (once; cached for later)"

    def on_end(self, _: Any) -> None:
        pass


class SolveQueue:
    """Runs solves in a thread of its own.

    A new request cancels the running solve and takes the place of one that waits.

    Args:
        solve: Does one solve, and takes care of what comes out.
        failed: Called with the error of a solve.
    """

    def __init__(self, solve: Callable[[PairOptions], None], failed: Callable[[Exception], None]) -> None:
        self._solve, self._failed = solve, failed
        self._lock = threading.Lock()
        self._waiting: PairOptions | None = None
        self._progress: Progress | None = None
        self._cancelled = threading.Event()
        self._idle = threading.Event()
        self._idle.set()

    def submit(self, options: PairOptions) -> None:
        """Solve with these options as soon as the running solve has been cancelled."""
        with self._lock:
            self._waiting = options
            self._cancelled.set()
            if self._progress is None:
                self._progress = Progress()
                self._idle.clear()
                threading.Thread(target=self._run, name="graphsr solve", daemon=True).start()

    def cancel(self) -> None:
        """Give up the running solve, and the one that waits."""
        with self._lock:
            self._waiting = None
            self._cancelled.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until nothing is being solved; return whether that is so."""
        return self._idle.wait(seconds)

    @property
    def progress(self) -> Progress | None:
        """Return how far the running solve is; None if there is none."""
        return self._progress

    def _run(self) -> None:
        while True:
            with self._lock:
                options, self._waiting = self._waiting, None
                self._cancelled.clear()
                if options is None:
                    self._progress = None
                    self._idle.set()
                    return
                progress = self._progress = Progress()
            self._solve_once(options, progress)

    def _solve_once(self, options: PairOptions, progress: Progress) -> None:
        def observer(iterations: int, error: float, part: Part) -> None:
            if self._cancelled.is_set():
                raise Cancelled
            progress.meter.update(iterations, error, part)

        try:
            with observed(observer), event.install_listener(_COMPILATION, _CompilationListener(progress)):
                self._solve(options)
        except Cancelled:
            pass
        except Exception as error:  # whatever it is, the page has to say it and go on
            self._failed(error)
