"""Table 2: trained on one data set, measured on another; and how well the result averages back to the source."""

from __future__ import annotations

from collections.abc import Sequence

from graphsr.evaluation.tables import Table
from graphsr.experiments.data_sets import DataSet, find_data_sets
from graphsr.experiments.experiment_run import ExperimentRun, Measurement
from graphsr.experiments.options import Options
from graphsr.experiments.paper.error_tables import (
    BATCHES_OF_8,
    PAPER_COLUMNS,
    PUBLISHED,
    by_data_set,
    error_report,
    title_of,
)
from graphsr.experiments.participants import Participant, select_participants
from graphsr.experiments.published import UNKNOWN, shown
from graphsr.experiments.report import Report

FACTORS = (8,)


def run(options: Options) -> Report:
    """Measure every method on every data set, trained on each of them."""
    sets, missing = find_data_sets(options)
    participants, left_out = select_participants(options.methods)
    experiment = ExperimentRun(options, "table2")
    found = [
        experiment.measure(who, on, factor, trained_on=source)
        for factor in options.factors or FACTORS
        for who in participants
        for source, on in _crossings(who, sets)
    ]
    # Weights of a file are the same whatever they might have been trained on.
    measurements = list(dict.fromkeys(one for one in found if one is not None))
    if len(sets) < 2:
        missing.append("crossings: there is one data set only, so nothing learned was measured on another than its own")
    tables = [_table(group) for _, group in by_data_set(measurements, sets)]
    title = "Table 2: from one data set to another"
    return error_report(experiment, title, tables, measurements, sets, [*missing, *left_out], BATCHES_OF_8)


def _crossings(who: Participant, sets: Sequence[DataSet]) -> list[tuple[DataSet, DataSet]]:
    """Return (trained on, measured on), by training set, so that a model is loaded once."""
    if not who.preset:
        return [(on, on) for on in sets]
    return [(source, on) for source in sets for on in sets]


def _table(measurements: Sequence[Measurement]) -> Table:
    text = ("method", "trained on", "weights", "factor")
    headings = (*text, *PAPER_COLUMNS, "low-res. MSE", PUBLISHED)
    rows = []
    for one in measurements:
        fidelity = UNKNOWN if one.published is None else shown(one.published.low_resolution_mse)
        rows.append(
            (
                *(one.method, one.trained_on, one.weights, f"x{one.factor}"),
                *(show(one) for show in PAPER_COLUMNS.values()),
                *(shown(one.errors.low_resolution_mse), fidelity),
            )
        )
    return Table(f"measured on {title_of(measurements, 'MSE', 'MAE')}", headings, tuple(rows), len(text))
