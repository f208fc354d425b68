"""PFM (portable float map): 32-bit floats, grey or colour, rows from the bottom up."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from graphsr.errors import InputError
from graphsr.files.format import Format
from graphsr.files.image import Array, Image

# Exactly one white-space character ends the header: the next byte may look like white space and be data.
_HEADER = re.compile(rb"(P[Ff])\s+(\d+)\s+(\d+)\s+([-+0-9.eE]+)\s")
_HEADER_BYTES = 512


def read(path: Path) -> Image:
    data = path.read_bytes()
    header = _HEADER.match(data[:_HEADER_BYTES])
    if header is None:
        raise InputError(f"{path}: not a PFM file; it has to begin with Pf or PF, width, height and scale")
    kind, width, height, scale = header.groups()
    # Only the sign of the scale counts: Middlebury's disparities carry a scale of 1/255 not to be applied.
    order = "<" if float(scale) < 0 else ">"
    shape = (int(height), int(width)) if kind == b"Pf" else (int(height), int(width), 3)
    expected, found = 4 * int(np.prod(shape)), len(data) - header.end()
    if found < expected:
        raise InputError(f"{path}: cut short; {expected} bytes of pixels needed, {found} found")
    pixels = np.frombuffer(data, f"{order}f4", count=expected // 4, offset=header.end()).reshape(shape)
    return Image(pixels[::-1], path)


def write(path: Path, array: Array, missing: float | None) -> None:
    height, width = array.shape[:2]
    kind = "Pf" if array.ndim == 2 else "PF"
    header = f"{kind}\n{width} {height}\n-1.0\n".encode()
    path.write_bytes(header + array[::-1].astype("<f4").tobytes())


FORMAT = Format(
    name="PFM",
    suffixes=(".pfm",),
    signatures=(b"Pf", b"PF"),
    read=read,
    write=write,
    types=("float32",),
    channels=(1, 3),
)
