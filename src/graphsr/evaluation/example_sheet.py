"""A picture sheet of results: guide, source, truth, prediction, error, edge weights."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from graphsr.evaluation.evaluate import Example
from graphsr.evaluation.metrics import shown_unit
from graphsr.pictures import ERRORS, Panel, Picture, as_picture, colourise, robust_range, sheet
from graphsr.pictures.preview import resized

_TITLES = ("guide", "source", "truth", "prediction", "error", "edge weights")


def example_sheet(examples: Sequence[Example], title: str) -> Picture:
    """One example a row; colours are scaled row by row, errors to a tenth of the row's range."""
    return sheet([_row(example) for example in examples], column_titles=_TITLES, title=title)


def _row(example: Example) -> list[Panel | None]:
    case = example.case
    size = case.pair.size
    times, unit = shown_unit(case.pair.unit)
    truth, source, target = case.pair.target * times, case.source * times, example.target * times
    low, high = robust_range(truth)
    tenth = 0.1 * (high - low)
    error = np.abs(target - truth)
    rms = float(np.sqrt(np.nanmean(error**2)))
    ties = None
    if example.edges is not None:
        logarithm = np.log10(np.maximum(example.edges, 1e-30))
        ties = Panel(colourise(logarithm, *robust_range(logarithm)), "log of the mean tie")
    return [
        Panel(as_picture(case.pair.guide), case.pair.name),
        Panel(resized(colourise(source, low, high), size, sharp=True), f"{source.shape[1]} × {source.shape[0]}"),
        Panel(colourise(truth, low, high), f"{low:.3g} to {high:.3g} {unit}"),
        Panel(colourise(target, low, high)),
        Panel(colourise(error, 0.0, tenth, ERRORS), f"RMSE {rms:.3g} {unit}; white: {tenth:.2g}"),
        ties,
    ]
