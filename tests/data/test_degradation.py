"""Imperfect sources: only the damage that was asked for, in the strength that was asked for."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from graphsr.data.degradation import Degradation, RandomDegradation, degrade
from graphsr.data.footprints import average, downsample
from graphsr.errors import InputError

SIZE, SOURCE_SIZE = (32, 48), (8, 12)
EVERYTHING = Degradation("bicubic", 2.0, 0.01, 0.5, 0.05, True, 0.05, 0.02, 0.3, 0.1)
NUMBERS = [one.name for one in fields(Degradation) if one.name not in ("footprint", "noise_grows")]
TRAINING = RandomDegradation(0.5, 0.3, 0.05, 0.05, 0.5, 4.0, 0.01, 0.5, 0.03, 0.3, 0.1)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def target_with_holes() -> np.ndarray:
    target = rng(5).uniform(1, 4, SIZE).astype(np.float32)
    target[rng(6).random(SIZE) < 0.3] = np.nan
    target[4:8, 8:12] = np.nan  # a source pixel of which nothing is known
    return target


def edge(times: int = 1) -> np.ndarray:
    """Return two walls, 1 and 3 away; the edge lies between two source pixels."""
    target = np.ones((times * SIZE[0], SIZE[1]), np.float32)
    target[:, 24:] = 3
    return target


def ramp(size: tuple[int, int] = SIZE) -> np.ndarray:
    return np.tile(np.arange(size[1], dtype=np.float32), (size[0], 1))


class TestEveryDegradation:
    def test_the_default_does_nothing_but_average(self) -> None:
        target = target_with_holes()
        np.testing.assert_array_equal(degrade(target, SOURCE_SIZE, Degradation(), rng()), average(target, SOURCE_SIZE))

    @pytest.mark.parametrize("name", NUMBERS)
    def test_same_seed_same_source(self, name: str) -> None:
        how = replace(Degradation(), **{name: getattr(EVERYTHING, name)})
        first, again, other = (degrade(target_with_holes(), SOURCE_SIZE, how, rng(seed)) for seed in (1, 1, 2))
        np.testing.assert_array_equal(first, again)
        assert first.dtype == np.float32
        assert not np.array_equal(first, other, equal_nan=True)

    def test_the_target_is_not_changed(self) -> None:
        target = target_with_holes()
        before = target.copy()
        degrade(target, SOURCE_SIZE, EVERYTHING, rng())
        np.testing.assert_array_equal(target, before)

    def test_units_do_not_matter(self) -> None:
        target = np.nan_to_num(target_with_holes(), nan=2.0)
        metres, millimetres = (degrade(values, SOURCE_SIZE, EVERYTHING, rng(3)) for values in (target, 1000 * target))
        np.testing.assert_allclose(millimetres, 1000 * metres, rtol=1e-4)

    @pytest.mark.parametrize("how", [EVERYTHING, Degradation(missing=1.0)])
    def test_a_source_is_never_missing_as_a_whole(self, how: Degradation) -> None:
        one = np.full((4, 4), 2.0, np.float32)
        assert all(np.isfinite(degrade(one, (1, 1), how, rng(seed))).all() for seed in range(40))

    @pytest.mark.filterwarnings("error")
    def test_a_map_of_which_nothing_is_known_stays_so(self) -> None:
        assert np.isnan(degrade(np.full(SIZE, np.nan, np.float32), SOURCE_SIZE, EVERYTHING, rng())).all()


class TestNoise:
    def test_is_as_strong_as_asked(self) -> None:
        target, size = edge(32), (256, 12)
        error = degrade(target, size, Degradation(noise=0.03), rng()) - average(target, size)
        # 0.03 of a range of 2, from 3072 pixels: known to 1.3 %.
        assert error.std() == pytest.approx(0.06, rel=0.05)
        assert error[:, :6].std() == pytest.approx(error[:, 6:].std(), rel=0.1)

    def test_may_grow_with_the_square_of_the_value(self) -> None:
        target, size = edge(32), (256, 12)
        error = degrade(target, size, Degradation(noise=0.03, noise_grows=True), rng()) - average(target, size)
        assert error[:, 6:].std() == pytest.approx(0.06, rel=0.07)
        assert error[:, 6:].std() / error[:, :6].std() == pytest.approx(9, rel=0.1)

    def test_makes_no_holes_and_fills_none(self) -> None:
        target = target_with_holes()
        for how in (Degradation(noise=0.3), Degradation(outliers=1.0), Degradation(flying=1.0)):
            noisy = degrade(target, SOURCE_SIZE, how, rng())
            np.testing.assert_array_equal(np.isnan(noisy), np.isnan(average(target, SOURCE_SIZE)))


class TestWrongPixels:
    def test_outliers_are_so_many_and_the_others_stay(self) -> None:
        target = ramp((128, 128))
        clean = average(target, (64, 64))
        source = degrade(target, (64, 64), Degradation(outliers=0.05), rng())
        wrong = source != clean
        # 4096 pixels: 205 wrong ones, with a standard deviation of 14.
        assert wrong.sum() == pytest.approx(205, abs=42)
        assert source.min() > clean.min() - 0.21 * np.ptp(clean)
        assert source.max() < clean.max() + 0.21 * np.ptp(clean)
        assert source.min() < clean.min()

    def test_flying_pixels_lie_between_front_and_back_of_an_edge(self) -> None:
        source = degrade(edge(), SOURCE_SIZE, Degradation(flying=1.0), rng())
        at_edge = source[:, 5:7]
        assert ((at_edge > 1) & (at_edge < 3)).all()
        np.testing.assert_array_equal(np.delete(source, [5, 6], 1), np.delete(average(edge(), SOURCE_SIZE), [5, 6], 1))

    def test_quantisation_leaves_whole_steps(self) -> None:
        source = degrade(ramp(), SOURCE_SIZE, Degradation(quantisation=0.1), rng())
        step = 0.1 * np.ptp(average(ramp(), SOURCE_SIZE))
        steps = (source - source.min()) / step
        np.testing.assert_allclose(steps, steps.round(), atol=1e-5)
        assert np.abs(source - average(ramp(), SOURCE_SIZE)).max() <= step / 2 + 1e-5


class TestMissing:
    def test_at_edges_touches_an_edge(self) -> None:
        sources = [degrade(edge(), SOURCE_SIZE, Degradation(missing_at_edges=0.5), rng(seed)) for seed in range(100)]
        missing = sum(np.isnan(source).astype(int) for source in sources)
        assert missing[:, [5, 6]].mean() == pytest.approx(50, abs=10)
        assert np.delete(missing, [5, 6], axis=1).max() == 0

    def test_anywhere_is_as_much_as_asked(self) -> None:
        source = degrade(np.ones((128, 128), np.float32), (64, 64), Degradation(missing=0.4), rng())
        assert np.isnan(source).mean() == pytest.approx(0.4, abs=0.03)

    def test_what_is_left_is_unchanged(self) -> None:
        holed = degrade(edge(), SOURCE_SIZE, Degradation(missing_at_edges=0.5, missing=0.5), rng(4))
        left = np.isfinite(holed)
        np.testing.assert_array_equal(holed[left], average(edge(), SOURCE_SIZE)[left])


class TestMisalignment:
    def test_a_shift_is_as_long_as_asked_in_any_direction(self) -> None:
        across, down = ramp((48, 48)), ramp((48, 48)).T
        for seed in range(20):
            moved = [
                (degrade(values, SOURCE_SIZE, Degradation(shift=3.0), rng(seed)) - average(values, SOURCE_SIZE))[4, 6]
                for values in (across, down)
            ]
            assert np.hypot(*moved) == pytest.approx(3.0, abs=1e-4)

    def test_a_warp_leaves_the_middle_and_moves_the_border(self) -> None:
        size, target = (24, 24), ramp((48, 48))
        for seed in range(8):
            moved = degrade(target, size, Degradation(warp=0.05), rng(seed)) - average(target, size)
            assert abs(moved[11:13, 11:13].mean()) < 0.01
            # 5 % of 19 pixels off the middle, along the slope or across it.
            assert abs(moved[12, 21]) == pytest.approx(0.95, abs=0.1)
            assert abs(moved[21, 12]) == pytest.approx(0.95, abs=0.1)

    def test_a_shift_invents_no_values_and_keeps_holes(self) -> None:
        target = np.where(np.isfinite(target_with_holes()), 2.0, np.nan).astype(np.float32)
        source = degrade(target, SOURCE_SIZE, Degradation(shift=2.0), rng())
        np.testing.assert_allclose(source[np.isfinite(source)], 2.0, rtol=1e-6)


def test_the_footprint_is_that_which_was_asked_for() -> None:
    source = degrade(edge(), SOURCE_SIZE, Degradation(footprint="bicubic"), rng())
    np.testing.assert_array_equal(source, downsample(edge(), SOURCE_SIZE, "bicubic"))


class TestText:
    @pytest.mark.parametrize("text", ["", "noise=0.03", "footprint=gaussian:0.5,shift=2,noise_grows=true,missing=0.1"])
    def test_what_is_written_is_what_is_read(self, text: str) -> None:
        assert str(Degradation.parse(text)) == text

    def test_blanks_do_not_matter(self) -> None:
        assert Degradation.parse(" noise = 0.03, outliers=0.05 ") == Degradation(noise=0.03, outliers=0.05)

    @pytest.mark.parametrize(
        ("text", "says"),
        [
            ("noise", "say NAME=VALUE, separated by commas, not 'noise'"),
            ("nose=0.1", "unknown key 'nose'; did you mean noise"),
            ("noise=much", "noise must be float, not 'much'"),
            ("outliers=5", "outliers must be between 0 and 1, not 5"),
            ("shift=-2", "shift must be 0 or above, not -2"),
            ("noise=nan", "noise must be 0 or above"),
            ("footprint=round", "footprint 'round': unknown"),
        ],
    )
    def test_mistakes_are_named(self, text: str, says: str) -> None:
        with pytest.raises(InputError, match=says):
            Degradation.parse(text)


def strengths(name: str, factor: float) -> np.ndarray:
    """Draw the strength of one imperfection for 500 sources of which none is left clean."""
    return np.array([getattr(replace(TRAINING, clean=0.0).draw(rng(seed), factor), name) for seed in range(500)])


class TestDrawing:
    def test_the_default_draws_nothing(self) -> None:
        assert all(RandomDegradation().draw(rng(seed), 8.0) == Degradation() for seed in range(20))

    def test_so_many_stay_clean(self) -> None:
        clean = [TRAINING.draw(rng(seed), 8.0) == Degradation() for seed in range(400)]
        assert np.mean(clean) == pytest.approx(0.5, abs=0.08)

    @pytest.mark.parametrize("name", NUMBERS)
    def test_strengths_lie_below_the_largest_and_occur_as_often_as_asked(self, name: str) -> None:
        drawn = strengths(name, 8.0)
        most, mean = getattr(TRAINING, name), 0.25 if name == "noise" else 0.5  # weak noise is drawn more often
        assert 0.8 * most < drawn.max() <= most
        assert (drawn > 0).mean() == pytest.approx(0.3, abs=0.07)
        assert drawn[drawn > 0].mean() == pytest.approx(mean * most, rel=0.15)

    def test_a_source_lies_half_of_its_pixel_aside_at_most(self) -> None:
        assert 1.4 < strengths("shift", 3.0).max() <= 1.5

    def test_every_footprint_is_drawn(self) -> None:
        drawn = [replace(TRAINING, clean=0.0).draw(rng(seed), 8.0).footprint.partition(":")[0] for seed in range(300)]
        assert drawn.count("box") == pytest.approx(150, abs=35)
        assert drawn.count("bicubic") > drawn.count("gaussian") > 10
        assert drawn.count("point") > 10

    def test_a_stated_footprint_is_that_of_clean_sources_and_of_those_with_another_flaw(self) -> None:
        drawn = [replace(TRAINING, footprints=0.0).draw(rng(seed), 8.0, "bicubic").footprint for seed in range(50)]
        assert set(drawn) == {"bicubic"}

    def test_a_footprint_is_stated_as_often_as_asked(self) -> None:
        drawn = [replace(TRAINING, stated=0.3).draw_stated(rng(seed)) for seed in range(400)]
        assert drawn.count("bicubic") == pytest.approx(120, abs=35)
        assert set(drawn) == {"bicubic", "box"}
        assert RandomDegradation().draw_stated(rng(0)) == "box"

    def test_a_probability_above_1_is_refused(self) -> None:
        with pytest.raises(InputError, match="clean must be between 0 and 1, not 2"):
            RandomDegradation(clean=2.0)
