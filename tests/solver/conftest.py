"""These solves are tiny: on one thread they take milliseconds, also when other programs want the cores."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphsr.threads import on_threads


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with on_threads(1):
        yield
