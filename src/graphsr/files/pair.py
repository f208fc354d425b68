"""Upsampling a pair of image files: what `graphsr upsample` does with each pair."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from graphsr.arrays import as_image
from graphsr.errors import InputError
from graphsr.files.camera import UNKNOWN_CAMERA, CameraOptions, camera_of
from graphsr.files.confidence import read_confidence
from graphsr.files.image import Image
from graphsr.files.missing import mark_missing, suspected_missing
from graphsr.files.outputs import check_outputs
from graphsr.files.ply import PointCloudReport, check_ply, write_point_cloud
from graphsr.files.preview import write_preview
from graphsr.files.reading import read_image
from graphsr.files.writing import WriteReport, check_output, check_picture, fractional_type, write_image
from graphsr.measurements.misalignment import suspected_misalignment
from graphsr.models.base import Model
from graphsr.options import UpsamplingOptions
from graphsr.upsampling import Report, Upsampled, upsample_with

_UNEQUAL_FACTORS = 1.1
_log = logging.getLogger("graphsr")


@dataclass(frozen=True)
class PairFiles:
    """The files of one pair."""

    guide: Path
    source: Path
    output: Path
    confidence: Path | None = None
    preview: Path | None = None
    uncertainty: Path | None = None
    ply: Path | None = None


@dataclass(frozen=True, eq=False)
class PairOptions(UpsamplingOptions):
    """The options that all pairs of a command share, and those of a page.

    Attributes:
        model: A name or a path, which can be shown and sent to other processes.
        confidence: One number for all source pixels, where no file says it.
        missing: The value that marks a missing source pixel.
        overwrite: Whether files may be replaced.
        camera: What is known of the guide's.
        suspect_misalignment: Whether to look for a shift that is not corrected, and to say so.
    """

    model: str = "default"
    missing: float | None = None
    overwrite: bool = False
    camera: CameraOptions = UNKNOWN_CAMERA
    suspect_misalignment: bool = False


@dataclass(frozen=True)
class PairReport:
    """What was read, computed and written."""

    files: PairFiles
    options: PairOptions
    guide: str  # size, channels and type in words
    source: str
    size: str
    missing: int
    factors: tuple[float, float]
    stored_type: str
    solve: Report
    written: WriteReport
    written_uncertainty: WriteReport | None = None
    point_cloud: PointCloudReport | None = None


def upsample_pair(
    files: PairFiles,
    options: PairOptions,
    note: Callable[[str], None],
    model: Model | None = None,
    keep: Callable[[Upsampled], None] | None = None,
) -> PairReport:
    """Upsample one pair of files.

    Args:
        files: What to read and what to write.
        options: How.
        note: Called, before anything is written, with every sentence that the user may want to know.
        model: The model, if it is loaded already, instead of the one that the options name.
        keep: Called with the result once everything is written.

    Returns:
        What was done.

    Raises:
        InputError: A file cannot be read or must not be written, or the two do not fit; nothing is written then.
    """
    began = time.perf_counter()
    check_outputs(
        {
            "--output": files.output,
            "--preview": files.preview,
            "--uncertainty": files.uncertainty,
            "--ply": files.ply,
        },
        inputs=(files.guide, files.source, files.confidence),
        overwrite=options.overwrite,
    )
    source = read_image(files.source)
    marker = source.missing if options.missing is None else options.missing
    stored_type = check_output(files.output, source, missing=marker)
    if files.preview is not None:
        check_picture(files.preview)
    if files.uncertainty is not None:
        check_output(files.uncertainty, fractional_type(files.uncertainty, source.dtype), source.channels)
    if files.ply is not None:
        check_ply(files.ply, source.channels)
    model = model or options.load_model()  # what is wrong with it is not the pair's fault
    guide = read_image(files.guide, bytes_per_pixel=model.bytes_per_pixel(source.channels))
    camera = None if files.ply is None else camera_of(guide, options.camera)
    confidence = options.confidence if files.confidence is None else read_confidence(files.confidence, source.size)
    how = replace(options, confidence=confidence, uncertainty=files.uncertainty is not None)
    values, missing = mark_missing(source.array, marker)
    for sentence in pair_notes(guide, source, options.missing, int(missing.sum())):
        note(sentence)
    ready = time.perf_counter()
    try:
        result = upsample_with(how, guide.array, values, model)
    except InputError as error:
        raise InputError(f"{files.guide}, {files.source}: {error}") from error
    solved = time.perf_counter()
    unlooked = options.align is None and not options.looks_for_shift(model, source.channels)
    if options.suspect_misalignment and unlooked and model.has_graph:
        found = suspected_misalignment(as_image("guide", guide.array), np.moveaxis(as_image("source", values), 2, 0))
        if found:
            note(
                f"{files.source}: seems not to lie edge to edge on the guide: {found}; to correct it add --align shift"
            )
    looked = time.perf_counter()
    written = write_image(files.output, result.target, like=source, missing=marker)
    if files.preview is not None:
        with _beside(files.output):
            write_preview(files.preview, guide, values, result)
    written_uncertainty = None
    if files.uncertainty is not None and result.uncertainty is not None:
        stored = fractional_type(files.uncertainty, source.dtype)
        written_uncertainty = write_image(files.uncertainty, result.uncertainty, like=stored)
    point_cloud = None
    if files.ply is not None and camera is not None:
        with _beside(files.output):
            point_cloud = write_point_cloud(files.ply, guide, result.target, camera, options.camera.baseline)
    times = (ready - began, solved - ready, looked - solved, time.perf_counter() - looked)
    words = "%s: read in %.2f s, upsampled in %.2f s, looked for a misalignment in %.2f s, written in %.2f s"
    _log.info(words, files.source, *times)
    _log.info("%s: %d iterations of the solver", files.source, result.report.iterations)
    if keep is not None:
        keep(result)
    return PairReport(
        files=files,
        options=options,
        guide=_described(guide),
        source=_described(source),
        size=_size(guide),
        missing=int(np.count_nonzero(missing)),
        factors=_factors(guide, source),
        stored_type=str(stored_type),
        solve=result.report,
        written=written,
        written_uncertainty=written_uncertainty,
        point_cloud=point_cloud,
    )


@contextmanager
def _beside(output: Path) -> Iterator[None]:
    """Say of errors in writing another file that the target is there."""
    try:
        yield
    except InputError as error:
        raise InputError(f"{error}; the target is in {output}") from error


def pair_notes(guide: Image, source: Image, marker: float | None, missing: int) -> Iterator[str]:
    """Yield what the user may want to know of a pair; `marker` is the value for missing pixels that the user gave."""
    for image in (guide, source):
        yield from (f"{image.path}: {sentence}" for sentence in image.notes)
    if marker is None and source.missing is not None:
        yield f"{source.path}: {source.missing:g} counts as missing, as the file declares"
    share = suspected_missing(source.array) if marker is None and source.missing != 0 else 0.0
    if share:
        yield f"{source.path}: {share:.1%} of the values are 0; if 0 means no measurement, add --missing 0"
    if marker is not None and not missing:
        yield f"{source.path}: no value is {marker:g}, so nothing is missing"
    down, right = _factors(guide, source)
    if max(down, right) > _UNEQUAL_FACTORS * min(down, right):
        differ = f"the factors differ ({down:.4g} down, {right:.4g} across)"
        yield f"{differ}; do both files show the same view, upright?"


def _factors(guide: Image, source: Image) -> tuple[float, float]:
    return guide.size[0] / source.size[0], guide.size[1] / source.size[1]


def _size(image: Image) -> str:
    return f"{image.size[1]} x {image.size[0]}"


def _described(image: Image) -> str:
    channels = "" if image.channels == 1 else f", {image.channels} channels"
    return f"{_size(image)}{channels}, {image.dtype}"
