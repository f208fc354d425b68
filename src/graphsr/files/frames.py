"""The frames of a video: pairs of files in the order of their names, or the frames of a video file."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from graphsr.errors import InputError, missing_extra
from graphsr.files.batch import Outcome, attempt, by_name, is_batch, match_pairs
from graphsr.files.limits import check_regular_file
from graphsr.files.outputs import make_folder
from graphsr.files.pair import PairFiles, PairOptions
from graphsr.files.registry import output_name
from graphsr.files.writing import write_image
from graphsr.frames import Following

VIDEOS = (".mp4", ".mov", ".mkv", ".avi", ".webm", ".m4v")


@dataclass(frozen=True)
class VideoFiles:
    """The folders of a video.

    Attributes:
        guides: A folder or a pattern; its images are matched with those of `sources` by name. Or a video file, whose
            frames are matched with them in order.
        sources: A folder or a pattern.
        output: The folder for the targets, which are called like their sources.
        confidences: A folder or a pattern, matched with the sources by name; or one image for all frames.
    """

    guides: Path
    sources: Path
    output: Path
    confidences: Path | None = None


@dataclass(frozen=True)
class VideoReport:
    """How many frames there were and were written, and what these took in the mean.

    Attributes:
        frames: That there are sources of.
        written: That were upsampled.
        seconds: In all.
        iterations: Of the solver, in the mean of the frames written.
        switched_off: Source pixels taken for outliers, in the mean of the frames written.
        noise: Standard deviation of the noise that was reckoned with, in the mean of the frames written; None: nothing
            was said of it.
    """

    frames: int
    written: int
    seconds: float
    iterations: float
    switched_off: float
    noise: float | None = None


def upsample_video(
    files: VideoFiles,
    options: PairOptions,
    *,
    steady: bool | float = False,
    note: Callable[[str], None],
    failed: Callable[[str], None],
    progress: Callable[[int, int], None],
) -> VideoReport:
    """Upsample the frames of a video in the order of their names, each begun from the one before.

    Args:
        files: What to read and where to write.
        options: How.
        steady: See `graphsr.upsample_frames`.
        note: Called with every sentence that the user may want to know: once, not for every frame.
        failed: Called with what is wrong with a frame. The next one is begun from the last that did not fail.
        progress: Called with how many frames are done, of how many.

    Returns:
        What was done.
    """
    began = time.perf_counter()
    model = Following(options.load_model(), steady)
    options.check_model(model.model)
    _check_places(files)
    total, reports, noted = len(by_name(files.sources)), [], set[str]()
    for number, (name, frame) in enumerate(_frames(files)):
        outcome = Outcome(name, error=frame) if isinstance(frame, str) else attempt(name, frame, options, model)
        for sentence in outcome.notes:
            about = sentence.partition(": ")[2]
            if about not in noted:
                note(sentence)
            noted.add(about)
        if outcome.report is None:
            failed(outcome.error if name in outcome.error else f"{name}: {outcome.error}")
        else:
            reports.append(outcome.report.solve)
        progress(number + 1, total)
    iterations, switched_off = (
        sum(getattr(report, figure) for report in reports) / max(1, len(reports))
        for figure in ("iterations", "switched_off")
    )
    noises = [report.noise for report in reports if report.noise is not None]
    noise = sum(noises) / len(noises) if noises else None
    return VideoReport(total, len(reports), time.perf_counter() - began, iterations, switched_off, noise)


def _check_places(files: VideoFiles) -> None:
    """Raise InputError for a place that is wrong for every frame."""
    if files.sources.is_file():
        raise InputError(f"{files.sources}: is one file; sources are a folder of frames, or a pattern in quotes")
    if files.confidences is not None and not is_batch(files.confidences):
        check_regular_file(files.confidences, "an image, or a folder of images")


def is_video(path: str | os.PathLike[str]) -> bool:
    """Return whether a file has the suffix of a video."""
    return Path(path).suffix.lower() in VIDEOS


def _frames(files: VideoFiles) -> Iterator[tuple[str, PairFiles | str]]:
    """Yield the name of every frame and its files, or what is wrong with it."""
    if is_batch(files.guides):
        yield from _matched_frames(files)
    elif is_video(files.guides):
        yield from _decoded_frames(files)
    elif not files.guides.exists():
        raise InputError(f"{files.guides}: no such folder or file")
    else:
        suffixes = ", ".join(VIDEOS)
        raise InputError(f"{files.guides}: must be a folder of frames, a pattern in quotes, or a video ({suffixes})")


def _matched_frames(files: VideoFiles) -> Iterator[tuple[str, PairFiles | str]]:
    each = files.confidences is not None and is_batch(files.confidences)
    batch = match_pairs(files.guides, files.sources, files.output, confidences=files.confidences if each else None)
    make_folder(files.output)
    for name in sorted({*batch.pairs, *batch.unmatched}):
        if name in batch.unmatched:
            yield name, batch.unmatched[name]
        else:
            frame = batch.pairs[name]
            yield name, frame if each else replace(frame, confidence=files.confidences)


def _decoded_frames(files: VideoFiles) -> Iterator[tuple[str, PairFiles | str]]:
    video, confidences = files.guides, files.confidences
    each = None if confidences is None or not is_batch(confidences) else by_name(confidences)
    left = iter(sorted(by_name(files.sources).items()))
    with tempfile.TemporaryDirectory() as folder:
        for number, frame in enumerate(_decoded(video)):
            name, found = next(left, ("", []))
            if not found:
                raise InputError(f"{video}: has more frames than there are sources ({number}); one a frame is needed")
            if each is not None and name not in each:
                yield name, f"{confidences}: there is no confidence called {name}"
                continue
            make_folder(files.output)  # not before there is something to write
            guide = Path(folder) / f"{name}.png"
            write_image(guide, frame)
            confidence = confidences if each is None else each[name][0]
            yield name, PairFiles(guide, found[0], files.output / output_name(found[0]), confidence)
            guide.unlink()
    missing = [name for name, _ in left]
    if missing:
        raise InputError(f"{video}: ends before the source {missing[0]}; {len(missing)} sources have no frame")


def _decoded(video: Path) -> Iterator[Any]:
    """Yield the frames (H, W, 3) uint8 of a video file."""
    try:
        import av
    except ImportError:
        raise missing_extra(f"{video}: reading a video needs PyAV", "video") from None
    if not video.exists():
        raise InputError(f"{video}: no such file")
    try:
        with av.open(str(video)) as container:
            for frame in container.decode(video=0):
                yield frame.to_ndarray(format="rgb24")
    except (av.FFmpegError, IndexError) as error:
        raise InputError(f"{video}: cannot be read as a video; the file may be damaged ({error})") from error
