"""The factors that a training draws: between the ends, small and large ones alike."""

from __future__ import annotations

import numpy as np
import pytest

from graphsr.data.factors import Factors
from graphsr.errors import InputError


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


class TestFactors:
    def test_one_factor_is_that_factor(self) -> None:
        assert Factors().draw((256, 128), rng()) == (32, 16)
        assert Factors(4.0, 4.0).draw((256, 128), rng()) == (64, 32)

    @pytest.mark.parametrize("whole", [0.0, 0.7, 1.0])
    @pytest.mark.parametrize(("least", "most"), [(2.5, 32.0), (3.0, 12.0), (5.0, 7.0), (1.0, 16.0)])
    def test_factors_lie_between_the_ends(self, least: float, most: float, whole: float) -> None:
        size = 3360  # the ends divide it
        drawn = [size / Factors(least, most, whole).draw((size, size), rng(seed))[0] for seed in range(300)]
        assert min(drawn) >= least
        assert max(drawn) <= most
        assert len(set(drawn)) > 1

    def test_whole_factors_are_powers_of_two(self) -> None:
        drawn = {160 / Factors(2.5, 32.0, 1.0).draw((160, 160), rng(seed))[0] for seed in range(200)}
        assert drawn == {4, 8, 16, 32}

    def test_small_and_large_factors_are_drawn_alike(self) -> None:
        drawn = np.array([4096 / Factors(2.0, 32.0, 0.0).draw((4096, 4096), rng(seed))[0] for seed in range(400)])
        assert (drawn < 8).mean() == pytest.approx(0.5, abs=0.08)

    def test_same_seed_same_factor(self) -> None:
        factors = Factors(2.0, 32.0, 0.5)
        assert [factors.draw((640, 480), rng(7)) for _ in range(3)] == [factors.draw((640, 480), rng(7))] * 3

    def test_a_source_has_at_least_two_pixels_a_side(self) -> None:
        assert Factors(16.0, 32.0).draw((24, 24), rng()) == (2, 2)

    @pytest.mark.parametrize(("least", "most"), [(0.5, 4.0), (8.0, 4.0), (4.0, float("nan"))])
    def test_ends_that_make_no_sense_are_refused(self, least: float, most: float) -> None:
        with pytest.raises(InputError, match="factors must be at least 1"):
            Factors(least, most)
