"""The compilation of kernels, when they are first used; they are cached on disk."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from numba.core import event

from graphsr.cli.console import note

if TYPE_CHECKING:
    from graphsr.models.base import Model

# Without a time: it depends on what the call needs, and on what else the processor does.
MESSAGE = "compiling kernels for a solve of this kind (once; cached for later)"
_KIND = "numba:compile"  # not sent for kernels that are loaded from the cache


class _Announcement(event.Listener):
    """Prints the message at the first compilation."""

    made = False

    def on_start(self, _: Any) -> None:
        if not self.made:
            self.made = True
            note(MESSAGE)

    def on_end(self, _: Any) -> None:
        pass


@contextmanager
def announced_compilation() -> Iterator[None]:
    """Print one line if kernels are compiled inside a `with` block, as soon as the first one is."""
    with event.install_listener(_KIND, _Announcement()):
        yield


def compile_kernels(model: str | Model, *, exact: bool, footprint: str = "box", channels: int = 1) -> None:
    """Compile the kernels that a model needs for a source of so many channels, by upsampling a tiny pair."""
    from graphsr import upsample

    random = np.random.default_rng(0)
    # A factor that is not whole, and a hole wide enough for levels; then a whole one, which is solved by lines.
    source = random.random((14, 14, channels))
    source[2:, 2:] = np.nan
    upsample(random.random((64, 64, 3)), source, model=model, exact=exact, footprint=footprint)
    if footprint == "box":
        upsample(random.random((16, 16, 3)), random.random((4, 4, channels)), model=model, exact=exact)
