"""The figures of graphsr benchmark raster."""

from __future__ import annotations

import pytest

from graphsr.experiments.benchmarks.raster import border, measure_run


@pytest.mark.parametrize("graph", ["scene", "wires", "noise"])
def test_a_border_has_no_effect_beyond_the_halo(graph):
    row = border(graph, 4, 9e-4, side=256)
    assert 0 < row.reach[0] <= row.reach[1] <= row.halo


@pytest.mark.slow
def test_a_run_is_compared_with_its_tiles_alone(tmp_path):
    said: list[str] = []
    row = measure_run(tmp_path, 768, (), said.append)  # a cut that the halo of 206 does not bridge
    assert row.tiles == 1
    assert min(row.alone_seconds, row.seconds, row.cpu_seconds) > 0
    assert 0 < row.seams < 1e-3
    assert said
    assert not list(tmp_path.glob("*.parts"))
