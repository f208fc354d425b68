"""The published figures that are known, to stand beside the measured ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import resources

from graphsr.settings import build
from graphsr.training.config import tomllib

UNKNOWN = "-"


@dataclass(frozen=True)
class PublishedFigure:
    """Without a data set or a factor, it is not known of which; it then stands beside all."""

    table: str
    method: str
    data: str = ""
    factor: int | None = None
    mse: float | None = None
    mae: float | None = None
    low_resolution_mse: float | None = None
    remark: str = ""


@dataclass(frozen=True)
class _File:
    figure: tuple[PublishedFigure, ...]


@cache
def figures() -> tuple[PublishedFigure, ...]:
    text = (resources.files("graphsr.reproduction") / "published.toml").read_text()
    return build(_File, tomllib.loads(text), "published.toml").figure


def published(table: str, method: str, data: str, factor: float) -> PublishedFigure | None:
    """What the table of the paper says of a method; `data` is the published name of the data set, "" if it has none."""
    for figure in figures():
        if (figure.table, figure.method) == (table, method):
            fits_data = not figure.data or figure.data == data
            if fits_data and figure.factor in (None, factor):
                return figure
    return None


def shown(value: float | None) -> str:
    """Three digits that count, and never an exponent for a large number."""
    if value is None:
        return UNKNOWN
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
