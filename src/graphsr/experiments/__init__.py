"""Experiments as commands: the tables and figures of the paper, a comparison of all methods, and benchmarks."""

from __future__ import annotations

from collections.abc import Callable

from graphsr.errors import InputError
from graphsr.experiments import comparison, timing
from graphsr.experiments.options import Options
from graphsr.experiments.paper import figure_errors, figure_weights, successors, table1, table2, table3
from graphsr.experiments.report import Report
from graphsr.files.outputs import make_folder
from graphsr.suggestion import suggestion

__all__ = ["EXPERIMENTS", "Options", "Report", "reproduce"]

EXPERIMENTS: dict[str, Callable[[Options], Report]] = {
    "table1": table1.run,
    "table2": table2.run,
    "table3": table3.run,
    "timing": timing.run,
    "successors": successors.run,
    "figure-weights": figure_weights.run,
    "figure-errors": figure_errors.run,
    "comparison": comparison.run,
}


def reproduce(experiment: str, options: Options) -> Report:
    """Run an experiment.

    Args:
        experiment: One of `EXPERIMENTS`.
        options: What is asked of it; what it measures is cached in `options.out`, and not measured again.

    Returns:
        The report, which has at least one table or picture.
    """
    if experiment not in EXPERIMENTS:
        raise InputError(f"experiment {experiment!r}: unknown; {suggestion(experiment, EXPERIMENTS)}")
    make_folder(options.out)
    report = EXPERIMENTS[experiment](options)
    if report.empty:
        reasons = "".join(f"\n  {reason}" for reason in report.skipped)
        raise InputError(f"{experiment}: nothing could be measured{':' if reasons else ''}{reasons}")
    return report
