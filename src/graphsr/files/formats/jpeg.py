"""JPEG: for guides, and for 8-bit pictures that were JPEG to begin with."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from PIL import Image as PillowImage
from PIL.JpegImagePlugin import JpegImageFile

from graphsr.files.format import Format
from graphsr.files.formats.pillow_files import measure_with, read_with
from graphsr.files.image import Array


def write(path: Path, array: Array, missing: float | None) -> None:
    # The finest quality without chroma subsampling: the values are measurements, the size is secondary.
    PillowImage.fromarray(array).save(path, format="JPEG", quality=100, subsampling=0)


FORMAT = Format(
    name="JPEG",
    suffixes=(".jpg", ".jpeg"),
    signatures=(b"\xff\xd8\xff",),
    measure=partial(measure_with, JpegImageFile),
    read=partial(read_with, JpegImageFile),
    write=write,
    types=("uint8",),
    channels=(1, 3),
    lossy=True,
)
