"""NPY and NPZ: arrays as numpy stores them. Pickled objects are never loaded."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from graphsr.errors import InputError
from graphsr.files.format import Format
from graphsr.files.image import Array, Image

_TYPES = (
    *("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "float32", "float64"),
)


def read_npy(path: Path) -> Image:
    with path.open("rb") as stream:
        return Image(np.lib.format.read_array(stream, allow_pickle=False), path)


def read_npz(path: Path) -> Image:
    with np.load(path, allow_pickle=False) as archive:
        keys = archive.files
        if len(keys) != 1:
            found = ", ".join(keys) if keys else "none"
            raise InputError(
                f"{path}: the NPZ file has to hold exactly one array, and holds {len(keys)} ({found}); "
                "save the one to use as an .npy file"
            )
        return Image(archive[keys[0]], path)


def write_npy(path: Path, array: Array, missing: float | None) -> None:
    with path.open("wb") as stream:
        np.save(stream, array, allow_pickle=False)


def write_npz(path: Path, array: Array, missing: float | None) -> None:
    with path.open("wb") as stream:
        np.savez_compressed(stream, target=array)


NPY = Format(
    name="NPY",
    suffixes=(".npy",),
    signatures=(b"\x93NUMPY",),
    read=read_npy,
    write=write_npy,
    types=_TYPES,
)
NPZ = Format(
    name="NPZ",
    suffixes=(".npz",),
    signatures=(b"PK\x03\x04", b"PK\x05\x06"),
    read=read_npz,
    write=write_npz,
    types=_TYPES,
)
