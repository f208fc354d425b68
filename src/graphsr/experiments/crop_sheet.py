"""A sheet of crops, taken where the methods differ most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from scipy import ndimage

from graphsr.evaluation.metrics import shown_unit
from graphsr.evaluation.protocols import Case
from graphsr.pictures import Panel, Picture, as_picture, colourise, robust_range, sheet
from graphsr.pictures.preview import resized

SIDE = 56  # of a crop, pixels of the target
ENLARGED = 3


def crop_sheet(cases: Sequence[Case], targets: Sequence[Mapping[str, np.ndarray]], title: str) -> Picture:
    """One case a row: guide, source, truth and every method's target (H, W); `targets` has the same methods for all."""
    titles = ("guide", "source", "truth", *targets[0])
    rows = [_row(case, found) for case, found in zip(cases, targets, strict=True)]
    return sheet(rows, column_titles=titles, title=title)


def where_they_differ(targets: Sequence[np.ndarray], truth: np.ndarray, side: int) -> tuple[slice, slice]:
    """The square of `side` pixels with the largest variance between the targets (H, W), where the truth is known."""
    known = np.isfinite(truth)
    spread = np.where(known, np.var(np.stack(targets), axis=0), 0.0)
    # Far outliers of one method must not draw all crops to them.
    spread = np.minimum(spread, np.percentile(spread[known], 99)) if known.any() else spread
    mean = ndimage.uniform_filter(spread.astype(np.float64), side, mode="constant")
    half = side // 2
    inside = mean[half : truth.shape[0] - side + half + 1, half : truth.shape[1] - side + half + 1]
    top, left = np.unravel_index(int(np.argmax(inside)), inside.shape)
    return slice(int(top), int(top) + side), slice(int(left), int(left) + side)


def _row(case: Case, targets: Mapping[str, np.ndarray]) -> list[Panel | None]:
    truth = case.pair.target
    side = min(SIDE, *case.pair.size)
    place = where_they_differ(list(targets.values()), truth, side)
    times, unit = shown_unit(case.pair.unit)
    low, high = robust_range(truth[place] * times)

    def coloured(values: np.ndarray, caption: str = "") -> Panel:
        return _enlarged(colourise(values[place] * times, low, high), caption)

    # Every target pixel shows the source pixel it lies in.
    cells = [np.arange(n) * m // n for n, m in zip(truth.shape, case.source.shape, strict=True)]
    panels = [
        _enlarged(as_picture(case.pair.guide[place]), case.pair.name.split(" at ")[0]),
        coloured(case.source[np.ix_(*cells)], f"{low:.3g} to {high:.3g} {unit}"),
        coloured(truth),
    ]
    for target in targets.values():
        rms = float(np.sqrt(np.nanmean((target[place] - truth[place]) ** 2))) * times
        panels.append(coloured(target, f"RMSE {rms:.3g} {unit}"))
    return list(panels)


def _enlarged(picture: Picture, caption: str) -> Panel:
    size = ENLARGED * picture.shape[0], ENLARGED * picture.shape[1]
    return Panel(resized(picture, size, sharp=True), caption)
