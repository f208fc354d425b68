"""A pair of image files in, one file out: what `graphsr upsample` does with each pair."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphsr import pictures
from graphsr.errors import InputError
from graphsr.files import (
    Image,
    WriteReport,
    check_output,
    mark_missing,
    read_confidence,
    read_image,
    suspected_missing,
    write_image,
)
from graphsr.models.base import load
from graphsr.upsampling import Report, upsample

_UNEQUAL_FACTORS = 1.1


@dataclass(frozen=True)
class PairFiles:
    """The files of one pair."""

    guide: Path
    source: Path
    output: Path
    confidence: Path | None = None
    preview: Path | None = None


@dataclass(frozen=True)
class Choices:
    """What the user chose for all pairs."""

    model: str = "default"
    exact: bool = False
    missing: float | None = None


@dataclass(frozen=True)
class FileReport:
    """What was read and written, and how it went."""

    files: PairFiles
    guide: str  # size, channels and type in words
    source: str
    size: str
    holes: int
    factors: tuple[float, float]
    stored_type: str
    solved: Report
    written: WriteReport


def upsample_pair(files: PairFiles, choices: Choices, remark: Callable[[str], None]) -> FileReport:
    """Upsample one pair; `remark` is told what the user may want to know before it begins."""
    _refuse_overwriting(files)
    coarse = read_image(files.source)
    marker = coarse.missing if choices.missing is None else choices.missing
    stored_type = check_output(files.output, coarse, missing=marker)
    if files.preview is not None:
        _check_preview(files.preview)
    fine = read_image(files.guide)
    trust = None if files.confidence is None else read_confidence(files.confidence, coarse.size)
    values, holes = mark_missing(coarse.array, marker)
    for sentence in _remarks(fine, coarse, choices.missing, int(holes.sum())):
        remark(sentence)
    model = load(choices.model)  # what is wrong with it is not the pair's fault
    try:
        result = upsample(fine.array, values, model=model, confidence=trust, exact=choices.exact)
    except InputError as error:
        raise InputError(f"{files.guide}, {files.source}: {error}") from error
    written = write_image(files.output, result.target, like=coarse, missing=marker)
    if files.preview is not None:
        write_image(files.preview, pictures.preview(fine.array, values, result.target))
    return FileReport(
        files=files,
        guide=_described(fine),
        source=_described(coarse),
        size=_size(fine),
        holes=int(np.count_nonzero(holes)),
        factors=_factors(fine, coarse),
        stored_type=str(stored_type),
        solved=result.report,
        written=written,
    )


def _refuse_overwriting(files: PairFiles) -> None:
    inputs = [path.resolve() for path in (files.guide, files.source, files.confidence) if path is not None]
    for path, option in ((files.output, "--output"), (files.preview, "--preview")):
        if path is not None and path.resolve() in inputs:
            raise InputError(f"{path}: {option} would overwrite an input; give another name")
    if files.preview is not None and files.preview.resolve() == files.output.resolve():
        raise InputError(f"{files.preview}: --preview and --output are the same file; give another name")


def _check_preview(path: Path) -> None:
    if path.suffix.lower() != ".png":
        raise InputError(f"{path}: the preview is a PNG picture; give it the suffix .png")
    check_output(path, "uint8", channels=3)


def _remarks(guide: Image, source: Image, missing: float | None, holes: int) -> Iterator[str]:
    for image in (guide, source):
        yield from (f"{image.path}: {sentence}" for sentence in image.notes)
    if missing is None and source.missing is not None:
        yield f"{source.path}: {source.missing:g} counts as missing, as the file declares"
    share = suspected_missing(source.array) if missing is None and source.missing != 0 else 0.0
    if share:
        yield f"{source.path}: {share:.1%} of the values are 0; if 0 means no measurement, add --missing 0"
    if missing is not None and not holes:
        yield f"{source.path}: no value is {missing:g}, so nothing is missing"
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
