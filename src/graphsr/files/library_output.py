"""What libraries in C print by themselves stays out of the way of what we print."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from io import StringIO

_STANDARD_OUTPUT, _STANDARD_ERROR = 1, 2
_one_at_a_time = threading.RLock()


@contextmanager
def silenced() -> Iterator[None]:
    """Discard what is written to the standard output and error of the process, by whatever language.

    One thread at a time: another would take the discarded output for the real one, and restore that.
    """
    with _one_at_a_time, _redirected():
        yield


@contextmanager
def _redirected() -> Iterator[None]:
    _flush()
    saved = [(number, os.dup(number)) for number in (_STANDARD_OUTPUT, _STANDARD_ERROR) if _is_open(number)]
    nothing = os.open(os.devnull, os.O_WRONLY)
    try:
        for number, _ in saved:
            os.dup2(nothing, number)
        with redirect_stdout(StringIO()), redirect_stderr(StringIO()):  # where they print by way of Python
            yield
    finally:
        _flush()
        for number, copy in saved:
            os.dup2(copy, number)
            os.close(copy)
        os.close(nothing)


def _flush() -> None:
    """Write out what Python and C have buffered."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    with suppress(OSError, AttributeError):  # another C library
        ctypes.CDLL(None).fflush(None)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True
