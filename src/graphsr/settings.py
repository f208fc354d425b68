"""Dataclasses from plain tables (TOML, JSON): every key known, every value of its type."""

from __future__ import annotations

import types
import typing
from dataclasses import fields, is_dataclass
from difflib import get_close_matches
from typing import Any, TypeVar

from graphsr.errors import InputError

T = TypeVar("T")


def build(kind: type[T], content: Any, where: str) -> T:
    """A dataclass from nested tables; `where` begins the message about what is unknown or of the wrong type."""
    if not isinstance(content, dict):
        raise InputError(f"{where}: expected a table, not {content!r}")
    hints = typing.get_type_hints(kind)
    known = [f.name for f in fields(kind)]  # type: ignore[arg-type]
    for key in content:
        if key not in known:
            near = get_close_matches(key, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"known are {', '.join(known)}"
            raise InputError(f"{where}: unknown key {key!r}; {hint}")
    try:
        return kind(**{key: _value(hints[key], value, f"{where}: {key}") for key, value in content.items()})
    except TypeError as error:
        raise InputError(f"{where}: {error}") from error


def _value(hint: Any, value: Any, where: str) -> Any:
    origin = typing.get_origin(hint)
    if origin in (types.UnionType, typing.Union):
        options = typing.get_args(hint)
        if value is None and type(None) in options:
            return None
        for option in options:
            if option is not type(None):
                try:
                    return _value(option, value, where)
                except InputError:
                    continue
        raise InputError(f"{where} must be {hint}, not {value!r}")
    if origin is tuple:
        if not isinstance(value, list):
            raise InputError(f"{where} must be a list, not {value!r}")
        inner = typing.get_args(hint)[0]
        return tuple(_value(inner, item, f"{where}[{n}]") for n, item in enumerate(value))
    if is_dataclass(hint):
        return build(hint, value, where)  # type: ignore[arg-type]
    if hint is float and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if not isinstance(value, hint) or (isinstance(value, bool) and hint is not bool):
        raise InputError(f"{where} must be {hint.__name__}, not {value!r}")
    return value
