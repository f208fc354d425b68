"""Tables become dataclasses; what does not fit is named with its place."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from graphsr.errors import InputError, missing_extra
from graphsr.settings import build
from graphsr.suggestion import suggestion


@dataclass(frozen=True)
class Inner:
    weight: float = 1.0
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outer:
    count: int
    inner: Inner = Inner()
    limit: float | None = None


def test_nested_tables_lists_and_defaults() -> None:
    built = build(Outer, {"count": 3, "inner": {"weight": 2, "names": ["a", "b"]}}, "file")
    assert built == Outer(3, Inner(2.0, ("a", "b")))
    assert isinstance(built.inner.weight, float)
    assert build(Outer, {"count": 1, "limit": None}, "file").limit is None


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ({"count": 1, "iner": {}}, r"^file: unknown key 'iner'; did you mean inner\?$"),
        ({"count": 1, "?": 1}, r"^file: unknown key '\?'; known are count, inner, limit$"),
        ({"count": 1, "inner": {"wieght": 1}}, r"^file: inner: unknown key 'wieght'; did you mean weight\?$"),
        ({"count": 1, "inner": {"names": ["a", 2]}}, r"^file: inner: names\[1\] must be str, not 2$"),
        ({"count": 1, "inner": {"names": "a"}}, r"^file: inner: names must be a list, not 'a'$"),
        ({"count": True}, "^file: count must be int, not True$"),
        ({"count": 1, "limit": "x"}, "^file: limit must be .*, not 'x'$"),
        ({}, "^file: .*count"),
        ([], r"^file: expected a table, not \[\]$"),
    ],
)
def test_what_does_not_fit_is_named(content: object, says: str) -> None:
    with pytest.raises(InputError, match=says):
        build(Outer, content, "file")


def test_at_most_two_names_are_suggested() -> None:
    assert suggestion("table", ["table1", "table2", "table3"]).count("table") == 2


def test_an_extra_is_installed_by_the_name_of_the_package() -> None:
    assert str(missing_extra("rasters need rasterio", "geo")) == "rasters need rasterio: pip install 'graphsr[geo]'"
