"""The options of a solve: from the command line, or from a page and then checked in the same way."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from graphsr.errors import InputError
from graphsr.files.confidence import one_confidence
from graphsr.footprints import check_footprint
from graphsr.measurements.alignment import check_align
from graphsr.measurements.noise import Noise, parse_noise
from graphsr.settings import build
from graphsr.suggestion import suggestion

_MOST_DIGITS = 200  # characters of a value


@dataclass(frozen=True)
class SolveOptions:
    """How a pair is solved; see `graphsr.upsample`. `missing` is the value that marks a missing source pixel.

    `confidence` is one number for all source pixels; None: a file's, or full confidence.
    """

    model: str = "default"
    confidence: float | None = None
    noise: Noise | None = None
    robust: bool = False
    exact: bool = False
    footprint: str = "box"
    align: str | None = None
    missing: float | None = None
    kind: str = "values"
    uncertainty: bool = False

    def __post_init__(self) -> None:
        check_footprint(self.footprint)
        check_align(self.align)

    def as_page(self) -> dict[str, str | bool]:
        """Return what stands in the fields of the page."""
        return {
            "model": self.model,
            "confidence": _text(self.confidence),
            "noise": _text(self.noise),
            "robust": self.robust,
            "exact": self.exact,
            "footprint": self.footprint,
            "align": self.align or "",
            "missing": _text(self.missing),
            "uncertainty": self.uncertainty,
        }


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


def options_from_page(content: Any, *, models: Collection[str], kind: str) -> SolveOptions:
    """Return the options that a page sends.

    Args:
        content: The decoded JSON; nothing in it is trusted.
        models: The names that may be chosen. A page cannot name files.
        kind: What the source holds, as the command line said.

    Raises:
        InputError: A value is not valid; the message is that of the command line.
    """
    fields = build(_Fields, content, "options")
    for name, text in vars(fields).items():
        if isinstance(text, str) and len(text) > _MOST_DIGITS:
            raise InputError(f"--{name}: {len(text)} characters are too many")
    if fields.model not in models:
        raise InputError(f"model {fields.model!r}: no model of this name; {suggestion(fields.model, list(models))}")
    return SolveOptions(
        model=fields.model,
        confidence=one_confidence(fields.confidence.strip()) if fields.confidence.strip() else None,
        noise=parse_noise(fields.noise.strip() or None),
        robust=fields.robust,
        exact=fields.exact,
        footprint=fields.footprint.strip() or "box",
        align=fields.align or None,
        missing=_number("--missing", fields.missing.strip()),
        kind=kind,
        uncertainty=fields.uncertainty,
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
