"""Where compiled kernels are kept: beside the package, in the user's cache, or else in a temporary folder."""

from __future__ import annotations

import atexit
import logging
import os
import shutil
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from typing import Any

_VARIABLE = "NUMBA_CACHE_DIR"
_log = logging.getLogger("graphsr")


def choose_folder(package: Path | None = None, user: Path | None = None) -> Path | None:
    """Give numba a temporary folder for compiled kernels where it would find no other, and say so.

    Args:
        package: The folder whose `__pycache__` numba tries first; default that of this package.
        user: The folder that it tries next; default that of the user.

    Returns:
        The temporary folder, which is removed when the process ends; None if none is needed.
    """
    if os.environ.get(_VARIABLE) or _writable((package or Path(__file__).parent) / "__pycache__"):
        return None
    if _writable(user or _users()):
        return None
    folder = Path(tempfile.mkdtemp(prefix="graphsr-kernels-"))  # ours alone: what is in it will be run
    atexit.register(_remove, folder, os.getpid())
    os.environ[_VARIABLE] = str(folder)  # for numba, and for processes that are started from here
    if "numba" in sys.modules:
        sys.modules["numba"].config.CACHE_DIR = str(folder)
    _log.warning(
        "no folder for compiled kernels can be written to, so they are compiled anew in every run; "
        "set %s to one that can",
        _VARIABLE,
    )
    return folder


def _users() -> Path:
    appdirs: Any = import_module("numba.misc.appdirs")  # a second, where it is needed at all
    return Path(appdirs.AppDirs(appname="numba", appauthor=False).user_cache_dir)


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # and not one that was forked from it
        shutil.rmtree(folder, ignore_errors=True)
