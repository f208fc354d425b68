"""A shift is refined where a learned graph explains the source with the least energy, and left alone otherwise."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

import graphsr
from graphsr.measurements import alignment
from graphsr.measurements.alignment import find_alignment
from graphsr.measurements.alignment_energy import _PATTERN, Refined, _Parabola, refined_shift
from graphsr.measurements.edge_points import GROUPS
from graphsr.measurements.placement import Placements
from graphsr.sampling import Sampling
from tests.measurements.shifted_pairs import placed_pair

SHIFT = (1.7, -2.2)


@pytest.fixture(scope="module")
def model() -> graphsr.Model:
    return graphsr.load("default").eval()


@pytest.fixture(scope="module")
def pair():
    return placed_pair(SHIFT, seed=8, factor=8, source_size=(32, 40))


def placed(origin: tuple[float, float], source: np.ndarray) -> Sampling:
    """Return where a source at x8 lies whose first pixel begins at an origin (x, y)."""
    size = source.shape[0] * 8, source.shape[1] * 8
    return Sampling(size, (source.shape[0], source.shape[1]), origin=origin[::-1], step=(8.0, 8.0))


@pytest.mark.parametrize("off", [(0.0, 0.0), (1.0, -0.6), (-0.8, 1.0)])
def test_a_placement_that_is_nearly_right_becomes_right(model: graphsr.Model, pair, off: tuple[float, float]) -> None:
    begin = SHIFT[0] + off[0], SHIFT[1] + off[1]
    with torch.no_grad():
        found = refined_shift(model, pair.guide, pair.source[None], placed(begin, pair.source))
    assert found is not None
    left = np.array(off) + found.change[::-1]
    assert np.hypot(*left) < 0.25
    assert found.error < 0.5


def test_units_offset_and_channels_do_not_matter(model: graphsr.Model, pair) -> None:
    at = placed((SHIFT[0] + 0.5, SHIFT[1]), pair.source)
    with torch.no_grad():
        first, other = (
            refined_shift(model, pair.guide, source, at)
            for source in (pair.source[None], np.stack([1e6 + 300 * pair.source, 2 - pair.source]))
        )
    assert first is not None
    assert other is not None
    np.testing.assert_allclose(other.change, first.change, atol=0.02)


def test_a_flat_source_tells_no_shift(model: graphsr.Model, pair) -> None:
    with torch.no_grad():
        assert refined_shift(model, pair.guide, np.full((1, 32, 40), 2.0), placed(SHIFT, pair.source)) is None


def test_upsampling_with_a_learned_model_refines_what_it_finds(model: graphsr.Model) -> None:
    # A pair on which the likelihood is not sure: its standard error is 0.15 pixels.
    pair = placed_pair(SHIFT, seed=12, factor=8, source_size=(32, 40))
    coarse = find_alignment(pair.guide, pair.source[None], "shift").matrix
    result = graphsr.upsample(pair.guide, pair.source, model=model, align="shift")
    colour = graphsr.upsample(pair.guide, pair.source, model="colour", align="shift")
    assert coarse is not None
    assert result.alignment is not None
    np.testing.assert_array_equal(colour.alignment, coarse)  # whose graph knows of colours alone
    assert np.hypot(*(result.alignment[:, 2] - SHIFT)) < min(0.25, np.hypot(*(coarse[:, 2] - SHIFT)))


def test_small_factors_are_left_to_the_edges(model: graphsr.Model) -> None:
    pair = placed_pair((1.0, 0.5))
    plain = find_alignment(pair.guide, pair.source[None], "shift")
    with torch.no_grad():
        same = find_alignment(pair.guide, pair.source[None], "shift", model)
    np.testing.assert_array_equal(same.matrix, plain.matrix)


def test_a_change_is_rotated_to_the_axes_of_the_guide(monkeypatch: pytest.MonkeyPatch, model: graphsr.Model) -> None:
    """In the frame of a source that is rotated by a quarter, down is left."""
    size = np.array([80.0, 80.0])
    nominal = np.column_stack([np.diag([8.0, 8.0]), np.zeros(2)])
    placements = Placements(nominal, size)
    quarter = np.array([0.0, 0.0, 0.0, math.pi / 2 * placements.half])
    change = Refined(np.array([1.0, 0.0]), 0.1)
    monkeypatch.setattr(alignment, "refined_shift", lambda *_: change)
    best, error = alignment._refined(model, np.zeros((80, 80, 3)), np.zeros((1, 10, 10)), placements, quarter, 9.0)
    np.testing.assert_allclose(best - quarter, [-1, 0, 0, 0], atol=1e-9)
    assert error == 0.1


def test_what_energies_do_not_tell_stays_as_it_was(monkeypatch: pytest.MonkeyPatch, model: graphsr.Model) -> None:
    nominal = np.column_stack([np.diag([8.0, 8.0]), np.zeros(2)])
    placements, given = Placements(nominal, np.array([80.0, 80.0])), np.array([1.0, 2.0, 0.0, 0.0])
    monkeypatch.setattr(alignment, "refined_shift", lambda *_: None)
    best, error = alignment._refined(model, np.zeros((80, 80, 3)), np.zeros((1, 10, 10)), placements, given, 0.05)
    assert best is given
    assert error == 0.05


def test_the_parabola_has_the_minimum_of_the_energies() -> None:
    rng = np.random.default_rng(1)
    minimum, hessian = np.array([0.3, -0.2]), np.array([[2.0, 0.5], [0.5, 1.0]])
    parts = rng.dirichlet(np.ones(GROUPS))
    moves = _PATTERN - minimum
    energies = 3 + 0.5 * np.einsum("ni,ij,nj->n", moves, hessian, moves)[:, None] * parts
    parabola = _Parabola.of(energies)
    np.testing.assert_allclose(parabola.hessian, hessian, atol=1e-12)
    np.testing.assert_allclose(parabola.minimum(), minimum, atol=1e-12)
    assert parabola.error() > 0


def test_energies_that_fall_in_a_direction_have_no_minimum() -> None:
    energies = np.repeat((_PATTERN[:, :1] ** 2 - _PATTERN[:, 1:]), GROUPS, 1)
    assert _Parabola.of(energies).minimum() is None
