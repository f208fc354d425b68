"""Published figures, to be printed beside measured ones of the same data set, factor, protocol and unit."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import cache
from importlib import resources

from graphsr.errors import InputError
from graphsr.settings import build

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

UNKNOWN = "-"


@dataclass(frozen=True)
class PublishedErrors:
    """What is published of one method on one data set at one factor; None: it is not.

    Attributes:
        table: The experiment that measures the same.
        data: The pairs that were measured.
        trained_on: The data set of the training, if that is another than the one measured.
    """

    table: str
    method: str
    data: str
    factor: int
    protocol: str
    unit: str
    trained_on: str = ""
    mse: float | None = None
    mae: float | None = None
    rmse: float | None = None
    low_resolution_mse: float | None = None
    parameters: int | None = None


@dataclass(frozen=True)
class PublishedTime:
    """The time of a forward pass of a square patch; without a factor, it is of any."""

    method: str
    size: int
    device: str
    milliseconds: float
    factor: int | None = None
    std: float | None = None
    at_least: bool = False

    def __str__(self) -> str:
        at = "" if self.factor is None else f" x{self.factor}"
        std = "" if self.std is None else f" ({self.std:g})"
        return f"{self.method}{at} {'more than ' if self.at_least else ''}{self.milliseconds:g}{std}"


@dataclass(frozen=True)
class _Row:
    data: str
    factor: int
    mse: tuple[float, ...] = ()
    mae: tuple[float, ...] = ()
    rmse: tuple[float, ...] = ()
    low_resolution_mse: tuple[float, ...] = ()
    parameters: tuple[int, ...] = ()


@dataclass(frozen=True)
class _Table:
    name: str
    protocol: str
    unit: str
    methods: tuple[str, ...]
    rows: tuple[_Row, ...]
    trained_on: str = ""


@dataclass(frozen=True)
class _File:
    tables: tuple[_Table, ...]
    times: tuple[PublishedTime, ...]


@cache
def _file() -> _File:
    text = (resources.files("graphsr.experiments") / "published.toml").read_text()
    return build(_File, tomllib.loads(text), "published.toml")


@cache
def published_errors() -> tuple[PublishedErrors, ...]:
    """Return all errors that are known to be published."""
    return tuple(one for table in _file().tables for row in table.rows for one in _errors(table, row))


def _errors(table: _Table, row: _Row) -> list[PublishedErrors]:
    lists = {
        name: values
        for name in ("mse", "mae", "rmse", "low_resolution_mse", "parameters")
        if (values := getattr(row, name))
    }
    for name, values in lists.items():
        if len(values) != len(table.methods):
            raise InputError(
                f"published.toml: {table.name}, {row.data} x{row.factor}: {name} has {len(values)} figures for "
                f"{len(table.methods)} methods"
            )
    return [
        PublishedErrors(
            table.name, method, row.data, row.factor, table.protocol, table.unit, table.trained_on,
            **{name: values[n] for name, values in lists.items()},
        )
        for n, method in enumerate(table.methods)
    ]  # fmt: skip


def find_published(
    table: str, method: str, *, data: str, factor: float, protocol: str, unit: str, trained_on: str = ""
) -> PublishedErrors | None:
    """Find the published figures that may stand beside measured ones.

    Args:
        table: The experiment.
        method: The participant's name.
        data: The published name of the pairs that were measured; "" if no figure is of them.
        factor: The upsampling factor.
        protocol: The name of the protocol.
        unit: The unit of the errors.
        trained_on: The data set of the training; "" if there was none, or it is unknown.

    Returns:
        The figures if all of these are the same, else None.
    """
    asked = (table, method, data, factor, protocol, unit)
    for one in published_errors():
        same = (one.table, one.method, one.data, one.factor, one.protocol, one.unit) == asked
        if same and one.trained_on in ("", trained_on):
            return one
    return None


def published_elsewhere(table: str, data: str, measured: set[str]) -> list[str]:
    """Return a sentence on each method that is published on the same pairs but was not measured."""
    found: dict[str, list[str]] = {}
    for one in published_errors():
        if (one.table, one.data) == (table, data) and one.method not in measured:
            found.setdefault(one.method, []).append(f"x{one.factor} {shown(one.rmse)} {one.unit}")
    return [f"Published: {method} on {data}, RMSE {', '.join(figures)}" for method, figures in found.items()]


def published_parameters(method: str) -> int | None:
    """Return the published number of parameters of a graph model with some feature extractor."""
    return next((one.parameters for one in published_errors() if one.method == method and one.parameters), None)


def published_times() -> str:
    """Return a sentence on the published forward times; they are of another machine, and so beside no measured one."""
    times = _file().times
    size, device = times[0].size, times[0].device
    same = ", ".join(str(one) for one in times if (one.size, one.device) == (size, device))
    return f"Published: {size} x {size} pixels, {device}, ms (standard deviation): {same}"


def shown(value: float | None) -> str:
    """Return three significant digits, and never an exponent for a large number."""
    if value is None:
        return UNKNOWN
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"
