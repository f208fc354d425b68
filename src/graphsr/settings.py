"""Build dataclasses from plain tables (TOML, JSON): every key is known, every value has its type."""

from __future__ import annotations

import types
import typing
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

from graphsr.errors import InputError
from graphsr.suggestion import suggestion

T = TypeVar("T")


def build(kind: type[T], content: Any, where: str) -> T:
    """Build a dataclass from nested tables.

    Args:
        kind: The dataclass; its fields may be dataclasses, tuples of one type and optional values.
        content: The table, as a parser of TOML or JSON returns it.
        where: The beginning of the message about an unknown key or a value of the wrong type.

    Returns:
        The instance, with defaults for the keys that are not there.
    """
    if not isinstance(content, dict):
        raise InputError(f"{where}: expected a table, not {content!r}")
    hints = typing.get_type_hints(kind)
    known = [f.name for f in fields(kind)]  # type: ignore[arg-type]
    for key in content:
        if key not in known:
            raise InputError(f"{where}: unknown key {key!r}; {suggestion(key, known)}")
    values = {key: _value(hints[key], value, f"{where}: {key}") for key, value in content.items()}
    try:
        return kind(**values)
    except (TypeError, InputError) as error:  # a dataclass checks itself what else its values have to be
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
