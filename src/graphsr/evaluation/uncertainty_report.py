"""Uncertainty evaluations as a table and as a plot."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from graphsr.evaluation.case_panels import CasePanels
from graphsr.evaluation.protocols import Case
from graphsr.evaluation.tables import Table, write_rows
from graphsr.evaluation.uncertainty import LEVELS, REMOVED, TrustEvaluation, mean_trust
from graphsr.pictures import Panel, Picture, panels, sheet
from graphsr.pictures.plot import Line, line_plot
from graphsr.upsampling import Upsampled

_LEVELS = tuple(f"{100 * level:g} %" for level in LEVELS)
HEADINGS = ("model", "data", "factor", "patches", *_LEVELS, "area", "by edges", "by error")
LEGEND = (
    f"{', '.join(_LEVELS)}: part of the pixels whose error is within the interval that should hold so many. Area: "
    "under the sparsification curve, the RMSE of the pixels that remain when the most uncertain are removed, as a part "
    "of that of all; by edges: when those nearest to an edge of the guide are removed first; by error: the best there "
    "can be."
)


def cells(row: TrustEvaluation) -> tuple[str, ...]:
    """Return what stands below `HEADINGS` of one evaluation."""
    covered = (f"{100 * part:.1f}" for part in row.trust.coverage)
    return (row.model, row.data, f"x{row.factor:g}", str(row.patches), *covered, *(f"{a:.3f}" for a in _areas(row)))


def _areas(row: TrustEvaluation) -> tuple[float, float, float]:
    trust = row.trust
    return tuple(float(c.mean()) for c in (trust.by_uncertainty, trust.by_edge_distance, trust.by_error))  # type: ignore[return-value]


def write_uncertainty_table(path: Path, rows: Sequence[TrustEvaluation]) -> None:
    """Write evaluations as .csv, .json or .md."""
    table = Table("", HEADINGS, tuple(cells(row) for row in rows), text_columns=2)
    write_rows(path, rows, table, LEGEND, [_record(row) for row in rows])


def _record(row: TrustEvaluation) -> dict[str, Any]:
    names = ("model", "data", "protocol", "degradation", "factor", "patches")
    covered = {f"coverage_{100 * level:g}": float(c) for level, c in zip(LEVELS, row.trust.coverage, strict=True)}
    areas = dict(zip(("area", "area_by_edges", "area_by_error"), _areas(row), strict=True))
    return {**{name: getattr(row, name) for name in names}, **covered, **areas}


def uncertainty_plot(rows: Sequence[TrustEvaluation]) -> Picture:
    """Draw the means over all evaluations of each model: sparsification curves, and the coverage of intervals."""
    pictures = []
    for model in dict.fromkeys(row.model for row in rows):
        trust = mean_trust([row.trust for row in rows if row.model == model])
        removed = 100 * REMOVED
        curves = [
            Line(removed, trust.by_uncertainty, f"most uncertain first, area {trust.by_uncertainty.mean():.3f}"),
            Line(removed, trust.by_edge_distance, f"nearest to an edge first, {trust.by_edge_distance.mean():.3f}"),
            Line(removed, trust.by_error, f"largest error first, {trust.by_error.mean():.3f}"),
        ]
        pictures.append(
            line_plot(
                curves, title=f"{model}: sparsification", x_label="pixels removed, %", y_label="RMSE of the rest",
                x_range=(0, 100), y_range=(0, 1.2),
            )
        )  # fmt: skip
        levels = 100 * np.array([0.0, *LEVELS, 1.0])
        found = 100 * np.array([0.0, *trust.coverage, 1.0])
        pictures.append(
            line_plot(
                [Line(levels, found, "measured"), Line(levels, levels, "what it should be")],
                title=f"{model}: intervals", x_label="should cover, %", y_label="covers, %",
                x_range=(0, 100), y_range=(0, 100),
            )
        )  # fmt: skip
    return panels([Panel(picture) for picture in pictures])


def uncertainty_sheet(examples: Sequence[tuple[Case, Upsampled]], title: str) -> Picture:
    """Draw one example a row; errors and uncertainties have the same colours."""
    titles = ("guide", "source", "prediction", "error", "uncertainty")
    return sheet([_row(case, result) for case, result in examples], column_titles=titles, title=title)


def _row(case: Case, result: Upsampled) -> list[Panel | None]:
    of = CasePanels(case)
    std = None if result.uncertainty is None else of.uncertainty(result.uncertainty)
    return [of.guide(), of.source(), of.target(result.target), of.error(result.target), std]
