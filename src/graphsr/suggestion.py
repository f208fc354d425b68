"""A hint for names that were mistyped."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def suggestion(word: str, known: Iterable[str]) -> str:
    """Return the end of an error message about an unknown name.

    Args:
        word: What was typed.
        known: The names that would be right.

    Returns:
        "did you mean ...?" with the two nearest names, or "known are ..." with all of them if none is near.

    Example:
        >>> suggestion("color", ["bicubic", "colour"])
        'did you mean colour?'
        >>> suggestion("?", ["bicubic", "colour"])
        'known are bicubic, colour'
    """
    names = list(known)
    return did_you_mean(word, names) or f"known are {', '.join(names)}"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Return "did you mean ...?" with the two nearest of some names; "" if none is near.

    Example:
        >>> did_you_mean("color", ["bicubic", "colour"])
        'did you mean colour?'
    """
    near = get_close_matches(word, list(known), n=2)
    return f"did you mean {' or '.join(near)}?" if near else ""
