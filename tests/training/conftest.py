"""A folder of pairs, a configuration, and one run to its end, shared by the tests of this folder.

All on one thread: with another number of them a sum is rounded otherwise, and runs are compared bit by bit.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from graphsr.threads import on_threads
from graphsr.training.config import read_config
from tests.training.tiny_runs import run, write_pairs, written


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with on_threads(1):
        yield


@pytest.fixture(scope="session")
def pairs(tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp("pairs") / "of-scenes", list(range(12)))


@pytest.fixture(scope="session")
def config(pairs, tmp_path_factory):
    return read_config(str(written(tmp_path_factory.mktemp("config") / "tiny.toml", pairs)))


@pytest.fixture(scope="session")
def unbroken(config, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unbroken")
    with on_threads(1):
        return run(config, folder), folder
