"""The protocol of later papers: RMSE of whole images, from sources that were reduced bicubically."""

from __future__ import annotations

from collections.abc import Sequence

from graphsr.errors import InputError
from graphsr.evaluation.tables import Table
from graphsr.experiments.data_sets import SPECS, DataSet, DataSetSpec, find_data_sets
from graphsr.experiments.experiment_run import ExperimentRun, Measurement
from graphsr.experiments.options import Options
from graphsr.experiments.paper.error_tables import PUBLISHED, by_data_set, error_report, unit_of, weights_of
from graphsr.experiments.participants import Participant, select_participants
from graphsr.experiments.published import UNKNOWN, published_elsewhere, shown
from graphsr.experiments.report import Report, unique

FACTORS = (4, 8, 16)
# Later papers train on the frames before these; the splits of the graph paper are others.
_NYUV2 = DataSetSpec(
    "nyuv2", "nyuv2", ("NYU Depth v2", "NYUv2", "nyuv2"), "test", "nyuv2-1000-1448", frames=range(1000, 1449)
)
KNOWN = (_NYUV2, *(spec for spec in SPECS if spec.name in ("nyuv2-frames", "hci", "synthetic")))
_NOTES = (
    "Errors are the RMSE of each image, then the mean over images",
    "Training: none here, since the training splits of the data sets are those of the graph paper: 263 of the 449 "
    "frames of NYUv2 are among its training frames, so weights trained on those cannot be compared with published ones",
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
    return error_report(
        experiment, "The protocol of later papers", [_table(on, group) for on, group in groups], measurements, sets,
        [*missing, *left_out], *_NOTES, *others,
    )  # fmt: skip


def _measure(experiment: ExperimentRun, who: Participant, on: DataSet, factor: int) -> Measurement | None:
    try:
        return experiment.measure(who, on, factor, trained_on=None)
    except InputError as error:  # maps with unknown pixels
        experiment.skipped.append(f"{on.name}: {error}")
        return None


def _table(on: DataSet, measurements: Sequence[Measurement]) -> Table:
    factors = sorted({one.factor for one in measurements})
    headings = ("method", "weights", *(f"x{factor} {what}" for factor in factors for what in ("RMSE", PUBLISHED)))
    rows = []
    for method in unique(one.method for one in measurements):
        own = {one.factor: one for one in measurements if one.method == method}
        cells = [cell for factor in factors for cell in _cells(own.get(factor))]
        rows.append((method, weights_of(list(own.values())), *cells))
    return Table(f"{on.name}, RMSE in {unit_of(measurements)}", headings, tuple(rows), text_columns=2)


def _cells(one: Measurement | None) -> tuple[str, str]:
    if one is None:
        return UNKNOWN, UNKNOWN
    return shown(one.errors.rmse), UNKNOWN if one.published is None else shown(one.published.rmse)
