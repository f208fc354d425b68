"""The files that a page shows, read and checked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphsr.errors import InputError
from graphsr.files.confidence import read_confidence
from graphsr.files.image import Image
from graphsr.files.missing import mark_missing
from graphsr.files.reading import read_image
from graphsr.models.registry import load


@dataclass(frozen=True, eq=False)
class ViewedPair:
    """What is shown and solved.

    Attributes:
        guide: The guide.
        source: The source, as it is in its file.
        target: Of the size of the guide with the channels of the source, if there is one already; NaN is missing.
        truth: Likewise.
        confidence: (h, w), if a file says it.
        confidence_name: The name of that file.
    """

    guide: Image
    source: Image
    target: NDArray[Any] | None = None
    truth: NDArray[Any] | None = None
    confidence: NDArray[np.float32] | None = None
    confidence_name: str = ""

    @property
    def size(self) -> tuple[int, int]:
        """Return (H, W) of the guide."""
        return self.guide.size

    def source_values(self, missing: float | None) -> NDArray[Any]:
        """Return the source as floats, NaN where it is missing by the file or by the value given."""
        return mark_missing(self.source.array, self.source.missing if missing is None else missing)[0]


def read_viewed_pair(
    guide: Path,
    source: Path,
    *,
    model: str,
    target: Path | None = None,
    truth: Path | None = None,
    confidence: Path | None = None,
    missing: float | None = None,
) -> ViewedPair:
    """Read the files of a pair that is to be shown.

    Args:
        guide: The guide's file.
        source: The source's.
        model: The model that will solve it, whose memory is reckoned with.
        target: A target to show, if there is one already.
        truth: The true target, if it is known.
        confidence: The confidences of source pixels.
        missing: The value that marks missing pixels of source, target and truth; default: what each file declares.

    Raises:
        InputError: A file cannot be read, or has the wrong size.
    """
    coarse = read_image(source)
    fine = read_image(guide, bytes_per_pixel=load(model).bytes_per_pixel(coarse.channels))
    return ViewedPair(
        guide=fine,
        source=coarse,
        target=None if target is None else _on_guide("target", target, fine, coarse, missing),
        truth=None if truth is None else _on_guide("truth", truth, fine, coarse, missing),
        confidence=None if confidence is None else read_confidence(confidence, coarse.size),
        confidence_name="" if confidence is None else confidence.name,
    )


def _on_guide(name: str, path: Path, guide: Image, source: Image, missing: float | None) -> NDArray[Any]:
    image = read_image(path)
    if image.size != guide.size:
        raise InputError(
            f"{path}: the {name} has {image.size[1]} x {image.size[0]} pixels; it needs those of the guide, "
            f"{guide.size[1]} x {guide.size[0]}"
        )
    if image.channels != source.channels:
        raise InputError(
            f"{path}: the {name} must have as many channels as the source, {source.channels}, not {image.channels}"
        )
    return mark_missing(image.array, image.missing if missing is None else missing)[0]
