"""A folder of pairs, a configuration, and one run to its end, shared by the tests of this folder."""

from __future__ import annotations

import pytest
from tiny_runs import run, write_pairs, written

from graphsr.training.config import read_config


@pytest.fixture(scope="session")
def pairs(tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp("pairs") / "of-scenes", list(range(12)))


@pytest.fixture(scope="session")
def config(pairs, tmp_path_factory):
    return read_config(str(written(tmp_path_factory.mktemp("config") / "tiny.toml", pairs)))


@pytest.fixture(scope="session")
def unbroken(config, tmp_path_factory):
    folder = tmp_path_factory.mktemp("unbroken")
    return run(config, folder), folder
