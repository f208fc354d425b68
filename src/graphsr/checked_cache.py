"""Compiled kernels on the disk, with a checksum: damaged ones are compiled anew."""

from __future__ import annotations

import hashlib
import pickle
from contextlib import suppress
from types import ModuleType
from typing import Any

from numba.core.caching import IndexDataCacheFile
from numba.core.dispatcher import Dispatcher

_MARK = b"sha256:"
_LENGTH = len(_MARK) + hashlib.sha256().digest_size
_Files: Any = IndexDataCacheFile  # which has no types


class CheckedCacheFile(_Files):  # type: ignore[misc]
    """The files of one kernel. numba's own raise whatever pickle does, or run code with flipped bits."""

    def load(self, key: Any) -> Any:
        """Return what is stored for a signature; None if there is nothing, or it is damaged."""
        try:
            return super().load(key)
        except Exception:  # pickle raises nearly anything
            with suppress(OSError):
                self.flush()
            return None

    def save(self, key: Any, data: Any) -> None:
        """Store the kernel of a signature; without room for it, it stays in memory alone."""
        with suppress(OSError):
            super().save(key, data)

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


def check_caches(*modules: ModuleType) -> None:
    """Let the caches of all kernels in some modules check what they load."""
    for module in modules:
        for kernel in vars(module).values():
            files = getattr(getattr(kernel, "_cache", None), "_cache_file", None)
            if isinstance(kernel, Dispatcher) and type(files) is IndexDataCacheFile:
                files.__class__ = CheckedCacheFile
