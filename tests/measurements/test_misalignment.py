"""A shift that nobody asked to correct is told where the pair shows it, and only there."""

from __future__ import annotations

import numpy as np
import pytest

from graphsr.measurements import misalignment
from graphsr.measurements.misalignment import suspected_misalignment
from tests.measurements.shifted_pairs import placed_pair


@pytest.mark.parametrize("factor", [4, 8])
def test_a_clear_shift_is_told(factor: int) -> None:
    pair = placed_pair((3.0, -2.0), factor=factor, source_size=(48, 56))
    words = suspected_misalignment(pair.guide, pair.source[None])
    assert "to the right" in words
    assert " up " in words


@pytest.mark.parametrize("seed", [3, 7])
@pytest.mark.parametrize("shift", [(0.0, 0.0), (0.4, -0.3)])
def test_pairs_that_lie_edge_to_edge_within_half_a_pixel_get_no_word(seed: int, shift: tuple[float, float]) -> None:
    pair = placed_pair(shift, seed=seed, source_size=(48, 56))
    assert suspected_misalignment(pair.guide, pair.source[None]) == ""


def test_a_flat_source_tells_nothing() -> None:
    pair = placed_pair((3.0, -2.0))
    assert suspected_misalignment(pair.guide, np.full((1, 32, 40), 2.0)) == ""


def test_very_large_guides_are_not_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    pair = placed_pair((3.0, -2.0), source_size=(48, 56))
    monkeypatch.setattr(misalignment, "_MOST_PIXELS", pair.depth.size - 1)
    assert suspected_misalignment(pair.guide, pair.source[None]) == ""
