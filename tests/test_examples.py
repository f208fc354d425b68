"""The examples in the docstrings of public names run as printed, and those in examples/ do what they say."""

from __future__ import annotations

import doctest
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

MODULES = (
    "graph",
    "sampling",
    "scaling",
    "upsampling",
    "completion",
    "frames",
    "point_cloud",
    "files.ply",
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


def test_graphs_label_better_than_interpolation(tmp_path):
    script = Path(__file__).parents[1] / "examples" / "label_scores.py"
    options = ["--scenes", "2", "--size", "96", "128", "-o", str(tmp_path / "labels.png")]
    done = subprocess.run([sys.executable, script, *options], capture_output=True, text=True, check=True)
    found = {name: float(value) for name, value in re.findall(r"(\S+) +mean IoU ([\d.]+)", done.stdout)}
    assert list(found) == ["bilinear", "joint-bilateral", "colour", "default"]
    assert found["bilinear"] < min(found["colour"], found["default"])
    assert (tmp_path / "labels.png").stat().st_size > 1000
