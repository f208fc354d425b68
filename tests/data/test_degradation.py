"""From a target to a source: means of what is known, and only the damage that was asked for."""

from __future__ import annotations

import numpy as np
import pytest

from graphsr.data.degradation import Degradation, Factors, average, degrade

SIZE, SOURCE_SIZE = (32, 48), (8, 12)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def target_with_holes() -> np.ndarray:
    target = rng(5).uniform(1, 4, SIZE).astype(np.float32)
    target[rng(6).random(SIZE) < 0.3] = np.nan
    target[4:8, 8:12] = np.nan  # a cell of which nothing is known
    return target


def edge() -> np.ndarray:
    """Two walls, 1 and 3 away; the edge lies between two source pixels."""
    target = np.ones(SIZE, np.float32)
    target[:, 24:] = 3
    return target


class TestAverage:
    def test_a_source_pixel_is_the_mean_of_the_known_pixels_of_its_block(self) -> None:
        target = target_with_holes()
        blocks = target.reshape(8, 4, 12, 4).transpose(0, 2, 1, 3).reshape(8, 12, 16)
        known = np.isfinite(blocks)
        sums = np.where(known, blocks, 0).astype(np.float64).sum(2)
        expected = np.where(known.any(2), sums / np.maximum(known.sum(2), 1), np.nan)
        source = average(target, SOURCE_SIZE)
        assert np.isnan(source[1, 2])
        np.testing.assert_allclose(source, expected, rtol=1e-6)

    def test_a_pixel_in_two_cells_counts_by_area(self) -> None:
        source = average(np.array([[1, 2, 4], [1, 2, 4]], np.float32), (1, 2))
        np.testing.assert_allclose(source, [[(1 + 0.5 * 2) / 1.5, (0.5 * 2 + 4) / 1.5]], rtol=1e-6)
        with_hole = average(np.array([[1, np.nan, 4]], np.float32), (1, 2))
        np.testing.assert_allclose(with_hole, [[1, 4]], rtol=1e-6)

    def test_the_target_is_not_changed(self) -> None:
        target = target_with_holes()
        before = target.copy()
        degrade(target, SOURCE_SIZE, Degradation(0.5, 0.5, 0.5, 2.0), rng())
        np.testing.assert_array_equal(target, before)


class TestDegrade:
    def test_the_default_does_nothing_but_average(self) -> None:
        target = target_with_holes()
        np.testing.assert_array_equal(degrade(target, SOURCE_SIZE, Degradation(), rng()), average(target, SOURCE_SIZE))

    @pytest.mark.parametrize("how", [Degradation(0.1, 0.3, 0.3, 3.0), Degradation(noise=0.2), Degradation(shift=4.0)])
    def test_same_seed_same_source(self, how: Degradation) -> None:
        first, again, other = (degrade(target_with_holes(), SOURCE_SIZE, how, rng(seed)) for seed in (1, 1, 2))
        np.testing.assert_array_equal(first, again)
        assert first.dtype == np.float32
        assert not np.array_equal(first, other, equal_nan=True)

    def test_noise_grows_with_the_square_of_the_depth_and_stays_below_what_was_asked(self) -> None:
        target, size = np.repeat(edge(), 4, 0), (32, 12)
        clean = average(target, size)
        errors = np.stack([degrade(target, size, Degradation(noise=0.1), rng(seed)) - clean for seed in range(200)])
        near, far = errors[:, :, :6].std(), errors[:, :, 6:].std()
        assert far / near == pytest.approx(9, rel=0.05)
        # The map deviates by 1 from its mean, and the strength is drawn evenly from 0 to 0.1: 0.1 / sqrt(3) = 0.058.
        assert far == pytest.approx(0.1 / np.sqrt(3), rel=0.15)
        assert max(error[:, 6:].std() for error in errors) < 0.12

    def test_noise_makes_no_holes_and_fills_none(self) -> None:
        target = target_with_holes()
        noisy = degrade(target, SOURCE_SIZE, Degradation(noise=0.3), rng())
        np.testing.assert_array_equal(np.isnan(noisy), np.isnan(average(target, SOURCE_SIZE)))

    def test_cells_missing_at_edges_touch_an_edge(self) -> None:
        missing = np.zeros(SOURCE_SIZE)
        for seed in range(100):
            missing += np.isnan(degrade(edge(), SOURCE_SIZE, Degradation(missing_at_edges=1.0), rng(seed)))
        assert missing[:, [5, 6]].min() > 0
        assert missing[:, [5, 6]].mean() == pytest.approx(50, abs=10)
        assert np.delete(missing, [5, 6], axis=1).max() == 0

    def test_the_part_that_is_missing_stays_below_what_was_asked(self) -> None:
        flat = np.ones((128, 128), np.float32)
        parts = [np.isnan(degrade(flat, (64, 64), Degradation(missing=0.4), rng(seed))).mean() for seed in range(60)]
        assert max(parts) < 0.43
        assert max(parts) > 0.3
        assert 0.2 < np.mean([part == 0 for part in parts]) < 0.8  # every other map is left whole

    def test_what_is_left_is_unchanged(self) -> None:
        clean = average(edge(), SOURCE_SIZE)
        holed = degrade(edge(), SOURCE_SIZE, Degradation(missing_at_edges=0.5, missing=0.5), rng(4))
        left = np.isfinite(holed)
        np.testing.assert_array_equal(holed[left], clean[left])

    def test_a_shift_moves_the_map_by_whole_pixels_up_to_what_was_asked(self) -> None:
        ramp = np.tile(np.arange(48, dtype=np.float32), (32, 1))
        moves = []
        for seed in range(60):
            moved = degrade(ramp, SOURCE_SIZE, Degradation(shift=3.0), rng(seed)) - average(ramp, SOURCE_SIZE)
            middle = moved[:, 2:-2]
            assert (middle == middle[0, 0]).all()
            moves.append(middle[0, 0])
        assert set(moves) == {-3, -2, -1, 0, 1, 2, 3}

    def test_a_source_is_never_missing_as_a_whole(self) -> None:
        one = np.full((4, 4), 2.0, np.float32)
        sources = [degrade(one, (1, 1), Degradation(missing=1.0), rng(seed)) for seed in range(40)]
        assert all(source[0, 0] == 2 for source in sources)


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
