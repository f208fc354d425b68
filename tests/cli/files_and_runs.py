"""What the fixtures of these tests hand out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

SIZE, FACTOR = (24, 32), 8


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str


Run = Callable[..., Outcome]


@dataclass(frozen=True)
class Pair:
    """A room with a near object on the left half: 8-bit colours, and depth in 16-bit millimetres."""

    guide: Path
    source: Path
    folder: Path

    def files(self) -> list[str]:
        return sorted(path.name for path in self.folder.iterdir())
