"""What figures have in common: the cases and results they show, and the report of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from graphsr.data.degradation import average
from graphsr.evaluation.evaluate import Example, example_of
from graphsr.evaluation.protocols import Case, cases, protocol
from graphsr.experiments.cells import PROTOCOL, Bench
from graphsr.experiments.contenders import METHODS_AND_MODELS, Contender, chosen
from graphsr.experiments.plan import Plan
from graphsr.experiments.report import Report, all_of, counted
from graphsr.experiments.sets import FoundSet, find_sets
from graphsr.files.atomic import whole_file
from graphsr.pictures import Picture
from graphsr.upsampling import upsample

ROWS = 3
FACTORS = (8,)


@dataclass(frozen=True, eq=False)
class Shown:
    """What one contender makes of each case."""

    name: str
    weights: str
    examples: tuple[Example, ...]


@dataclass(frozen=True, eq=False)
class Scene:
    """One data set at one factor: its cases, and what the contenders make of them."""

    on: FoundSet
    factor: int
    cases: list[Case]
    results: list[Shown]

    @property
    def title(self) -> str:
        return f"{self.on.name}, x{self.factor}"

    def path(self, out: Path, what: str) -> Path:
        return out / f"{what}-{self.on.name}-x{self.factor}.png"


def figure(
    bench: Bench, title: str, methods: Sequence[str], draw: Callable[[Scene], list[Path]], *remarks: str
) -> Report:
    """`draw` makes the pictures of a scene, once for every data set and factor."""
    plan = bench.plan
    sets, missing = find_sets(plan)
    contenders, left_out = chosen(plan.methods or methods, METHODS_AND_MODELS)
    pictures: list[Path] = []
    sentences: list[str] = []
    for on in sets:
        for factor in plan.factors or FACTORS:
            of = _cases(on, factor, plan.pairs)
            scene = Scene(on, factor, of, _shown(bench, contenders, on, factor, of))
            drawn = draw(scene) if scene.results else []
            pictures += drawn
            sentences += _made_by(plan, scene) if drawn else []
    skipped = all_of([*missing, *left_out, *bench.skipped])
    made_by = all_of([*sentences, *bench.origins, *remarks])
    return Report(bench.table, title, (), made_by, skipped, pictures=tuple(pictures))


def _cases(on: FoundSet, factor: int, most: int | None) -> list[Case]:
    """Of some pairs, spread over the data set, the patch that has most to get wrong."""
    found: dict[str, Case] = {}
    for case in cases(on.pairs, protocol(PROTOCOL), factor, most or ROWS):
        name = case.pair.name.split(" at ")[0]
        if name not in found or _detail(case) > _detail(found[name]):
            found[name] = case
    return list(found.values())


def _detail(case: Case) -> float:
    """The squared truth that the source does not tell, without a unit."""
    truth = case.pair.target
    means = average(truth, (case.source.shape[0], case.source.shape[1]))
    return float(np.nanvar(truth) - np.nanvar(means))


def _shown(bench: Bench, contenders: Sequence[Contender], on: FoundSet, factor: int, of: Sequence[Case]) -> list[Shown]:
    """Those contenders that can be had, each on all the cases."""
    found = []
    for who in contenders:
        promise = bench.promise(who, on, factor)
        if promise is None:
            continue
        model = bench.model(who, promise, factor)
        bench.plan.tell(f"{who.name} on {on.name} at x{factor}")
        results = (example_of(case, upsample(case.pair.guide, case.source, model=model)) for case in of)
        found.append(Shown(who.name, promise.weights, tuple(results)))
    return found


def save(picture: Picture, path: Path) -> Path:
    with whole_file(path) as part:
        Image.fromarray(picture).save(part, "PNG", optimize=True)
    return path


def _made_by(plan: Plan, scene: Scene) -> list[str]:
    how, on = protocol(PROTOCOL), scene.on
    budget = counted(plan.budget, "training sample") if plan.budget else "none, nothing was trained here"
    return [
        f"Data: {on.name} at x{scene.factor}, {counted(len(scene.cases), 'pair')} of split {on.place.split}, of each "
        "the patch with most detail",
        f"Protocol: {how.name}, {how.says}",
        f"Budget: {budget}",
        f"Weights: {'; '.join(f'{one.name}: {one.weights}' for one in scene.results)}",
    ]
