"""Table 3: the graph model with one feature extractor or another."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from graphsr.evaluation.tables import Table
from graphsr.experiments.data_sets import find_data_sets
from graphsr.experiments.experiment_run import ExperimentRun, Measurement
from graphsr.experiments.options import Options
from graphsr.experiments.paper.error_tables import (
    BATCHES_OF_8,
    PAPER_COLUMNS,
    PUBLISHED,
    by_data_set,
    error_report,
    measure_all,
    title_of,
)
from graphsr.experiments.participants import EXTRACTORS, Participant, select_participants
from graphsr.experiments.published import UNKNOWN, published_parameters
from graphsr.experiments.report import Report
from graphsr.experiments.trained_weights import untrained_model

FACTORS = (8,)


def run(options: Options) -> Report:
    """Measure the graph model with every feature extractor."""
    sets, missing = find_data_sets(options)
    extractors, _ = select_participants(options.methods, EXTRACTORS)
    experiment = ExperimentRun(options, "table3")
    measurements = measure_all(experiment, extractors, sets, FACTORS)
    counts = {who.name: _parameters(who) for who in extractors}
    tables = [_table(group, counts) for _, group in by_data_set(measurements, sets)]
    return error_report(experiment, "Table 3: feature extractors", tables, measurements, sets, missing, BATCHES_OF_8)


def _parameters(who: Participant) -> int:
    """Count the parameters of a model without numbers, which costs nothing."""
    with torch.device("meta"):
        return sum(p.numel() for p in untrained_model(who, FACTORS[0]).parameters())


def _table(measurements: Sequence[Measurement], counts: Mapping[str, int]) -> Table:
    headings = ("extractor", "weights", "factor", "parameters", PUBLISHED, *PAPER_COLUMNS)
    rows = []
    for one in measurements:
        known = published_parameters(one.method)
        rows.append(
            (
                *(one.method.removeprefix("graph-"), one.weights, f"x{one.factor}"),
                *(f"{counts[one.method]:,}", UNKNOWN if known is None else f"{known:,}"),
                *(show(one) for show in PAPER_COLUMNS.values()),
            )
        )
    return Table(title_of(measurements, "MSE", "MAE"), headings, tuple(rows), text_columns=3)
