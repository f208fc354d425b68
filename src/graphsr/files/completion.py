"""Completing the points of a file: what `graphsr complete` does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from graphsr.completion import complete_with
from graphsr.errors import InputError
from graphsr.files.camera import camera_of
from graphsr.files.confidence import read_confidence
from graphsr.files.image import Image
from graphsr.files.outputs import check_outputs
from graphsr.files.pair import PairOptions
from graphsr.files.ply import PointCloudReport, check_ply, write_point_cloud
from graphsr.files.points import PointFile, read_points
from graphsr.files.preview import write_preview
from graphsr.files.reading import read_image
from graphsr.files.writing import WriteReport, check_output, check_picture, write_image
from graphsr.measurements.points import point_map
from graphsr.upsampling import Report


@dataclass(frozen=True)
class CompletionFiles:
    """The files of one completion."""

    guide: Path
    points: Path
    output: Path
    confidence: str | None = None
    preview: Path | None = None
    ply: Path | None = None


@dataclass(frozen=True)
class CompletionReport:
    """What was read, computed and written."""

    files: CompletionFiles
    size: tuple[int, int]
    points: int
    pixels: int  # that have a point
    solve: Report
    written: WriteReport
    point_cloud: PointCloudReport | None = None


def complete_file(files: CompletionFiles, options: PairOptions, note: Callable[[str], None]) -> CompletionReport:
    """Complete the points of a file.

    Args:
        files: What to read and what to write.
        options: How; `missing` is the value that marks pixels of a map without a point. Points have no `kind`,
            `footprint` and `align`.
        note: Called, before the computation, with every sentence that the user may want to know.

    Returns:
        What was done.

    Raises:
        InputError: A file cannot be read or must not be written, or the two do not fit; nothing is written then.
    """
    check_outputs(
        {"--output": files.output, "--preview": files.preview, "--ply": files.ply},
        inputs=(files.guide, files.points, files.confidence),
        overwrite=options.overwrite,
    )
    found = read_points(files.points, options.missing)
    if options.missing is not None and not found.is_map:
        raise InputError(f"{files.points}: --missing is for maps; of rows, leave out those without a value")
    stored = found.stored
    check_output(files.output, stored, missing=None)
    if files.preview is not None:
        check_picture(files.preview)
    if files.ply is not None:
        check_ply(files.ply, channels=1)
    model = options.load_model()  # what is wrong with it is not the fault of the points
    guide = read_image(files.guide, bytes_per_pixel=model.bytes_per_pixel(1))
    for sentence in _notes(guide, found, options.missing):
        note(sentence)
    if found.is_map and found.points.shape != guide.size:
        raise InputError(
            f"{files.points}: is a map of {_size(found.points.shape)} pixels, and the guide has {_size(guide.size)}; "
            "points need the guide's size, and graphsr upsample is for coarser maps"
        )
    camera = camera_of(guide, options.camera)
    confidence = options.confidence if files.confidence is None else _confidence(files.confidence, found)
    try:
        values, weights = point_map(found.points, guide.size, confidence, found.lines)
        result = complete_with(replace(options, confidence=weights), guide.array, values, model)
    except InputError as error:
        raise InputError(f"{files.guide}, {files.points}: {error}") from error
    written = write_image(files.output, result.target, like=stored)
    if files.preview is not None:
        write_preview(files.preview, guide, values, result)
    point_cloud = None
    if files.ply is not None:
        point_cloud = write_point_cloud(files.ply, guide, result.target, camera, options.camera.baseline)
    known = int(np.count_nonzero(weights))
    count = known if found.is_map else len(found.points)
    return CompletionReport(files, guide.size, count, known, result.report, written, point_cloud)


def _confidence(path: str, found: PointFile) -> NDArray[np.float32]:
    if not found.is_map:
        raise InputError(f"{path}: a list of points has its confidences in a fourth column; --confidence is a number")
    rows, columns = found.points.shape
    return read_confidence(path, (rows, columns))


def _notes(guide: Image, found: PointFile, missing: float | None) -> Iterator[str]:
    yield from (f"{guide.path}: {sentence}" for sentence in guide.notes)
    if isinstance(found.stored, Image):
        yield from (f"{found.stored.path}: {sentence}" for sentence in found.stored.notes)
        if missing is None:
            yield f"{found.stored.path}: pixels of {found.missing:g} are those without a point; --missing changes that"


def _size(size: tuple[int, ...]) -> str:
    return f"{size[1]} x {size[0]}"
