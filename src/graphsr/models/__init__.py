"""Models: what makes a problem, and with it a target, of a pair."""

from __future__ import annotations

import sys
from types import ModuleType


class _Models(ModuleType):
    """Let `graphsr.models()` list the names, although `graphsr.models` is this package."""

    def __call__(self) -> list[str]:
        from graphsr.models.registry import names

        return names()


sys.modules[__name__].__class__ = _Models
