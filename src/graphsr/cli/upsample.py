"""graphsr upsample: one pair of files in, one file out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from graphsr.cli.console import note, say, working
from graphsr.cli.options import Confidence, Exact, Guide, Missing, Model, Output, Preview, Source
from graphsr.errors import InputError

if TYPE_CHECKING:
    from graphsr.io import Image

_UNEQUAL_FACTORS = 1.1


def upsample(
    guide: Guide,
    source: Source,
    output: Output,
    model: Model = "default",
    confidence: Confidence = None,
    exact: Exact = False,
    missing: Missing = None,
    preview: Preview = None,
) -> None:
    """Upsample SOURCE to the resolution of GUIDE.

    Both show the same view, upright; the factor between them can be any number.
    Formats: PNG, JPEG, TIFF, NPY, NPZ, PFM, and EXR with the extra graphsr\\[exr].

    \b
    Examples:
      graphsr upsample photo.jpg lidar.png -o depth.png --preview look.png
      graphsr upsample colour.png kinect.png -o depth.png --missing 0
      graphsr upsample orthophoto.tif heights.tif -o fine.tif --missing -9999
    """
    # Imported here, as torch and numba take seconds that `graphsr --help` should not.
    import graphsr
    from graphsr import io, pictures

    _refuse_overwriting(output, preview, inputs=[guide, source, *([confidence] if confidence else [])])
    coarse = io.read(source)
    marker = coarse.missing if missing is None else missing
    stored_type = io.check_output(output, coarse, missing=marker)
    if preview is not None:
        _check_preview(preview)
    fine = io.read(guide)
    trust = None if confidence is None else io.read_confidence(confidence, coarse.size)
    values, holes = io.marked(coarse.array, marker)
    for sentence in _remarks(fine, coarse, missing, int(holes.sum())):
        note(sentence)

    with working(f"upsampling {source.name}"):
        try:
            result = graphsr.upsample(fine.array, values, model=model, confidence=trust, exact=exact)
        except InputError as error:
            raise InputError(f"{guide}, {source}: {error}") from error
    with working(f"writing {output.name}"):
        report = io.write(output, result.target, like=coarse, missing=marker)
        if preview is not None:
            io.write(preview, pictures.preview(fine.array, values, result.target))

    say("guide", f"{guide}, {_described(fine)}")
    say(
        "source",
        f"{source}, {_described(coarse)}{f', {holes.sum():,} missing' if holes.any() else ''}",
    )
    say("factor", "{:.4g} x {:.4g}".format(*_factors(fine, coarse)))
    say("time", f"{result.report.seconds:.1f} s")
    say("fidelity", f"the target averages back to the source within {result.report.fidelity:.3g} (RMS)")
    say("written", f"{output}, {_size(fine)}, {stored_type}", *report.remarks())
    if preview is not None:
        say("preview", str(preview))


def _refuse_overwriting(output: Path, preview: Path | None, inputs: list[Path]) -> None:
    for path, option in ((output, "--output"), (preview, "--preview")):
        if path is not None and path.resolve() in [given.resolve() for given in inputs]:
            raise InputError(f"{path}: {option} would overwrite an input; give another name")
    if preview is not None and preview.resolve() == output.resolve():
        raise InputError(f"{preview}: --preview and --output are the same file; give another name")


def _check_preview(path: Path) -> None:
    from graphsr import io

    if path.suffix.lower() != ".png":
        raise InputError(f"{path}: the preview is a PNG picture; give it the suffix .png")
    io.check_output(path, "uint8", channels=3)


def _remarks(guide: Image, source: Image, missing: float | None, holes: int) -> Iterator[str]:
    from graphsr import io

    for image in (guide, source):
        yield from (f"{image.path}: {sentence}" for sentence in image.notes)
    if missing is None and source.missing is not None:
        yield f"{source.path}: {source.missing:g} counts as missing, as the file declares"
    share = io.looks_missing(source.array) if missing is None and source.missing != 0 else 0.0
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
