"""Merged scenes: at every pixel the nearer of two is seen, in the map and in the guide alike."""

from __future__ import annotations

import numpy as np

from graphsr.data.augmentation import Augmentation, draw_patch
from graphsr.data.merging import merge
from graphsr.data.pair import Pair

SIZE = (40, 60)


def scene(name: str, depth: np.ndarray, colour: int, unit: str = "m") -> Pair:
    return Pair(name, np.full((*SIZE, 3), colour, np.uint8), depth.astype(np.float32), unit)


def wall(unit: str = "m") -> Pair:
    return scene("wall", np.full(SIZE, 2.0), 40, unit)


def ramp(unit: str = "m") -> Pair:
    return scene("ramp", np.tile(np.linspace(0.5, 8, SIZE[1]), (SIZE[0], 1)), 200, unit)


def test_the_nearer_one_is_seen_with_its_own_colour() -> None:
    crossed = 0
    for seed in range(12):
        merged = merge(wall(), ramp(), np.random.default_rng(seed))
        assert (merged.name, merged.unit) == ("wall", "m")
        assert (merged.target <= 2.0).all()
        behind = merged.target[0] == 2.0  # here the ramp is further than the wall
        outline = np.flatnonzero(np.diff(behind.astype(int)))
        assert len(outline) <= 1
        crossed += len(outline)
        sharp = np.ones(SIZE[1], bool)
        for column in outline:
            sharp[max(column - 3, 0) : column + 5] = False  # a camera blurs it
        assert (merged.guide[:, sharp & behind] == 40).all()
        assert (merged.guide[:, sharp & ~behind] == 200).all()
    assert crossed > 6


def test_of_disparities_the_larger_one_is_seen() -> None:
    merged = merge(wall("px"), ramp("px"), np.random.default_rng(1))
    assert merged.unit == "px"
    assert merged.target.min() == 2.0
    assert merged.target.max() > 2.0


def test_of_a_depth_and_a_disparity_the_nearer_one_is_seen() -> None:
    merged = merge(wall("m"), ramp("px"), np.random.default_rng(1))
    assert merged.unit == "m"
    assert (merged.target[:, -1] < 2.0).all()  # the largest disparity
    assert (merged.target[:, 0] == 2.0).all()
    assert (np.diff(merged.target, axis=1) <= 0).all()


def test_disparities_of_any_sign_merge() -> None:
    about_zero = scene("light field", ramp().target - 2.0, 90, "px")
    for seed in range(6):
        for pairs in ((about_zero, wall("m")), (wall("m"), about_zero), (about_zero, ramp("px"))):
            target = merge(*pairs, np.random.default_rng(seed)).target
            assert np.isfinite(target).all()
            assert len(np.unique(target)) > 2


def test_what_is_unknown_in_either_is_unknown() -> None:
    hole = wall().target.copy()
    hole[3:6, 4:9] = np.nan
    other = ramp().target.copy()
    other[20:22, 30:33] = np.nan
    merged = merge(scene("wall", hole, 40), scene("ramp", other, 200), np.random.default_rng(0))
    np.testing.assert_array_equal(np.isnan(merged.target), np.isnan(hole) | np.isnan(other))


def test_the_other_scene_is_brought_to_where_the_first_is() -> None:
    # Two metres and kilometres: values stay within a few spreads of the first, however far away the other is.
    kilometres = scene("far", 1000.0 * ramp().target, 200)
    changed = 0
    for seed in range(12):
        merged = merge(ramp(), kilometres, np.random.default_rng(seed))
        assert (merged.target <= ramp().target).all()
        changed += int((merged.target != ramp().target).any())
        assert merged.target.min() > -20.0
    assert changed > 6


def test_a_patch_is_merged_with_the_pair_that_is_given() -> None:
    patch = draw_patch(wall(), (20, 30), Augmentation(), np.random.default_rng(2), ramp())
    assert patch.size == (20, 30)
    assert len(np.unique(patch.target)) > 2  # the wall alone has one value
    alone = draw_patch(wall(), (20, 30), Augmentation(), np.random.default_rng(2))
    assert (alone.target == 2.0).all()
