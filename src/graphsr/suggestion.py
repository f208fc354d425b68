"""What to say to somebody who mistyped a name."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


def suggestion(name: str, known: Iterable[str]) -> str:
    """ "did you mean a or b?", or all there is if nothing is near."""
    names = list(known)
    near = get_close_matches(name, names, n=2)
    return f"did you mean {' or '.join(near)}?" if near else f"known are {', '.join(names)}"
