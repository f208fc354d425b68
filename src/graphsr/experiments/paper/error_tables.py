"""What tables of errors have in common: measuring, columns, and the report."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from graphsr.evaluation.tables import Table
from graphsr.experiments.data_sets import DataSet
from graphsr.experiments.experiment_run import ExperimentRun, Measurement
from graphsr.experiments.participants import Participant
from graphsr.experiments.published import UNKNOWN, shown
from graphsr.experiments.report import Report, counted, unique

PUBLISHED = "published"
NO_BUDGET = "none, nothing was trained here"
BATCHES_OF_8 = "Errors are means over batches of 8 patches, as published; '-' is not known (published) or not measured"


def measure_all(
    run: ExperimentRun, participants: Sequence[Participant], sets: Sequence[DataSet], factors: Sequence[int]
) -> list[Measurement]:
    """Measure every participant on every data set, trained on it, at every factor; those that can be."""
    found = [
        run.measure(who, on, factor, trained_on=on)
        for on in sets
        for who in participants
        for factor in run.options.factors or factors
    ]  # fmt: skip
    return [one for one in found if one is not None]


def by_data_set(
    measurements: Sequence[Measurement], sets: Sequence[DataSet]
) -> list[tuple[DataSet, list[Measurement]]]:
    """Group the measurements by data set, without the sets that have none."""
    groups = [(on, [one for one in measurements if one.data == on.name]) for on in sets]
    return [(on, group) for on, group in groups if group]


def title_of(measurements: Sequence[Measurement], *errors: str) -> str:
    """Return the name of one data set and the unit of each of its errors."""
    unit = measurements[0].errors.unit or "own unit"
    units = ", ".join(f"{error} in {unit}{'²' if error == 'MSE' else ''}" for error in errors)
    return f"{measurements[0].data}, {units}"


def _published_pair(one: Measurement) -> str:
    known = one.published
    return UNKNOWN if known is None or known.mse is None else f"{shown(known.mse)} / {shown(known.mae)}"


Columns = Mapping[str, Callable[[Measurement], str]]
PAPER_COLUMNS: Columns = {
    "MSE": lambda one: shown(one.errors.mse_batches_of_8),
    "MAE": lambda one: shown(one.errors.mae_batches_of_8),
    PUBLISHED: _published_pair,
}


def factor_table(measurements: Sequence[Measurement], columns: Columns, title: str) -> Table:
    """Return a table of one data set, a method a row, with the columns repeated at each factor."""
    factors = sorted({one.factor for one in measurements})
    headings = ("method", "weights", *(f"x{factor} {column}" for factor in factors for column in columns))
    rows = []
    for method in unique(one.method for one in measurements):
        own = {one.factor: one for one in measurements if one.method == method}
        cells = [show(own[at]) if at in own else UNKNOWN for at in factors for show in columns.values()]
        rows.append((method, _weights_of(list(own.values())), *cells))
    return Table(title, headings, tuple(rows), text_columns=2)


def _weights_of(measurements: Sequence[Measurement]) -> str:
    """Return where the weights of one method come from; the factor is left out, since the heading has it."""
    return ", ".join(unique(one.weights.replace(f" at x{one.factor}", "") for one in measurements))


def error_report(
    run: ExperimentRun,
    title: str,
    tables: Sequence[Table],
    measurements: Sequence[Measurement],
    sets: Sequence[DataSet],
    skipped: Sequence[str],
    *notes: str,
) -> Report:
    """Return the tables with the conditions of their figures."""
    options = run.options
    samples = f"{counted(options.budget, 'training sample')} of {options.patch} x {options.patch}"
    conditions = (
        *(f"Data: {one.describe(options.pairs)}" for one in sets),
        f"Protocol: {run.protocol.name}, {run.protocol.description}",
        f"Budget: {f'{samples} for each learned method, set and factor' if options.budget else NO_BUDGET}",
        "Weights: as the table says",
        *unique(run.origins),
        *notes,
    )
    records = tuple({**one.record(), "budget": options.budget} for one in measurements)
    return Report(run.name, title, tuple(tables), conditions, unique([*skipped, *run.skipped]), records)
