"""The figures of graphsr benchmark channels, footprints and holes."""

from __future__ import annotations

from graphsr.experiments.benchmarks.costs import of_channels, of_footprints, of_holes
from graphsr.models.registry import load


def test_channels_are_compared_with_the_first():
    (cost,) = of_channels(load("colour"), (12,), (56, 70), 14, repeats=1)
    assert cost.case == "12 channels"
    assert cost.iterations == 1 < cost.base_iterations
    assert cost.ratio == cost.seconds / cost.base_seconds > 0


def test_footprints_are_compared_with_the_box_of_the_same_factor():
    costs = list(of_footprints(load("colour"), ("point",), 64, (4, 8), repeats=1))
    assert [cost.case for cost in costs] == ["point, x4", "point, x8"]
    assert min(cost.seconds for cost in costs) > 0
    assert len({cost.base_seconds for cost in costs}) == 2


def test_a_hole_takes_longer():
    (cost,) = of_holes(load("colour"), (64,), (96, 128), 8, repeats=1)
    assert cost.iterations > 0
    assert cost.ratio > 0.5
