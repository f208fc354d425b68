"""Table 1: errors by data set and factor, of all methods."""

from __future__ import annotations

from graphsr.experiments.data_sets import find_data_sets
from graphsr.experiments.experiment_run import ExperimentRun
from graphsr.experiments.options import Options
from graphsr.experiments.paper.error_tables import (
    BATCHES_OF_8,
    PAPER_COLUMNS,
    by_data_set,
    error_report,
    factor_table,
    measure_all,
    title_of,
)
from graphsr.experiments.participants import select_participants
from graphsr.experiments.report import Report

FACTORS = (4, 8, 16)


def run(options: Options) -> Report:
    """Measure every method on every data set at every factor."""
    sets, missing = find_data_sets(options)
    participants, left_out = select_participants(options.methods)
    experiment = ExperimentRun(options, "table1")
    measurements = measure_all(experiment, participants, sets, FACTORS)
    tables = [
        factor_table(group, PAPER_COLUMNS, title_of(group, "MSE", "MAE"))
        for _, group in by_data_set(measurements, sets)
    ]
    title = "Table 1: errors by data set and factor"
    return error_report(experiment, title, tables, measurements, sets, [*missing, *left_out], BATCHES_OF_8)
