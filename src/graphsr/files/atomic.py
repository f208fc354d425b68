"""Files are written whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from graphsr.errors import InputError


@contextmanager
def whole_file(path: Path) -> Iterator[Path]:
    """Yield a temporary path beside `path`; on success it replaces `path`, on failure it is removed."""
    # A link stays a link: the file it points to is the one replaced.
    destination = Path(os.path.realpath(path))
    temporary = destination.with_name(f".graphsr-{secrets.token_hex(6)}{destination.suffix}")
    try:
        mode = _create(temporary, like=destination)
        yield temporary
        os.chmod(temporary, mode)  # some writers put a file of their own in its place
        _flush(temporary)
        os.replace(temporary, destination)
        _flush(destination.parent)
    except OSError as error:
        raise InputError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        temporary.unlink(missing_ok=True)


def check_folder(path: Path) -> None:
    """Check, before anything is computed, that a file can be written at `path`; raise an `InputError` if not."""
    folder = path.parent
    if path.is_dir():
        raise InputError(f"{path}: is a folder; give the name of a file to write")
    if not folder.exists():
        raise InputError(f"{path}: the folder {folder} does not exist; create it first")
    if not folder.is_dir():
        raise InputError(f"{path}: {folder} is not a folder")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"{path}: the folder {folder} cannot be written to; choose another")


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
