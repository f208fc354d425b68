"""The protocol of later papers: RMSE of whole images, from sources that were reduced bicubically."""

from __future__ import annotations

from dataclasses import replace

from graphsr.experiments.data_sets import SPECS, DataSet, DataSetSpec, find_data_sets
from graphsr.experiments.experiment_run import ExperimentRun, Measurement
from graphsr.experiments.options import Options
from graphsr.experiments.paper.error_tables import PUBLISHED, Columns, by_data_set, error_report, factor_table, title_of
from graphsr.experiments.participants import Participant, select_participants
from graphsr.experiments.published import UNKNOWN, published_elsewhere, shown
from graphsr.experiments.report import Report

FACTORS = (4, 8, 16)
# Later papers train on the frames before these; the splits of the graph paper are others.
_NYUV2 = DataSetSpec(
    "nyuv2", "nyuv2", ("NYU Depth v2", "NYUv2", "nyuv2"), "test", "nyuv2-1000-1448", frames=range(1000, 1449)
)
KNOWN = (_NYUV2, *(spec for spec in SPECS if spec.name in ("nyuv2-frames", "hci", "synthetic")))
_COLUMNS: Columns = {
    "RMSE": lambda one: shown(one.errors.rmse),
    PUBLISHED: lambda one: UNKNOWN if one.published is None else shown(one.published.rmse),
}
_NOTES = (
    "Errors are the RMSE of each image, then the mean over images",
    "Training: none here, since 263 of the 449 frames of NYUv2 are in the training split of the graph paper; weights "
    "trained on that split are not comparable",
)


def run(options: Options) -> Report:
    """Measure every method whose weights are there, on whole images."""
    sets, missing = find_data_sets(options, KNOWN)
    participants, left_out = select_participants(options.methods)
    experiment = ExperimentRun(options, "successors", "successors")
    measurements = [
        one
        for on in sets
        for who in participants
        for factor in options.factors or FACTORS
        if (one := _measure(experiment, who, on, factor)) is not None
    ]
    groups = by_data_set(measurements, sets)
    others = [
        sentence
        for on, group in groups
        for sentence in published_elsewhere(
            "successors", on.published_name(options.pairs), {one.method for one in group}
        )
    ]
    tables = [factor_table(group, _COLUMNS, title_of(group, "RMSE")) for _, group in groups]
    return error_report(
        experiment, "The protocol of later papers", tables, measurements, sets,
        [*missing, *left_out], *_NOTES, *others,
    )  # fmt: skip


def _measure(experiment: ExperimentRun, who: Participant, on: DataSet, factor: int) -> Measurement | None:
    """Measure with the weights there are; nothing is published of weights that were trained on some of the frames."""
    one = experiment.measure(who, on, factor, trained_on=None)
    return one if one is None or "nyuv2" not in one.trained_on else replace(one, published=None)
