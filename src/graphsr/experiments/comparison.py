"""All methods side by side: errors on the pairs there are, time and memory."""

from __future__ import annotations

from dataclasses import replace

from graphsr.experiments import timing
from graphsr.experiments.data_sets import find_data_sets
from graphsr.experiments.experiment_run import ExperimentRun
from graphsr.experiments.options import Options
from graphsr.experiments.paper.error_tables import (
    Columns,
    by_data_set,
    error_report,
    factor_table,
    measure_all,
    title_of,
)
from graphsr.experiments.participants import select_participants
from graphsr.experiments.published import shown
from graphsr.experiments.report import Report, unique

FACTORS = (4, 8, 16)
SIZES = (256, 1024)
_COLUMNS: Columns = {
    "MSE": lambda one: shown(one.errors.mse),
    "MAE": lambda one: shown(one.errors.mae),
    "low-res. MSE": lambda one: shown(one.errors.low_resolution_mse),
}


def run(options: Options) -> Report:
    """Measure the errors of every method, and then the time and memory of those that could be measured."""
    sets, missing = find_data_sets(options)
    participants, left_out = select_participants(options.methods)
    experiment = ExperimentRun(options, "comparison")
    measurements = measure_all(experiment, participants, sets, FACTORS)
    tables = [
        factor_table(group, _COLUMNS, title_of(group, "MSE", "MAE")) for _, group in by_data_set(measurements, sets)
    ]
    errors = error_report(
        experiment, "All methods", tables, measurements, sets, [*missing, *left_out],
        "Errors are means over patches; low-res. MSE: the target averaged back, against the source",
    )  # fmt: skip
    present = unique(one.method for one in measurements)
    if not present:
        return errors
    times = timing.run(replace(options, methods=present, sizes=options.sizes or SIZES))
    return replace(errors, appendix=replace(times, name="comparison-times"))
