"""What the user asks of an experiment."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from graphsr.errors import InputError


@dataclass(frozen=True)
class Options:
    """Hold what the user asks for; what is empty is the experiment's own choice.

    Attributes:
        out: Folder for results, and for trained weights.
        data: Folder that holds the data sets.
        budget: Training samples for each learned method, data set and factor; 0: nothing is trained.
        data_sets: Names of data sets.
        factors: Upsampling factors.
        methods: Names of methods.
        weights: Files of weights, as NAME:FILE or NAME-xFACTOR:FILE.
        pairs: Largest number of pairs of each data set.
        patch: Side of the training patches.
        sizes: Sides of the images that are timed.
        memory: Whether memory is measured where times are.
        workers: Processes that prepare training samples.
        progress: Called with a sentence on what is being done.
    """

    out: Path
    data: Path | None = None
    budget: int = 0
    data_sets: tuple[str, ...] = ()
    factors: tuple[int, ...] = ()
    methods: tuple[str, ...] = ()
    weights: tuple[str, ...] = ()
    pairs: int | None = None
    patch: int = 256
    sizes: tuple[int, ...] = ()
    memory: bool = True
    workers: int = 1
    progress: Callable[[str], None] = lambda _: None

    def __post_init__(self) -> None:
        if self.data is not None and not self.data.is_dir():
            raise InputError(f"{self.data}: no such folder; --data is the folder that holds the data sets")
        wrong = [factor for factor in self.factors if factor < 1]
        if wrong:
            raise InputError(f"--factors: must be whole numbers of at least 1, not {wrong[0]}")
        if self.patch % 32 or self.patch < 32:
            raise InputError(f"--patch: must be a multiple of 32, not {self.patch}")
