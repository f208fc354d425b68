"""What is asked of an experiment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from graphsr.errors import InputError

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Plan:
    """Empty choices are the experiment's own. `budget` is in training samples, for each learned method and training."""

    out: Path
    data: Path | None = None
    budget: int = 0  # 0: nothing is trained
    sets: tuple[str, ...] = ()
    factors: tuple[int, ...] = ()
    methods: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()  # NAME:FILE or NAME-xFACTOR:FILE
    pairs: int | None = None  # of each data set, at most
    patch: int = 256  # side of the training patches
    sizes: tuple[int, ...] = ()  # sides of the images that are timed
    memory: bool = True  # measure it where times are
    workers: int = 1  # processes that prepare training samples
    tell: Tell = lambda _: None

    def __post_init__(self) -> None:
        if self.data is not None and not self.data.is_dir():
            raise InputError(f"{self.data}: no such folder; --data is the folder that holds the data sets")
        wrong = [factor for factor in self.factors if factor < 1]
        if wrong:
            raise InputError(f"--factors: must be whole numbers of at least 1, not {wrong[0]}")
        if self.patch % 32 or self.patch < 32:
            raise InputError(f"--patch: must be a multiple of 32, not {self.patch}")
