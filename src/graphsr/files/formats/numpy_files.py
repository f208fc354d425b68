"""NPY and NPZ: arrays as numpy stores them. Pickled objects are never loaded."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import IO

import numpy as np

from graphsr.errors import InputError
from graphsr.files.format import Format
from graphsr.files.image import Array, Image
from graphsr.files.limits import Header

_TYPES = (
    *("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"),
    *("float16", "float32", "float64"),
)


def measure_npy(path: Path) -> Header:
    with path.open("rb") as stream:
        header = _header(stream)
        if path.stat().st_size - stream.tell() < header.nbytes:
            raise InputError(f"{path}: cut short; its header says {header.shape}, and there are fewer values")
        return header


def measure_npz(path: Path) -> Header:
    with zipfile.ZipFile(path) as archive:
        names = archive.namelist()
        if len(names) != 1:
            return Header((0, 0), 1)  # nothing is read of it
        with archive.open(names[0]) as stream:
            return _header(stream)


def _header(stream: IO[bytes]) -> Header:
    """Read the header of an array; one that is no image is measured by its number of values."""
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    if len(shape) not in (2, 3):
        shape = (int(np.prod(shape, dtype=object)), 1)
    return Header(shape, dtype.itemsize)


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
    measure=measure_npy,
    read=read_npy,
    write=write_npy,
    types=_TYPES,
)
NPZ = Format(
    name="NPZ",
    suffixes=(".npz",),
    signatures=(b"PK\x03\x04", b"PK\x05\x06"),
    measure=measure_npz,
    read=read_npz,
    write=write_npz,
    types=_TYPES,
)
