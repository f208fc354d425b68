"""Solves one after the other, away from the server's threads: the newest wins, and says how far it is."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numba.core import event

from graphsr.solver.progress import observed
from graphsr.viewer.options import SolveOptions

_COMPILATION = "numba:compile"  # the kind of event, not sent for kernels that are loaded from the cache


class Cancelled(Exception):
    """A solve was given up, because nobody wants it any more."""


@dataclass
class Progress:
    """How far a solve is."""

    message: str = "preparing"
    fraction: float | None = None  # None: not known
    began: float = 0.0
    _solves: int = 1
    _iterations: int = 0
    _first_error: float = math.inf

    def update(self, iterations: int, error: float) -> None:
        """Take note of an iteration and its error in parts of the tolerance."""
        if iterations <= self._iterations:
            self._solves, self._first_error = self._solves + 1, math.inf
        self._iterations = iterations
        if math.isfinite(error) and error > 0:
            if math.isinf(self._first_error):
                self._first_error = max(error, 2.0)
            done = math.log(self._first_error / error) / math.log(self._first_error)
            self.fraction = min(max(done, 0.0), 1.0)
        which = f"solve {self._solves}, " if self._solves > 1 else ""
        self.message = f"solving: {which}iteration {iterations}"

    def as_json(self) -> dict[str, Any]:
        """Return what the page needs to know."""
        return {"message": self.message, "fraction": self.fraction, "seconds": time.monotonic() - self.began}


class _CompilationListener(event.Listener):
    """Says that kernels are being compiled, which takes long and happens once."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def on_start(self, _: Any) -> None:
        self._progress.message = "compiling kernels (once; cached for later)"

    def on_end(self, _: Any) -> None:
        pass


class SolveQueue:
    """Runs solves in a thread of its own.

    A new request cancels the running solve and takes the place of one that waits.

    Args:
        solve: Does one solve, and takes care of what comes out.
        failed: Called with the error of a solve.
    """

    def __init__(self, solve: Callable[[SolveOptions], None], failed: Callable[[Exception], None]) -> None:
        self._solve, self._failed = solve, failed
        self._lock = threading.Lock()
        self._waiting: SolveOptions | None = None
        self._progress: Progress | None = None
        self._cancelled = threading.Event()
        self._idle = threading.Event()
        self._idle.set()

    def submit(self, options: SolveOptions) -> None:
        """Solve with these options as soon as the running solve has been cancelled."""
        with self._lock:
            self._waiting = options
            self._cancelled.set()
            if self._progress is None:
                self._progress = Progress(began=time.monotonic())
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
                progress = self._progress = Progress(began=time.monotonic())
            self._solve_once(options, progress)

    def _solve_once(self, options: SolveOptions, progress: Progress) -> None:
        def observer(iterations: int, error: float) -> None:
            if self._cancelled.is_set():
                raise Cancelled
            progress.update(iterations, error)

        try:
            with observed(observer), event.install_listener(_COMPILATION, _CompilationListener(progress)):
                self._solve(options)
        except Cancelled:
            pass
        except Exception as error:  # whatever it is, the page has to say it and go on
            self._failed(error)
