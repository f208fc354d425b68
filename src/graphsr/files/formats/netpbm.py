"""PGM and PPM: whole numbers of 8 or 16 bits, grey or colour, as text or binary. Read only.

Not read with Pillow, which rescales values to the full range of 8 or 16 bits: here they are measurements.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from graphsr.errors import InputError
from graphsr.files.format import Format
from graphsr.files.image import Array, Image
from graphsr.files.limits import Header

_GAP = rb"(?:\s|#[^\n\r]*[\n\r])+"  # comments may stand between the numbers
# Exactly one white-space character ends the header: the next byte may look like white space and be data.
_HEADER = re.compile(rb"P([2356])" + 3 * (_GAP + rb"(\d+)") + rb"\s")
_LARGEST = 65535
_HEADER_BYTES = 1 << 16  # comments may be long, but not endless
_BYTES_PER_NUMBER = 64  # while text is split into numbers


def measure(path: Path) -> Header:
    with path.open("rb") as stream:
        kind, shape, largest, start = _parse(path, stream.read(_HEADER_BYTES))
    expected = Header(shape, 2 if largest > 255 else 1)
    if kind in (2, 3):
        least = 2 * expected.nbytes // expected.itemsize - 1  # a digit each, and white space between them
        header = Header(shape, _BYTES_PER_NUMBER)
    else:
        least, header = expected.nbytes, expected
    found = path.stat().st_size - start
    if found < least:
        return Header((1, 1), 1)  # cut short, as `read` says before it takes memory for pixels
    return header


def _parse(path: Path, data: bytes) -> tuple[int, tuple[int, ...], int, int]:
    """Return the kind of file, the shape, the largest value and where the pixels begin."""
    header = _HEADER.match(data[:_HEADER_BYTES])
    if header is None:
        raise InputError(
            f"{path}: not a PGM or PPM file; it has to begin with P2, P3, P5 or P6, width, height and largest value"
        )
    kind, width, height, largest = map(int, header.groups())
    if not 0 < largest <= _LARGEST:
        raise InputError(f"{path}: the largest value must be 1 to {_LARGEST}, not {largest}")
    return kind, (height, width) if kind in (2, 5) else (height, width, 3), largest, header.end()


def read(path: Path) -> Image:
    data = path.read_bytes()
    kind, shape, largest, start = _parse(path, data)
    count = int(np.prod(shape, dtype=object))
    decode = _text if kind in (2, 3) else _binary
    pixels = decode(data[start:], count, 2 if largest > 255 else 1)
    if pixels.size < count:
        raise InputError(f"{path}: cut short; {count} values needed, {pixels.size} found")
    if pixels.size and pixels.max() > largest:
        raise InputError(f"{path}: holds {pixels.max()}, but says that {largest} is its largest value; is it damaged?")
    return Image(pixels.astype(np.uint16 if largest > 255 else np.uint8).reshape(shape), path)


def _text(data: bytes, count: int, size: int) -> Array:
    return np.array(re.sub(rb"#[^\n\r]*", b"", data).split()[:count], dtype=np.uint32)


def _binary(data: bytes, count: int, size: int) -> Array:
    return np.frombuffer(data, f">u{size}", count=min(count, len(data) // size))


FORMAT = Format(
    name="PGM or PPM",
    suffixes=(".pgm", ".ppm", ".pnm"),
    signatures=(b"P2", b"P3", b"P5", b"P6"),
    measure=measure,
    read=read,
)
