"""PFM (portable float map): 32-bit floats, grey or colour, rows from the bottom up."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from graphsr.errors import InputError
from graphsr.files.format import Format
from graphsr.files.image import Array, Image
from graphsr.files.limits import Header

# Exactly one white-space character ends the header: the next byte may look like white space and be data.
_HEADER = re.compile(rb"(P[Ff])\s+(\d+)\s+(\d+)\s+([-+0-9.eE]+)\s")
_HEADER_BYTES = 512


def measure(path: Path) -> Header:
    header, start = _parse(path)
    expected, found = Header(_shape(header), 4), path.stat().st_size - start
    if found < expected.nbytes:
        raise InputError(f"{path}: cut short; {expected.nbytes} bytes of pixels needed, {found} found")
    return expected


def read(path: Path) -> Image:
    header, start = _parse(path)
    # Only the sign of the scale counts: Middlebury's disparities carry a scale of 1/255 not to be applied.
    order = "<" if float(header[4]) < 0 else ">"
    shape = _shape(header)
    pixels = np.fromfile(path, f"{order}f4", count=int(np.prod(shape)), offset=start).reshape(shape)
    return Image(pixels[::-1], path)


def _parse(path: Path) -> tuple[re.Match[bytes], int]:
    """Return the header of a file, and where the pixels begin."""
    with path.open("rb") as stream:
        header = _HEADER.match(stream.read(_HEADER_BYTES))
    if header is None:
        raise InputError(f"{path}: not a PFM file; it has to begin with Pf or PF, width, height and scale")
    return header, header.end()


def _shape(header: re.Match[bytes]) -> tuple[int, ...]:
    width, height = int(header[2]), int(header[3])
    return (height, width) if header[1] == b"Pf" else (height, width, 3)


def write(path: Path, array: Array, missing: float | None) -> None:
    height, width = array.shape[:2]
    kind = "Pf" if array.ndim == 2 else "PF"
    header = f"{kind}\n{width} {height}\n-1.0\n".encode()
    path.write_bytes(header + array[::-1].astype("<f4").tobytes())


FORMAT = Format(
    name="PFM",
    suffixes=(".pfm",),
    signatures=(b"Pf", b"PF"),
    measure=measure,
    read=read,
    write=write,
    types=("float32",),
    channels=(1, 3),
)
