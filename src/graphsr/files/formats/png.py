"""PNG: 8 and 16 bits, grey and colour."""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import numpy as np
from PIL import Image as PillowImage
from PIL.PngImagePlugin import PngImageFile

from graphsr.files.format import Format
from graphsr.files.formats.pillow_files import measure_with, samples, without_alpha
from graphsr.files.image import Array, Image
from graphsr.files.orientation import ORIENTATION_TAG, upright

SIGNATURE = b"\x89PNG\r\n\x1a\n"
_RGB_COLOUR_TYPE = 2
_UP_FILTER = 2
_IDAT_BYTES = 1 << 20


def read(path: Path) -> Image:
    _check_sums(path)
    # PngImageFile rather than Image.open: the latter refuses large pictures as "decompression bombs".
    with PngImageFile(path) as picture:
        raw_mode = picture.tile[0][3] if picture.tile else ""
        orientation = picture.getexif().get(ORIENTATION_TAG, 1)
        if raw_mode in ("RGB;16B", "RGBA;16B", "LA;16B"):
            array = _read_deep_colour(path, str(raw_mode))
        else:
            array = samples(picture)
    array, dropped = without_alpha(array)
    array, turned = upright(array, orientation)
    return Image(array, path, dropped + turned)


def _check_sums(path: Path) -> None:
    """Check the sums of all chunks, which Pillow does not for those that hold pixels."""
    with PngImageFile(path) as picture:
        picture.verify()


def _read_deep_colour(path: Path, raw_mode: str) -> Array:
    """Read 16-bit colour (H, W, C) twice: Pillow keeps one byte of a sample, here the high and then the low one."""
    if raw_mode == "LA;16B":
        samples = _decode(path, "RGBA").astype(np.uint16)
        return samples[..., 0::2] << 8 | samples[..., 1::2]
    high, low = _decode(path, raw_mode), _decode(path, raw_mode.replace("16B", "16L"))
    return high.astype(np.uint16) << 8 | low


def _decode(path: Path, raw_mode: str) -> Array:
    with PngImageFile(path) as picture:
        codec, extents, offset, _ = picture.tile[0]
        picture.tile = [type(picture.tile[0])(codec, extents, offset, raw_mode)]
        return np.asarray(picture)


def write(path: Path, array: Array, missing: float | None) -> None:
    if array.ndim == 3 and array.dtype == np.uint16:
        path.write_bytes(b"".join(_deep_colour_chunks(array)))
    else:
        PillowImage.fromarray(array).save(path, format="PNG")


def _deep_colour_chunks(array: Array) -> Iterator[bytes]:
    height, width, channels = array.shape
    rows = array.astype(">u2").view(np.uint8).reshape(height, width * channels * 2)
    filtered = np.empty((height, rows.shape[1] + 1), np.uint8)
    filtered[:, 0] = _UP_FILTER
    filtered[:, 1:] = rows
    filtered[1:, 1:] -= rows[:-1]
    data = zlib.compress(filtered.tobytes(), 6)
    yield SIGNATURE
    yield _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 16, _RGB_COLOUR_TYPE, 0, 0, 0))
    for start in range(0, len(data), _IDAT_BYTES):
        yield _chunk(b"IDAT", data[start : start + _IDAT_BYTES])
    yield _chunk(b"IEND", b"")


def _chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


FORMAT = Format(
    name="PNG",
    suffixes=(".png",),
    signatures=(SIGNATURE,),
    measure=partial(measure_with, PngImageFile),
    read=read,
    write=write,
    types=("uint8", "uint16"),
    channels=(1, 3),
)
