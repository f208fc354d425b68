"""A picture sheet of results: guide, source, truth, prediction, error, edge weights."""

from __future__ import annotations

from collections.abc import Sequence

from graphsr.evaluation.case_panels import CasePanels
from graphsr.evaluation.evaluate import Example
from graphsr.pictures import Panel, Picture, sheet

_TITLES = ("guide", "source", "truth", "prediction", "error", "edge weights")


def example_sheet(examples: Sequence[Example], title: str) -> Picture:
    """Draw one example a row; colours are scaled row by row, errors to a tenth of the row's range."""
    return sheet([_row(example) for example in examples], column_titles=_TITLES, title=title)


def _row(example: Example) -> list[Panel | None]:
    of = CasePanels(example.case)
    weights = None if example.edges is None else of.edge_weights(example.edges)
    return [of.guide(), of.source(), of.truth(), of.target(example.target), of.error(example.target), weights]
