"""The cases and results that the figures show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from PIL import Image

from graphsr.data.degradation import average
from graphsr.evaluation.evaluate import Example, example_of
from graphsr.evaluation.protocols import Case, cases, protocol
from graphsr.io.atomic import whole_file
from graphsr.pictures import Picture
from graphsr.reproduction.cells import PROTOCOL, Bench
from graphsr.reproduction.contenders import Contender
from graphsr.reproduction.sets import FoundSet
from graphsr.reproduction.workshop import Absent
from graphsr.upsampling import upsample

ROWS = 3


@dataclass(frozen=True, eq=False)
class Shown:
    """What one contender makes of each case."""

    name: str
    weights: str
    examples: tuple[Example, ...]


def cases_of(on: FoundSet, factor: int, most: int | None) -> list[Case]:
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


def shown(bench: Bench, contenders: Sequence[Contender], on: FoundSet, factor: int, of: Sequence[Case]) -> list[Shown]:
    """Those contenders that can be had, each on all the cases."""
    found = []
    for who in contenders:
        promise = bench.workshop.promise(who, on, factor)
        if isinstance(promise, Absent):
            bench.skipped.append(promise.reason)
            continue
        model = bench.model(who, promise)
        bench.plan.tell(f"{who.name} on {on.name} at x{factor}")
        results = (example_of(case, upsample(case.pair.guide, case.source, model=model)) for case in of)
        found.append(Shown(who.name, promise.weights, tuple(results)))
    return found


def save(picture: Picture, path: Path) -> Path:
    with whole_file(path) as part:
        Image.fromarray(picture).save(part, "PNG", optimize=True)
    return path


def made_by(bench: Bench, on: FoundSet, factor: int, all_shown: Sequence[Shown], count: int) -> list[str]:
    how = protocol(PROTOCOL)
    budget = f"{bench.plan.budget} training samples" if bench.plan.budget else "none, nothing was trained here"
    return [
        f"Data: {on.name} at x{factor}, {count} pairs of split {on.place.split}, of each the patch with most detail",
        f"Protocol: {how.name}, {how.says}",
        f"Budget: {budget}",
        f"Weights: {'; '.join(f'{one.name}: {one.weights}' for one in all_shown)}",
    ]
