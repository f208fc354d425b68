"""The paper's experiments as commands: tables and figures, with the published figures beside the measured ones."""

from __future__ import annotations

from collections.abc import Callable

from graphsr.errors import InputError
from graphsr.experiments import comparison, figure_errors, figure_weights, table1, table2, table3, timing
from graphsr.experiments.plan import Plan
from graphsr.experiments.report import Report
from graphsr.suggestion import suggestion

__all__ = ["EXPERIMENTS", "Plan", "Report", "reproduce"]

EXPERIMENTS: dict[str, Callable[[Plan], Report]] = {
    "table1": table1.run,
    "table2": table2.run,
    "table3": table3.run,
    "timing": timing.run,
    "figure-weights": figure_weights.run,
    "figure-errors": figure_errors.run,
    "comparison": comparison.run,
}


def reproduce(experiment: str, plan: Plan) -> Report:
    """Run an experiment; what it measures is kept in plan.out, and not measured again."""
    if experiment not in EXPERIMENTS:
        raise InputError(f"experiment {experiment!r}: unknown; {suggestion(experiment, EXPERIMENTS)}")
    try:
        plan.out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{plan.out}: cannot be made a folder: {error.strerror}") from error
    report = EXPERIMENTS[experiment](plan)
    if report.empty:
        reasons = "".join(f"\n  {reason}" for reason in report.skipped)
        raise InputError(f"{experiment}: nothing could be measured{':' if reasons else ''}{reasons}")
    return report
