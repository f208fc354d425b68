"""What figures have in common: the cases and results they show, and the report."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from graphsr.data.footprints import average
from graphsr.evaluation.evaluate import Example, example_of
from graphsr.evaluation.protocols import Case, Protocol, cases
from graphsr.experiments.data_sets import DataSet, find_data_sets
from graphsr.experiments.experiment_run import ExperimentRun
from graphsr.experiments.paper.error_tables import NO_BUDGET
from graphsr.experiments.participants import Participant, select_participants
from graphsr.experiments.report import Report, counted, unique
from graphsr.files.atomic import whole_file
from graphsr.pictures import Picture
from graphsr.upsampling import upsample

ROWS = 3
FACTORS = (8,)


@dataclass(frozen=True, eq=False)
class MethodResults:
    """The results of one method, one for each case."""

    name: str
    weights: str
    examples: tuple[Example, ...]


@dataclass(frozen=True, eq=False)
class FigureContent:
    """What one figure shows: cases of a data set at a factor, and the results of several methods on them."""

    on: DataSet
    factor: int
    cases: list[Case]
    results: list[MethodResults]

    @property
    def title(self) -> str:
        return f"{self.on.name}, x{self.factor}"

    def path(self, out: Path, what: str) -> Path:
        """Return the path of a picture of this content."""
        return out / f"{what}-{self.on.name}-x{self.factor}.png"


def figure_report(
    run: ExperimentRun,
    title: str,
    methods: Sequence[str],
    draw: Callable[[FigureContent], list[Path]],
    *notes: str,
) -> Report:
    """Draw the figures of every data set and factor.

    Args:
        run: The experiment.
        title: Of the report.
        methods: Those shown unless the user names others.
        draw: Draw the pictures of some content, and return their paths.
        notes: Sentences to add to the conditions.
    """
    options = run.options
    sets, missing = find_data_sets(options)
    participants, left_out = select_participants(options.methods or methods)
    pictures: list[Path] = []
    conditions: list[str] = []
    for on in sets:
        for factor in options.factors or FACTORS:
            shown = _select_cases(on, run.protocol, factor, options.pairs)
            content = FigureContent(on, factor, shown, _results(run, participants, on, factor, shown))
            drawn = draw(content) if content.results else []
            pictures += drawn
            conditions += _conditions(run, content) if drawn else []
    skipped = unique([*missing, *left_out, *run.skipped])
    return Report(run.name, title, (), unique([*conditions, *run.origins, *notes]), skipped, pictures=tuple(pictures))


def _select_cases(on: DataSet, how: Protocol, factor: int, most: int | None) -> list[Case]:
    """Select the patch with most detail of some pairs, spread over the data set."""
    found: dict[str, Case] = {}
    for case in cases(on.pairs, how, factor, most or ROWS):
        name = case.pair.name.split(" at ")[0]
        if name not in found or _detail(case) > _detail(found[name]):
            found[name] = case
    return list(found.values())


def _detail(case: Case) -> float:
    """Return the variance of the truth that the source does not show."""
    truth = case.pair.target
    means = average(truth, (case.source.shape[0], case.source.shape[1]))
    return float(np.nanvar(truth) - np.nanvar(means))


def _results(
    run: ExperimentRun, participants: Sequence[Participant], on: DataSet, factor: int, shown: Sequence[Case]
) -> list[MethodResults]:
    """Run every participant that has weights on all the cases."""
    found = []
    for who in participants:
        available = run.find_model(who, on, factor)
        if available is None:
            continue
        model = run.load(who, available, factor)
        run.options.progress(f"{who.name} on {on.name} at x{factor}")
        results = (example_of(case, upsample(case.pair.guide, case.source, model=model)) for case in shown)
        found.append(MethodResults(who.name, available.weights, tuple(results)))
    return found


def save_picture(picture: Picture, path: Path) -> Path:
    """Write a picture as PNG, and return its path."""
    with whole_file(path) as part:
        Image.fromarray(picture).save(part, "PNG", optimize=True)
    return path


def _conditions(run: ExperimentRun, content: FigureContent) -> list[str]:
    on, budget = content.on, run.options.budget
    return [
        f"Data: {on.name} at x{content.factor}, {counted(len(content.cases), 'pair')} of split {on.spec.split}, of "
        "each the patch with most detail",
        f"Protocol: {run.protocol.name}, {run.protocol.description}",
        f"Budget: {counted(budget, 'training sample') if budget else NO_BUDGET}",
        f"Weights: {'; '.join(f'{one.name}: {one.weights}' for one in content.results)}",
    ]
