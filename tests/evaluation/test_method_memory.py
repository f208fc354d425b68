"""Memory of a method is what it takes beyond program, images and weights."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from graphsr.experiments.benchmarks.method_memory import peak_megabytes
from graphsr.models.base import load


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells")
def test_the_peak_is_at_least_the_target_and_of_its_order():
    rng = np.random.default_rng(0)
    guide, source = rng.integers(0, 256, (1024, 1024, 3), np.uint8), rng.random((128, 128), np.float32)
    found = peak_megabytes(load("bicubic"), guide, source)
    assert found is not None
    assert 4 <= found < 150  # one target is 4 MB, a guide in single precision 12
