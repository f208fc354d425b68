"""WebP and BMP, which Pillow reads; and what all formats that Pillow reads have in common."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
from PIL.BmpImagePlugin import BmpImageFile
from PIL.ImageFile import ImageFile
from PIL.WebPImagePlugin import WebPImageFile

from graphsr.errors import InputError
from graphsr.files.format import Format
from graphsr.files.image import Array, Image
from graphsr.files.limits import Header
from graphsr.files.orientation import ORIENTATION_TAG, upright


def measure_with(plugin: type[ImageFile], path: Path) -> Header:
    """Return what the class of Pillow that knows a format finds in the header of a file."""
    with plugin(path) as picture:
        width, height = picture.size
        # Single bits and palettes are decoded to bytes and colours.
        channels = {"1": 1, "P": 4}.get(picture.mode, len(picture.getbands()))
        return Header((height, width, channels), 4 if picture.mode in ("I", "F") else 2 if ";16" in picture.mode else 1)


def read_with(plugin: type[ImageFile], path: Path) -> Image:
    """Read an 8-bit picture, upright and without alpha, by the class of Pillow that knows its format."""
    # The class rather than Image.open: the latter refuses large pictures as "decompression bombs".
    with plugin(path) as picture:
        frames = getattr(picture, "n_frames", 1)
        if frames > 1:
            raise InputError(f"{path}: holds {frames} frames; save the one to use in a file of its own")
        orientation = picture.getexif().get(ORIENTATION_TAG, 1)
        array, dropped = without_alpha(samples(picture))
    array, turned = upright(array, orientation)
    return Image(array, path, dropped + turned)


def samples(picture: ImageFile) -> Array:
    """Return the pixels (H, W) or (H, W, C); palettes become their colours, single bits 0 and 255."""
    if picture.mode == "1":
        return np.asarray(picture.convert("L"))
    if picture.mode == "P":
        return np.asarray(picture.convert("RGBA" if "transparency" in picture.info else "RGB"))
    if picture.mode in ("CMYK", "YCbCr", "RGBX"):
        return np.asarray(picture.convert("RGB"))
    return np.asarray(picture)


def without_alpha(array: Array) -> tuple[Array, tuple[str, ...]]:
    """Return the image without its second or fourth channel, and a note if it had one."""
    if array.ndim == 2 or array.shape[2] == 3:
        return array, ()
    colour = array[..., 0] if array.shape[2] == 2 else array[..., :3]
    return np.ascontiguousarray(colour), ("alpha channel dropped",)


WEBP = Format(
    name="WebP",
    suffixes=(".webp",),
    signatures=(b"RIFF",),
    measure=partial(measure_with, WebPImageFile),
    read=partial(read_with, WebPImageFile),
)
BMP = Format(
    name="BMP",
    suffixes=(".bmp",),
    signatures=(b"BM",),
    measure=partial(measure_with, BmpImageFile),
    read=partial(read_with, BmpImageFile),
)
