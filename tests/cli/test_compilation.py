"""The user is told, once, when kernels are compiled, and not when they come from the cache."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from graphsr.cli.compilation import MESSAGE

_MODULE = """
from numba import njit

@njit(cache=True)
def one(x):
    return x + 1

@njit(cache=True)
def two(x):
    return one(x) * 2
"""
_PROGRAM = """
from graphsr.cli.console import spinner
from graphsr.cli.verbosity import with_verbosity
import kernels

def command():
    with spinner("upsampling"):
        kernels.two(1)
        kernels.two(1.0)

with_verbosity(command)(verbose=False, quiet=False)
"""


@pytest.mark.slow
def test_one_line_when_the_cache_is_empty_and_none_later(tmp_path: Path) -> None:
    (tmp_path / "kernels.py").write_text(_MODULE)
    settings = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)}
    first, second = (
        subprocess.run([sys.executable, "-c", _PROGRAM], env=settings, capture_output=True, text=True, check=True)
        for _ in range(2)
    )
    assert first.stderr == f"note: {MESSAGE}\n"
    assert second.stderr == ""
