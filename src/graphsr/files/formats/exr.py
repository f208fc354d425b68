"""OpenEXR: half and single floats. Needs the extra graphsr[exr]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from graphsr.errors import InputError, missing_extra
from graphsr.files.format import Format
from graphsr.files.image import Array, Image
from graphsr.files.library_output import silenced
from graphsr.files.limits import Header

_COLOUR = ("R", "G", "B")


def require(path: Path) -> None:
    """Check that OpenEXR is installed."""
    try:
        import OpenEXR  # noqa: F401
    except ImportError as error:
        raise missing_extra(f"{path}: EXR files need one more package", "exr") from error


def measure(path: Path) -> Header:
    import OpenEXR

    with silenced(), OpenEXR.File(str(path), separate_channels=True, header_only=True) as file:
        header = file.header()
        (left, top), (right, bottom) = (np.asarray(corner, np.int64) for corner in header["dataWindow"])
        return Header((int(bottom - top + 1), int(right - left + 1), max(1, len(header["channels"]))), 4)


def read(path: Path) -> Image:
    import OpenEXR

    with silenced(), OpenEXR.File(str(path), separate_channels=True) as file:
        planes = {name: channel.pixels for name, channel in file.channels().items()}
        parts = len(file.parts)
    names = _chosen(sorted(planes))
    left_out = [name for name in sorted(planes) if name not in names]
    notes: tuple[str, ...] = (f"channels left out: {', '.join(left_out)}",) if left_out else ()
    if left_out == ["A"]:
        notes = ("alpha channel dropped",)
    if parts > 1:
        notes += (f"first of {parts} parts used",)
    if len({planes[name].shape for name in names}) > 1:
        raise InputError(f"{path}: has subsampled channels; save it with all channels at full size")
    array = planes[names[0]] if len(names) == 1 else np.stack([planes[name] for name in names], axis=-1)
    return Image(array, path, notes)


def _chosen(names: list[str]) -> list[str]:
    if all(name in names for name in _COLOUR):
        return list(_COLOUR)
    return [name for name in names if name != "A"] or names


def write(path: Path, array: Array, missing: float | None) -> None:
    import OpenEXR

    planes = [array] if array.ndim == 2 else [array[..., i] for i in range(array.shape[2])]
    channels: dict[str, Any] = dict(zip(_names(len(planes)), map(np.ascontiguousarray, planes), strict=True))
    header = {"compression": OpenEXR.ZIP_COMPRESSION, "type": OpenEXR.scanlineimage}
    with silenced(), OpenEXR.File(header, channels) as file:
        file.write(str(path))


def _names(count: int) -> tuple[str, ...]:
    """Return Y for a single channel (luminance in the EXR standard), else RGB, else numbers that sort in order."""
    if count == 1:
        return ("Y",)
    return _COLOUR if count == 3 else tuple(f"C{i:03}" for i in range(count))


FORMAT = Format(
    name="EXR",
    suffixes=(".exr",),
    signatures=(b"v/1\x01",),
    measure=measure,
    read=read,
    write=write,
    types=("float16", "float32"),
    require=require,
)
