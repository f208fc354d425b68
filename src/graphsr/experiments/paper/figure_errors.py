"""Error maps of several methods side by side, and crops where they differ most."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from scipy import ndimage

from graphsr.evaluation.case_panels import CasePanels
from graphsr.evaluation.metrics import shown_unit
from graphsr.evaluation.protocols import Case
from graphsr.experiments.experiment_run import ExperimentRun
from graphsr.experiments.options import Options
from graphsr.experiments.paper.figures import FigureContent, figure_report, save_picture
from graphsr.experiments.report import Report
from graphsr.pictures import Panel, Picture, as_picture, colourise, robust_range, sheet
from graphsr.pictures.preview import resized

# More columns than these cannot be taken in at a glance; --methods chooses others.
METHODS = ("bicubic", "guided-filter", "sd-filter", "fdkn", "fdsr", "dada-colour", "colour", "default")
CROP_SIDE = 56  # pixels of the target
CROP_ZOOM = 3


def run(options: Options) -> Report:
    """Draw a sheet of error maps and a sheet of crops."""

    def draw(content: FigureContent) -> list[Path]:
        targets = [{one.name: one.examples[n].target for one in content.results} for n in range(len(content.cases))]
        return [
            save_picture(_error_sheet(content), content.path(options.out, "errors")),
            save_picture(crop_sheet(content.cases, targets, content.title), content.path(options.out, "crops")),
        ]

    return figure_report(ExperimentRun(options, "figure-errors"), "Errors of methods side by side", METHODS, draw)


def _error_sheet(content: FigureContent) -> Picture:
    rows: list[list[Panel | None]] = []
    for n, case in enumerate(content.cases):
        panels = CasePanels(case)
        errors = [panels.error(one.examples[n].target) for one in content.results]
        rows.append([panels.guide(), panels.source(), panels.truth(), *errors])
    names = (f"error of {one.name}" for one in content.results)
    return sheet(rows, column_titles=("guide", "source", "truth", *names), title=content.title)


def crop_sheet(cases: Sequence[Case], targets: Sequence[Mapping[str, np.ndarray]], title: str) -> Picture:
    """Draw one case a row: crops of guide, source, truth and the target (H, W) of every method.

    Args:
        cases: The cases.
        targets: The targets of each case by method; the methods are the same for all.
        title: Of the sheet.
    """
    titles = ("guide", "source", "truth", *targets[0])
    rows = [_crops(case, found) for case, found in zip(cases, targets, strict=True)]
    return sheet(rows, column_titles=titles, title=title)


def largest_difference(targets: Sequence[np.ndarray], truth: np.ndarray, side: int) -> tuple[slice, slice]:
    """Find the square of `side` pixels with the largest variance between targets (H, W), where the truth is known."""
    known = np.isfinite(truth)
    variance = np.where(known, np.var(np.stack(targets), axis=0), 0.0)
    # Far outliers of one method must not draw all crops to them.
    variance = np.minimum(variance, np.percentile(variance[known], 99)) if known.any() else variance
    mean = ndimage.uniform_filter(variance.astype(np.float64), side, mode="constant")
    half = side // 2
    inside = mean[half : truth.shape[0] - side + half + 1, half : truth.shape[1] - side + half + 1]
    top, left = np.unravel_index(int(np.argmax(inside)), inside.shape)
    return slice(int(top), int(top) + side), slice(int(left), int(left) + side)


def _crops(case: Case, targets: Mapping[str, np.ndarray]) -> list[Panel | None]:
    truth = case.pair.target
    place = largest_difference(list(targets.values()), truth, min(CROP_SIDE, *case.pair.size))
    times, unit = shown_unit(case.pair.unit)
    low, high = robust_range(truth[place] * times)

    def coloured(values: np.ndarray, caption: str = "") -> Panel:
        return _enlarged(colourise(values[place] * times, low, high), caption)

    # Every target pixel shows the source pixel it lies in.
    nearest = [np.arange(n) * m // n for n, m in zip(truth.shape, case.source.shape, strict=True)]
    panels: list[Panel | None] = [
        _enlarged(as_picture(case.pair.guide[place]), case.pair.name.split(" at ")[0]),
        coloured(case.source[np.ix_(*nearest)], f"{low:.3g} to {high:.3g} {unit}"),
        coloured(truth),
    ]
    for target in targets.values():
        rmse = float(np.sqrt(np.nanmean((target[place] - truth[place]) ** 2))) * times
        panels.append(coloured(target, f"RMSE {rmse:.3g} {unit}"))
    return panels


def _enlarged(picture: Picture, caption: str) -> Panel:
    size = CROP_ZOOM * picture.shape[0], CROP_ZOOM * picture.shape[1]
    return Panel(resized(picture, size, sharp=True), caption)
