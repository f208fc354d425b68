"""Compiled kernels on the disk, with a checksum: damaged ones are compiled anew.

numba numbers the files of a kernel, one for each signature, and writes the list of them before the files. Where two
processes compile at once, or the source has changed, a number may therefore stand for another signature for a moment,
and a process that reads it runs code for other types. Here files are named by what is in them and written before the
list, so that a list is never wrong; and one process at a time adds to it, so that no file is missing from it.
"""

from __future__ import annotations

import glob
import hashlib
import pickle
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import IO, Any

from numba.core.caching import IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

_MARK = b"sha256:"
_LENGTH = len(_MARK) + hashlib.sha256().digest_size
_BEING_WRITTEN = 600.0  # seconds
_Files: Any = IndexDataCacheFile  # which has no types


class CheckedCacheFile(_Files):  # type: ignore[misc]
    """The files of one kernel. numba's own raise whatever pickle does, or run code with flipped bits."""

    _index_name: str
    _cache_path: str

    def load(self, key: Any) -> Any:
        """Return what is stored for a signature; None if there is nothing, or it is damaged."""
        try:
            return super().load(key)
        except Exception:  # pickle raises nearly anything
            return None

    def save(self, key: Any, data: Any) -> None:
        """Store the kernel of a signature; without room for it, it stays in memory alone."""
        with suppress(OSError):
            content = self._dump(data)
            stem = self._index_name.removesuffix(".nbi")
            name = f"{stem}.{hashlib.sha256(content).hexdigest()[:16]}.nbc"
            with self._open_for_write(self._data_path(name)) as stream:
                stream.write(content)
            with _alone_in(Path(self._cache_path)):
                stored = self._load_index()
                if not stored:  # the first of this source
                    self._remove_old(stem)
                self._save_index({**stored, key: name})

    def _remove_old(self, stem: str) -> None:
        """Remove the files of a kernel that an earlier source left; not those that are just being written."""
        for path in Path(self._cache_path).glob(f"{glob.escape(stem)}.*.nbc"):
            if path.stat().st_mtime < time.time() - _BEING_WRITTEN:
                path.unlink(missing_ok=True)

    def _load_index(self) -> dict[Any, Any]:
        try:
            return dict(super()._load_index())
        except Exception:
            return {}

    def _load_data(self, name: str) -> Any:
        with open(self._data_path(name), "rb") as stream:
            data = stream.read()
        content, end = data[:-_LENGTH], data[-_LENGTH:]
        if not end.startswith(_MARK):  # written before there were checksums
            return pickle.loads(data)
        if end != _MARK + hashlib.sha256(content).digest():
            raise ValueError("the checksum is another")
        return pickle.loads(content)

    def _dump(self, obj: Any) -> bytes:
        data: bytes = super()._dump(obj)
        return data + _MARK + hashlib.sha256(data).digest()


@contextmanager
def _alone_in(folder: Path) -> Iterator[None]:
    """Change lists in a folder inside a `with` block, while no other process does."""
    with open(folder / "graphsr.lock", "ab") as stream:
        with suppress(OSError):  # some file systems have no locks: then one of two at once may compile again
            _lock(stream)
        yield  # what is locked is released when it is closed


def _lock(stream: IO[bytes]) -> None:
    if sys.platform == "win32":
        msvcrt.locking(stream.fileno(), msvcrt.LK_LOCK, 1)
    else:
        fcntl.flock(stream, fcntl.LOCK_EX)


def check_caches(*modules: ModuleType) -> None:
    """Let the caches of all kernels in some modules check what they load.

    Kernels of one module may call those of another, and numba looks at the file of a kernel alone to see whether it has
    changed: here a change in any of the modules compiles all of them anew.
    """
    sources = hashlib.sha256()
    for module in modules:
        sources.update(Path(module.__file__ or "").read_bytes())
    for module in modules:
        for kernel in vars(module).values():
            check_cache(kernel, sources.hexdigest())


def check_cache(kernel: Any, sources: str = "") -> None:
    """Let the cache of a kernel, if it is one and has a cache, check what it loads.

    Args:
        kernel: What numba's decorator returned.
        sources: A digest of what it is made of; another one, and it is compiled anew.
    """
    files = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
    if isinstance(kernel, Dispatcher) and type(files) is IndexDataCacheFile:
        files.__class__ = CheckedCacheFile
        files._source_stamp = (files._source_stamp, sources)
