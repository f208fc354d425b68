"""Memory is what a computation takes beyond program, inputs and weights."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from graphsr.experiments.benchmarks.memory import method_megabytes, solver_bytes_per_pixel
from graphsr.experiments.benchmarks.solver_problems import make_problem, synthetic_pair
from graphsr.models.registry import load

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sys.platform != "linux", reason="only Linux says")]


def test_the_peak_is_at_least_the_target_and_of_its_order():
    rng = np.random.default_rng(0)
    guide, source = rng.integers(0, 256, (1024, 1024, 3), np.uint8), rng.random((128, 128), np.float32)
    found = method_megabytes(load("bicubic"), guide, source)
    assert found is not None
    assert 4 <= found < 150  # one target is 4 MB, a guide in single precision 12


def test_many_channels_take_little_beside_their_arrays():
    rng = np.random.default_rng(0)
    guide, source = rng.integers(0, 256, (384, 384, 3), np.uint8), rng.random((24, 24, 192), np.float32)
    model = load("colour")
    model.rtol = 0.1  # memory does not depend on the iterations
    few, many = (method_megabytes(model, guide, source[..., :count]) for count in (64, 192))
    assert few is not None
    assert many is not None
    # Source interpolated, target, and the array returned are 12 bytes; measured 17.1.
    planned = (model.bytes_per_pixel(192) - model.bytes_per_pixel(64)) / 128
    assert (many - few) * 1e6 / (128 * 384 * 384) <= planned <= 20


def test_of_a_solve_is_of_the_order_of_its_goal():
    found = solver_bytes_per_pixel(make_problem(synthetic_pair(3, (512, 512)), 8.0, mu=0.3, weight=3e-4))
    assert found is not None
    assert 8 <= found < 200  # the goal is 80; small images have larger shares
