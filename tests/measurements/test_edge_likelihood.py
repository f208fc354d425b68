"""What the network tells of the edges of a source: the likeliest placement is the true one."""

from __future__ import annotations

import numpy as np
import pytest

from graphsr.measurements.edge_likelihood import EdgeLikelihood, edge_network
from graphsr.measurements.edge_network import BINS, at_offsets
from graphsr.measurements.edge_patches import standardised
from graphsr.measurements.edge_points import GROUPS, edge_points
from tests.measurements.discs import NOMINAL, SIZE, a_disc, source_of


def of_a_disc(x: float, y: float, matrix: np.ndarray = NOMINAL) -> EdgeLikelihood:
    """Return the likelihood for a disc that lies x, y further on in the guide than in the source."""
    guide = 200 * a_disc(30.0, 62.0 + x, 47.0 + y)[..., None] + np.random.default_rng(0).normal(0, 3, (*SIZE, 3))
    return EdgeLikelihood(standardised(guide), edge_points(source_of(a_disc(30.0, 62.0, 47.0))[None]), matrix)


@pytest.mark.parametrize("shift", [(0.0, 0.0), (1.5, -0.75), (-4.0, 3.0)])
def test_the_likeliest_shift_is_the_true_one(shift: tuple[float, float]) -> None:
    steps = np.arange(-6, 6.1, 0.25)
    shifts = np.stack(np.meshgrid(steps, steps), -1).reshape(-1, 2)
    best = shifts[of_a_disc(*shift).at_shifts(shifts).sum(0).argmax()]
    np.testing.assert_allclose(best, shift, atol=0.3)


def test_a_placement_is_as_likely_as_its_shift() -> None:
    likelihood, shift = of_a_disc(1.0, 0.5), np.array([0.8, -0.3])
    matrix = NOMINAL + np.column_stack([np.zeros((2, 2)), shift])
    assert likelihood.by_group(matrix).shape == (GROUPS,)
    np.testing.assert_allclose(likelihood.by_group(matrix), likelihood.at_shifts(shift[None])[:, 0], rtol=1e-6)


def test_edges_outside_the_guide_tell_nothing() -> None:
    far = NOMINAL + np.array([[0, 0, 1000.0], [0, 0, 1000.0]])
    found = of_a_disc(0.0, 0.0, far).at_shifts(np.array([[0.0, 0.0], [3.0, -2.0]]))
    np.testing.assert_allclose(found[:, 0], found[:, 1], rtol=1e-5)


def test_each_edge_tells_a_distribution() -> None:
    table = of_a_disc(0.0, 0.0).table
    assert table.shape[1] == BINS
    np.testing.assert_allclose(table.exp().sum(1).numpy(), 1, atol=1e-4)


def test_between_two_bins_the_logarithm_is_linear() -> None:
    table = of_a_disc(0.0, 0.0).table[:1]
    low, middle, high = (float(at_offsets(table, table.new_tensor([[offset]]))) for offset in (0.25, 0.4, 0.75))
    assert middle == pytest.approx(low + 0.3 * (high - low), abs=1e-4)


def test_the_network_is_small() -> None:
    assert sum(tensor.numel() for tensor in edge_network().parameters()) < 60_000
