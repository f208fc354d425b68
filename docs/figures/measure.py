"""Measure what is planned and keep it in measured.csv. Figures of a model are measured anew with its weights."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_type_hints

from plan import FOLDERS, Measurement, plan

import graphsr
from graphsr.data import open_pairs
from graphsr.data.degradation import Degradation
from graphsr.evaluation.evaluate import Evaluation, evaluate
from graphsr.evaluation.options import Options
from graphsr.evaluation.protocols import protocol
from graphsr.models.base import Model

MEASURED = Path(__file__).with_name("measured.csv")
_KEPT = ("mse", "mae", "rmse", "low_resolution_mse", "edge_mse", "smooth_mse")


@dataclass(frozen=True)
class What:
    """Say what a figure is of: everything that it depends on but the weights."""

    model: str
    data: str
    factor: float
    split: str = "val"
    protocol: str = "patches"
    degradation: str = ""
    align: str = ""
    noise: str = ""


@dataclass(frozen=True)
class Figures:
    """Hold the means over patches or images, in the unit."""

    digest: str
    unit: str
    patches: int
    mse: float
    mae: float
    rmse: float
    low_resolution_mse: float
    edge_mse: float
    smooth_mse: float


Measured = dict[What, Figures]


def read_measured() -> Measured:
    """Return what was measured before."""
    with MEASURED.open(newline="") as file:
        return dict(_from_row(row) for row in csv.DictReader(file))


def _from_row(row: dict[str, str]) -> tuple[What, Figures]:
    def made(kind: type[Any]) -> Any:
        types = get_type_hints(kind)
        return kind(**{one.name: types[one.name](row[one.name]) for one in fields(kind)})

    return made(What), made(Figures)


def write_measured(measured: Measured) -> None:
    """Write a row for every figure."""
    with MEASURED.open("w", newline="") as file:
        writer = csv.DictWriter(
            file, [one.name for kind in (What, Figures) for one in fields(kind)], lineterminator="\n"
        )
        writer.writeheader()
        writer.writerows({**vars(what), **vars(figures)} for what, figures in measured.items())


def planned() -> dict[What, Measurement]:
    """Return everything that pages show, in their order."""
    return {what: one for one in plan() for what in _all_of(one)}


def measure(root: Path, before: Measured) -> Measured:
    """Measure all that is planned and not yet known of the present weights.

    Args:
        root: Of the data sets.
        before: What is known.
    """
    models = {name: graphsr.load(name) for one in plan() for name in one.models}
    digests = {name: model.digest() for name, model in models.items()}
    known = {what: figures for what, figures in before.items() if figures.digest == digests[what.model]}
    for one in plan():
        for kind in one.kinds:
            missing = [what for what in _all_of(one) if what.data == kind and what not in known]
            for factor in sorted({what.factor for what in missing}):
                names = [what.model for what in missing if what.factor == factor]
                print(f"{kind} x{factor:g} {one.degradation} {one.align} {one.noise}: {', '.join(names)}", flush=True)
                for row in _evaluations(root, one, kind, factor, {name: models[name] for name in names}):
                    known[_what(one, row.model, kind, factor)] = _figures(row, digests[row.model])
    return {what: known[what] for what in planned()}


def _all_of(one: Measurement) -> list[What]:
    return [_what(one, model, kind, factor) for kind in one.kinds for factor in one.factors for model in one.models]


def _what(one: Measurement, model: str, kind: str, factor: float) -> What:
    return What(model, kind, factor, one.split, one.protocol, one.degradation, one.align, one.noise)


def _evaluations(
    root: Path, one: Measurement, kind: str, factor: float, models: Mapping[str, Model]
) -> Iterator[Evaluation]:
    told: dict[str, Any] = {"align": one.align or None, "noise": one.noise or None, "footprint": one.footprint}
    return evaluate(
        list(models.items()),
        kind,
        open_pairs(kind, root / FOLDERS.get(kind, kind), one.split),
        protocol(one.protocol),
        [factor],
        degradation=Degradation.parse(one.degradation),
        options=Options(**told),
        most=one.pairs,
    )


def _figures(row: Evaluation, digest: str) -> Figures:
    values = {name: float(f"{getattr(row.figures, name):.4g}") for name in _KEPT}
    return Figures(digest, row.unit, row.patches, **values)
