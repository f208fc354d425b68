"""Point lists and maps with holes, read from files."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphsr.errors import InputError
from graphsr.files.image import Image
from graphsr.files.limits import check_regular_file
from graphsr.files.missing import mark_missing
from graphsr.files.reading import read_image

TEXT = (".csv", ".txt", ".xyz", ".tsv")
_ARRAYS = (".npy", ".npz")
_LINE = "each line must be x, y, value, and a confidence if there is one"


@dataclass(frozen=True, eq=False)
class PointFile:
    """The points of a file.

    Attributes:
        points: (N, C) rows as in the file, or a map (H, W), NaN where there is no point.
        stored: What the target's type and missing value are taken from: the map's file, or a type for rows.
        is_map: Whether it is a map.
        missing: The value that marks pixels of a map without a point.
        lines: Those of a text file that the rows stand in.
    """

    points: NDArray[np.float64]
    stored: Image | np.dtype[Any]
    is_map: bool
    missing: float | None = None
    lines: Sequence[int] = ()


def read_points(path: str | os.PathLike[str], missing: float | None = None) -> PointFile:
    """Read points: rows from a text file or an array, or an image of the guide's size.

    Args:
        path: CSV or text, with or without a header, columns separated by commas, semicolons or blanks; an NPY or NPZ
            file with rows of 3 or 4 numbers or with a map; or an image with one channel.
        missing: The value that marks pixels of a map without a point. Default what the file declares, else 0; NaN is
            always one.

    Returns:
        The points.

    Raises:
        InputError: The file cannot be read, or holds something else.
    """
    path = Path(path)
    if path.suffix.lower() in TEXT:
        rows, lines = _read_text(path)
        return PointFile(rows, np.dtype(np.float32), False, lines=lines)
    image = read_image(path)
    if image.channels != 1 or (image.array.ndim == 3 and image.array.shape[2] != 1):
        raise InputError(f"{path}: holds {image.channels} channels; a map of points has one")
    array = image.array.reshape(image.size)
    if path.suffix.lower() in _ARRAYS and array.shape[1] <= 4:
        return PointFile(array.astype(np.float64), np.dtype(np.float32), False)
    marker = missing if missing is not None else image.missing if image.missing is not None else 0.0
    values, _ = mark_missing(array, marker)
    return PointFile(values.astype(np.float64), image, True, marker)


def _read_text(path: Path) -> tuple[NDArray[np.float64], list[int]]:
    """Return the rows (N, C) of a text file, and the number of the line that each stands in."""
    rows: list[list[float]] = []
    lines: list[int] = []
    for number, fields in _lines(path):
        try:
            row = [float(field) for field in fields]
        except ValueError:
            if rows or any(_is_number(field) for field in fields):
                wrong = next(field for field in fields if not _is_number(field))
                raise InputError(f"{path}: line {number}: {wrong!r} is not a number; {_LINE}") from None
            _check_header(path, fields)
            continue
        if rows and len(row) != len(rows[0]):
            raise InputError(f"{path}: line {number} has {len(row)} columns, and the first {len(rows[0])}; {_LINE}")
        rows.append(row)
        lines.append(number)
    if not rows:
        raise InputError(f"{path}: there is no point in it; {_LINE}")
    return np.array(rows), lines


def _lines(path: Path) -> list[tuple[int, list[str]]]:
    """Return numbers and fields of the lines that are neither empty nor comments."""
    check_regular_file(path, "a text file of points")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: is not a text file; {_LINE}") from error
    except OSError as error:
        raise InputError(f"{path}: cannot be opened ({error.strerror})") from error
    lines = ((n, line.partition("#")[0].strip()) for n, line in enumerate(text.splitlines(), 1))
    return [(n, _fields(line)) for n, line in lines if line]


def _fields(line: str) -> list[str]:
    if ";" in line:  # commas are then those of decimals
        return [field.strip().replace(",", ".") for field in line.strip(";").split(";")]
    return [field.strip('"') for field in re.split(r"\s*,\s*|\s+", line.strip(","))]


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True


def _check_header(path: Path, names: list[str]) -> None:
    lower = [name.lower() for name in names]
    if {"x", "y"} <= set(lower) and lower[:2] != ["x", "y"]:
        raise InputError(f"{path}: the columns are {', '.join(names)}; they must be x, y, value, in this order")
