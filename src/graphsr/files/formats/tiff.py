"""TIFF: integers and floats, one or several samples a pixel."""

from __future__ import annotations

import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import tifffile
from PIL.TiffImagePlugin import TiffImageFile

from graphsr.errors import InputError
from graphsr.files.format import Format
from graphsr.files.formats.pillow_files import samples
from graphsr.files.formats.tiff_directories import check_directories
from graphsr.files.image import Array, Image
from graphsr.files.limits import Header
from graphsr.files.orientation import ORIENTATION_TAG, upright

_REDUCED_OR_MASK = 1 | 4  # bits of NewSubfileType: overviews and transparency masks
_GDAL_NODATA_TAG = 42113
_GEO_KEYS_TAG = 34735
_GEOREFERENCED = "georeference not carried over; graphsr raster keeps it, and places the source by it"
_ALPHA_SAMPLES = (1, 2)  # ExtraSamples: associated and unassociated alpha


# What tifffile logs, beside all its errors, where it goes on with values that are not those of the file.
_WRONG_VALUES = ("could not read", "failed to read", "segments, got")


def measure(path: Path) -> Header:
    with _opened(path) as file:
        page = _only_page(file, path)
        _check_extent(page, path)
        height, width = page.imagelength, page.imagewidth
        return Header((height, width, page.samplesperpixel), page.dtype.itemsize if page.dtype else 1)


def read(path: Path) -> Image:
    with _opened(path) as file:
        page = _only_page(file, path)
        array = _samples(page, path)
        array, dropped = _without_alpha(array, page)
        orientation = page.tags.valueof(ORIENTATION_TAG, 1)
        array, turned = upright(array, orientation)
        geo = (_GEOREFERENCED,) if _GEO_KEYS_TAG in page.tags else ()
        return Image(array, path, dropped + turned + geo, _declared_missing(page))


class _Faults(logging.Filter):
    """Collect what tifffile logs instead of raising it, in this thread, and keep it from being printed."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.thread = threading.get_ident()

    def filter(self, record: logging.LogRecord) -> bool:
        if threading.get_ident() != self.thread:
            return True
        message = record.getMessage()
        if record.levelno >= logging.ERROR or any(words in message for words in _WRONG_VALUES):
            self.found.append(message)
        return False


@contextmanager
def _opened(path: Path) -> Iterator[tifffile.TiffFile]:
    """Open a TIFF file; an error that tifffile only logs is raised at the end."""
    check_directories(path)
    logger, faults = logging.getLogger("tifffile"), _Faults()
    logger.addFilter(faults)
    try:
        with tifffile.TiffFile(path) as file:
            yield file
    finally:
        logger.removeFilter(faults)
    if faults.found:
        raise InputError(f"{path}: the TIFF file is damaged ({faults.found[0].splitlines()[0]})")


def _check_extent(page: tifffile.TiffPage, path: Path) -> None:
    """Check that all pixels lie inside the file."""
    length = path.stat().st_size
    blocks = zip(page.dataoffsets, page.databytecounts, strict=False)
    last = max((offset + count for offset, count in blocks), default=0)
    if last > length:
        raise InputError(f"{path}: cut short; its pixels reach to byte {last}, and the file has {length}")


def _only_page(file: tifffile.TiffFile, path: Path) -> tifffile.TiffPage:
    pages = [page.aspage() for page in file.pages]
    full = [page for page in pages if not page.subfiletype & _REDUCED_OR_MASK]
    if len(full) != 1:
        raise InputError(f"{path}: holds {len(full)} pages; save the one to use in a file of its own")
    return full[0]


def _samples(page: tifffile.TiffPage, path: Path) -> Array:
    """Return the samples (H, W) or (H, W, C), with palettes and inverted greys resolved."""
    try:
        array: Array = page.asarray()
    except ValueError as error:
        # tifffile names the package in its message and has no error class for it.
        if "imagecodecs" not in str(error):
            raise
        return _read_with_pillow(page, path)
    if page.axes == "SYX":
        array = np.moveaxis(array, 0, -1)
    elif page.axes not in ("YX", "YXS"):
        raise InputError(f"{path}: the TIFF file has axes {page.axes}; a two-dimensional image is needed")
    if array.dtype == np.bool_:
        array = array.astype(np.uint8) * np.uint8(255)
    if page.photometric == tifffile.PHOTOMETRIC.MINISWHITE and array.dtype.kind == "u":
        array = np.iinfo(array.dtype).max - array
    if page.photometric == tifffile.PHOTOMETRIC.PALETTE and page.colormap is not None:
        array = (np.moveaxis(page.colormap, 0, -1)[array] >> 8).astype(np.uint8)
    return array


def _read_with_pillow(page: tifffile.TiffPage, path: Path) -> Array:
    """Read LZW and JPEG compression, which tifffile leaves to an extra package and Pillow's libtiff knows."""
    if page.samplesperpixel > 1 and page.bitspersample > 8:
        raise InputError(
            f"{path}: {tifffile.COMPRESSION(page.compression).name} compression of {page.bitspersample}-bit "
            "colour cannot be read without `pip install imagecodecs`; or save it with deflate or uncompressed"
        )
    with TiffImageFile(path) as picture:
        return samples(picture)


def _without_alpha(array: Array, page: tifffile.TiffPage) -> tuple[Array, tuple[str, ...]]:
    if array.ndim == 2:
        return array, ()
    count = array.shape[2]
    first_extra = count - len(page.extrasamples)
    alpha = [first_extra + i for i, kind in enumerate(page.extrasamples) if int(kind) in _ALPHA_SAMPLES]
    kept = [i for i in range(count) if i not in alpha]
    if not alpha or not kept:
        return array, ()
    return array[..., kept] if len(kept) > 1 else array[..., kept[0]], ("alpha channel dropped",)


def _declared_missing(page: tifffile.TiffPage) -> float | None:
    text = page.tags.valueof(_GDAL_NODATA_TAG)
    try:
        return None if text is None else float(str(text).strip("\x00 "))
    except ValueError:
        return None


def write(path: Path, array: Array, missing: float | None) -> None:
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    extra_tags: list[tuple[Any, ...]] = []
    if missing is not None and not np.isnan(missing):
        extra_tags.append((_GDAL_NODATA_TAG, "s", 0, f"{missing:.17g}", True))
    is_colour = array.ndim == 3 and array.shape[2] == 3 and array.dtype.kind == "u"
    tifffile.imwrite(
        path,
        array,
        photometric="rgb" if is_colour else "minisblack",
        planarconfig="contig" if array.ndim == 3 else None,
        extratags=extra_tags,
        metadata=None,
    )


FORMAT = Format(
    name="TIFF",
    suffixes=(".tif", ".tiff"),
    signatures=(b"II*\x00", b"MM\x00*", b"II+\x00", b"MM\x00+"),
    measure=measure,
    read=read,
    write=write,
    types=("uint8", "int8", "uint16", "int16", "uint32", "int32", "float16", "float32", "float64"),
)
