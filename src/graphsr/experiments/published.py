"""The published figures that are known, to stand beside the measured ones."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cache
from importlib import resources

from graphsr.settings import build
from graphsr.training.config import tomllib

UNKNOWN = "-"


@dataclass(frozen=True)
class PublishedFigure:
    """Without a data set or a factor, it is not known of which; it then stands beside none, and is told in words."""

    table: str
    method: str
    data: str = ""
    factor: int | None = None
    mse: float | None = None
    mae: float | None = None
    low_resolution_mse: float | None = None

    @property
    def placed(self) -> bool:
        return bool(self.data) and self.factor is not None

    def __str__(self) -> str:
        of = " on ".join(filter(None, (self.method, self.data)))
        at = "" if self.factor is None else f" at x{self.factor}"
        figures = (("MSE", self.mse), ("MAE", self.mae), ("low-res. MSE", self.low_resolution_mse))
        known = ", ".join(f"{name} {shown(value)}" for name, value in figures if value is not None)
        missing = [name for name, there in (("data set", self.data), ("factor", self.factor)) if not there]
        return f"Published: {of}{at}: {known} (cm), of which the {' and '.join(missing)} is not recorded here"


@dataclass(frozen=True)
class _File:
    figure: tuple[PublishedFigure, ...]


@cache
def figures() -> tuple[PublishedFigure, ...]:
    text = (resources.files("graphsr.experiments") / "published.toml").read_text()
    return build(_File, tomllib.loads(text), "published.toml").figure


def published(table: str, method: str, data: str, factor: float) -> PublishedFigure | None:
    """What the table of the paper says of a method; `data` is the published name of the data set, "" if it has none."""
    for figure in figures():
        if figure.placed and (figure.table, figure.method, figure.data, figure.factor) == (table, method, data, factor):
            return figure
    return None


def remarks_on(table: str, methods: Collection[str]) -> list[str]:
    """What is published of some methods, but not known of which data set or factor."""
    return [str(one) for one in figures() if one.table == table and one.method in methods and not one.placed]


def shown(value: float | None) -> str:
    """Three digits that count, and never an exponent for a large number."""
    if value is None:
        return UNKNOWN
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
