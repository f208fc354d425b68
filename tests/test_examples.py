"""The examples in the docstrings of public names run as printed."""

from __future__ import annotations

import doctest
from importlib import import_module

import pytest

MODULES = (
    "graph",
    "sampling",
    "scaling",
    "upsampling",
    "solver.solve",
    "models.registry",
    "models.graphsr",
    "features",
    "features.channels",
    "data",
    "raster",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    failed, _ = doctest.testmod(import_module(f"graphsr.{name}"), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not failed
