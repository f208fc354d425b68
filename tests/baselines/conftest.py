"""Small images take milliseconds on one thread, also when other programs want the cores."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest
import torch

from graphsr.baselines import METHODS
from graphsr.baselines.base import NetworkBaseline
from graphsr.baselines.dada import DADABaseline
from graphsr.threads import on_threads
from tests.baselines.networks_to_test import FIXED, Build, unsettle


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    torch.manual_seed(0)
    with on_threads(1):
        yield


@pytest.fixture(scope="module")
def built() -> Build:
    """name -> the baseline in evaluation mode, with uneven batch statistics and, for DADA, few steps."""

    @cache
    def build(name: str) -> NetworkBaseline:
        torch.manual_seed(0)
        method = METHODS[name].build(FIXED.get(name)).eval()
        assert isinstance(method, NetworkBaseline)
        if isinstance(method, DADABaseline):
            method.steps, method.tracked_steps = 5, 3
        unsettle(method)
        return method

    return build
