"""What libraries in C print by themselves stays out of the way of what we print."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from io import StringIO

_STANDARD_OUTPUT, _STANDARD_ERROR = 1, 2


@contextmanager
def silenced() -> Iterator[None]:
    """Discard what is written to the standard output and error of the process, by whatever language."""
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
