"""The options of a solve as they stand in a page, where they are texts; checked as on the command line."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass, fields, replace
from typing import Any

from graphsr.errors import InputError
from graphsr.files.confidence import one_confidence
from graphsr.files.pair import PairOptions
from graphsr.measurements.noise import parse_noise
from graphsr.settings import build
from graphsr.suggestion import suggestion

_MOST_DIGITS = 200  # characters of a value


@dataclass(frozen=True)
class _Fields:
    """What a page sends: texts as typed, "" for nothing."""

    model: str
    confidence: str = ""
    noise: str = ""
    robust: bool = False
    exact: bool = False
    footprint: str = "box"
    align: str = ""
    missing: str = ""
    uncertainty: bool = False


def as_page(options: PairOptions) -> dict[str, str | bool]:
    """Return what stands in the fields of a page."""
    held = {field.name: getattr(options, field.name) for field in fields(_Fields)}
    return {name: value if isinstance(value, bool) else _text(value) for name, value in held.items()}


def options_from_page(content: Any, *, models: Collection[str], before: PairOptions) -> PairOptions:
    """Return the options that a page sends.

    Args:
        content: The decoded JSON; nothing in it is trusted.
        models: The names that may be chosen. A page cannot name files.
        before: Those that it has now, for what it has no field for.

    Raises:
        InputError: A value is not valid; the message is that of the command line.
    """
    sent = build(_Fields, content, "options")
    for name, text in vars(sent).items():
        if isinstance(text, str) and len(text) > _MOST_DIGITS:
            raise InputError(f"--{name}: {len(text)} characters are too many")
    if sent.model not in models:
        raise InputError(f"model {sent.model!r}: no model of this name; {suggestion(sent.model, list(models))}")
    return replace(
        before,
        model=sent.model,
        confidence=one_confidence(sent.confidence.strip()) if sent.confidence.strip() else None,
        noise=parse_noise(sent.noise.strip() or None),
        robust=sent.robust,
        exact=sent.exact,
        footprint=sent.footprint.strip() or "box",
        align=sent.align or None,
        missing=_number("--missing", sent.missing.strip()),
        uncertainty=sent.uncertainty,
    )


def _number(option: str, text: str) -> float | None:
    try:
        return float(text) if text else None
    except ValueError:
        raise InputError(f"{option} {text}: must be a number") from None


def _text(value: float | str | None) -> str:
    if isinstance(value, float):
        return "nan" if math.isnan(value) else f"{value:.12g}"
    return "" if value is None else str(value)
