"""Files are written whole or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from graphsr.errors import GraphSRError, InputError

_PREFIX = ".graphsr-"
_FULL = 1 << 20  # bytes; libraries write in pieces of this size


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it replaces `path`, on failure it is removed."""
    # A link stays a link: the file it points to is the one replaced.
    destination = Path(os.path.realpath(path))
    temporary = destination.with_name(f"{_PREFIX}{secrets.token_hex(6)}{destination.suffix}")
    try:
        mode = _create(temporary, like=destination)
        yield temporary
        os.chmod(temporary, mode)  # some writers put a file of their own in its place
        _flush(temporary)
        os.replace(temporary, destination)
        _flush(destination.parent)
    except (GraphSRError, MemoryError):
        raise
    except Exception as error:  # libraries meet a full disk with errors of their own
        raise InputError(f"{path}: cannot be written ({_reason(error, destination.parent)})") from error
    finally:
        with suppress(OSError):  # where the folder has gone, or its name is too long
            temporary.unlink(missing_ok=True)


def check_folder(path: Path) -> None:
    """Check, before anything is computed, that a file can be written at `path`; raise an `InputError` if not."""
    folder = path.parent
    try:
        path.lstat()
    except (OSError, ValueError) as error:
        if not isinstance(error, FileNotFoundError | NotADirectoryError):
            reason = getattr(error, "strerror", None) or error
            raise InputError(f"{path}: cannot be written ({reason}); choose another name") from error
    if path.is_dir():
        raise InputError(f"{path}: is a folder; give the name of a file to write")
    if path.is_symlink() and not path.exists() and os.path.realpath(path) == os.path.abspath(path):
        raise InputError(f"{path}: is a link to itself; choose another name")
    if path.exists() and not path.is_file():
        raise InputError(f"{path}: is a pipe or a device, which would be replaced by a file; choose another name")
    if not folder.exists():
        raise InputError(f"{path}: the folder {folder} does not exist; create it first")
    if not folder.is_dir():
        raise InputError(f"{path}: {folder} is not a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path}: the folder {folder} cannot be written to; choose another")


def remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of writers that were killed; nobody else may be writing into the folder."""
    for path in folder.glob(f"{_PREFIX}*"):
        with suppress(OSError):
            path.unlink()


def _reason(error: Exception, folder: Path) -> str:
    """Return in words why something could not be written."""
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    with suppress(OSError):
        if shutil.disk_usage(folder).free < _FULL:
            return "No space left on device"
    return (str(error).strip() or type(error).__name__).splitlines()[0]


def _create(temporary: Path, like: Path) -> int:
    """Create the file and return its permission bits: those of `like`, if it exists."""
    # os.open rather than tempfile: the result gets the permissions that the user's umask gives, not 0600.
    os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666))
    if like.exists():
        os.chmod(temporary, like.stat().st_mode & 0o777)
    return temporary.stat().st_mode & 0o777


def _flush(path: Path) -> None:
    if path.is_dir() and os.name == "nt":
        return  # Windows cannot open a folder to flush it
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
