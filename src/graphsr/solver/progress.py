"""How far a solve is, for whoever waits for it; an observer may also end it, by raising an error."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Observer = Callable[[int, float], None]
"""Called with the iterations done so far, and the estimated error in parts of the tolerance."""

EVERY = 8  # iterations

_observer: ContextVar[Observer | None] = ContextVar("observer of solves", default=None)


@contextmanager
def observed(observer: Observer) -> Iterator[None]:
    """Call `observer` during the solves of this thread inside a `with` block."""
    token = _observer.set(observer)
    try:
        yield
    finally:
        _observer.reset(token)


def is_observed() -> bool:
    """Return whether anybody wants to know."""
    return _observer.get() is not None


def notify(iterations: int, error: float) -> None:
    """Tell the observer, if there is one."""
    observer = _observer.get()
    if observer is not None:
        observer(iterations, error)
