"""One run at a time in a folder of tiles."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphsr.errors import InputError

_NAME = "lock"


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder inside a `with` block; the system gives it back if the process is killed.

    Raises:
        InputError: If another process holds it.
    """
    try:
        import fcntl
    except ImportError:  # not on Windows, where there is none
        yield
        return
    try:
        handle = os.open(folder / _NAME, os.O_CREAT | os.O_RDWR, 0o666)
    except OSError as error:
        raise InputError(f"{folder}: cannot be written to ({error.strerror})") from error
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(handle, 100, 0).decode(errors="replace").strip() or "unknown"
            raise InputError(
                f"{folder}: another run (process {owner}) is at work on these tiles; wait until it has ended"
            ) from None
        except OSError:  # a file system without locks
            yield
            return
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(handle)
