"""How far solves are, for whoever waits for them; an observer may also end them, by raising an error."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace

EVERY = 8  # iterations


@dataclass(frozen=True)
class Part:
    """The part of all the work that is being done.

    Attributes:
        begin: Where it begins, from 0 to 1.
        end: Where it ends.
        doing: What it is, in words.
    """

    begin: float = 0.0
    end: float = 1.0
    doing: str = "solving"


Observer = Callable[[int, float, Part], None]
"""Called with the iterations done so far, the estimated error in parts of the tolerance, and the part of the work.

Where a part begins and where it ends, no iterations are done and the error is infinite; at its end nothing is left.
"""

_observer: ContextVar[Observer | None] = ContextVar("observer of solves", default=None)
_part: ContextVar[Part] = ContextVar("part of the work", default=Part())  # noqa: B039  it is frozen


@contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Call `observer` during the solves of this thread inside a `with` block."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


@contextmanager
def part(begin: float, end: float, doing: str = "") -> Iterator[None]:
    """Say that a `with` block is the part from `begin` to `end` of the part around it, which goes from 0 to 1."""
    around = _part.get()
    length = around.end - around.begin
    own = Part(around.begin + begin * length, around.begin + end * length, doing or around.doing)
    token = _part.set(own)
    try:
        notify(0, math.inf)
        yield
        _part.set(replace(own, begin=own.end))
        notify(0, math.inf)
    finally:
        _part.reset(token)


def is_observed() -> bool:
    """Return whether anybody wants to know."""
    return _observer.get() is not None


def notify(iterations: int, error: float) -> None:
    """Tell the observer, if there is one."""
    observer = _observer.get()
    if observer is not None:
        observer(iterations, error, _part.get())


@dataclass
class Meter:
    """Turns what an observer hears into how far all the work is: a share that never falls, and words.

    A solve takes the bar to the end of its part, as far as the logarithm of its error has come to that of its bound.
    How many solves a part has need not be known: a further one begins where the bar stands.
    """

    words: str = "preparing"
    fraction: float | None = None  # None: not known yet
    _iterations: int = 0
    _begin: float = 0.0
    _first_error: float = math.inf

    def update(self, iterations: int, error: float, part: Part) -> None:
        """Take note of what an observer hears."""
        if iterations <= self._iterations:
            self._begin, self._first_error = self.fraction or 0.0, math.inf
        self._iterations = iterations
        self._raise_to(part.begin)
        self._begin = max(self._begin, part.begin)
        if math.isfinite(error) and error > 0:
            if math.isinf(self._first_error):
                self._first_error = max(error, 2.0)
            done = min(max(math.log(self._first_error / error) / math.log(self._first_error), 0.0), 1.0)
            self._raise_to(self._begin + done * (part.end - self._begin))
        self.words = f"{part.doing}: iteration {iterations}" if iterations else part.doing

    def _raise_to(self, fraction: float) -> None:
        self.fraction = max(self.fraction or 0.0, min(fraction, 1.0))
