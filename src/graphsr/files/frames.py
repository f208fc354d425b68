"""The frames of a video: pairs of files in the order of their names, or the frames of a video file."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from graphsr.errors import InputError, missing_extra
from graphsr.files.batch import Batch, Outcome, attempt, by_name, is_batch, match_pairs
from graphsr.files.outputs import make_folder
from graphsr.files.pair import PairFiles, PairOptions
from graphsr.files.registry import output_name
from graphsr.files.writing import write_image
from graphsr.frames import Following
from graphsr.models.base import Model
from graphsr.models.registry import load

VIDEOS = (".mp4", ".mov", ".mkv", ".avi", ".webm", ".m4v")


def is_video(path: str | os.PathLike[str]) -> bool:
    """Return whether a file has the suffix of a video."""
    return Path(path).suffix.lower() in VIDEOS


def upsample_video(
    guides: Path, sources: Path, output: Path, options: PairOptions, *, steady: bool | float = False
) -> Iterator[Outcome]:
    """Upsample the frames of a video in the order of their names, each begun from the one before.

    Args:
        guides: A folder or a pattern; its images are matched with those of `sources` by name. Or a video file, whose
            frames are matched with them in order.
        sources: A folder or a pattern.
        output: The folder for the targets, which are called like their sources.
        options: How.
        steady: See `graphsr.upsample_frames`.

    Yields:
        What came of each frame. One that fails is left out, and the next is begun from the last that did not.
    """
    model = Following(load(options.model), steady)
    if is_batch(guides):
        batch = match_pairs(guides, sources, output)
        make_folder(output)
        yield from _upsample_matched(batch, options, model)
    elif is_video(guides):
        yield from _upsample_decoded(guides, by_name(sources), output, options, model)
    elif not guides.exists():
        raise InputError(f"{guides}: no such folder or file")
    else:
        raise InputError(f"{guides}: must be a folder of frames, a pattern in quotes, or a video ({', '.join(VIDEOS)})")


def count_frames(sources: Path) -> int:
    """Return how many frames there are to upsample."""
    return len(by_name(sources))


def _upsample_matched(batch: Batch, options: PairOptions, model: Model) -> Iterator[Outcome]:
    for name in sorted({*batch.pairs, *batch.unmatched}):
        if name in batch.unmatched:
            yield Outcome(name, error=batch.unmatched[name])
        else:
            yield attempt(name, batch.pairs[name], options, model)


def _upsample_decoded(
    video: Path, sources: dict[str, list[Path]], output: Path, options: PairOptions, model: Model
) -> Iterator[Outcome]:
    left = iter(sorted(sources.items()))
    with tempfile.TemporaryDirectory() as folder:
        for number, frame in enumerate(_decoded(video)):
            name, files = next(left, ("", []))
            if not files:
                raise InputError(f"{video}: has more frames than there are sources ({number}); one a frame is needed")
            make_folder(output)  # not before there is something to write
            guide = Path(folder) / f"{name}.png"
            write_image(guide, frame)
            yield attempt(name, PairFiles(guide, files[0], output / output_name(files[0])), options, model)
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
