"""Which files a command may write: no input, nothing twice, and no existing file unless that is asked for."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from graphsr.errors import InputError


def check_outputs(
    outputs: Mapping[str, str | os.PathLike[str] | None],
    *,
    inputs: Iterable[str | os.PathLike[str] | None] = (),
    overwrite: bool = False,
) -> None:
    """Check, before anything is computed, that no output replaces what it should not.

    Args:
        outputs: The files to write, by the options that name them; None for those not given.
        inputs: The files to read, None for those not given.
        overwrite: Whether existing files may be replaced.

    Raises:
        InputError: An output is a folder, an input or another output, or exists although `overwrite` is false.
    """
    read = {os.path.realpath(path) for path in inputs if path is not None}
    taken: dict[str, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        real = os.path.realpath(path)
        if real in read:
            raise InputError(f"{path}: {option} would overwrite an input; give another name")
        if real in taken:
            raise InputError(f"{path}: {option} and {taken[real]} are the same file; give another name")
        if Path(path).is_dir():
            raise InputError(f"{path}: is a folder; {option} is the name of a file, which may be in it")
        if not overwrite and Path(path).is_file():
            raise InputError(f"{path}: exists already; give another name, or replace it by --overwrite")
        taken[real] = option


def make_folder(path: str | os.PathLike[str]) -> None:
    """Make a folder, and those above it, unless it is there."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{path}: the folder cannot be made ({error.strerror}); choose another") from error
