"""Merged scenes: at every pixel the nearer of two is seen, in the map and in the guide alike."""

from __future__ import annotations

import numpy as np
import pytest

from graphsr.data.augmentation import Augmentation, draw_patch
from graphsr.data.merging import merge
from graphsr.data.pair import Pair

SIZE = (40, 60)


def scene(name: str, depth: np.ndarray, colour: int, unit: str = "m") -> Pair:
    return Pair(name, np.full((*SIZE, 3), colour, np.uint8), depth.astype(np.float32), unit)


def wall(unit: str = "m") -> Pair:
    return scene("wall", np.full(SIZE, 2.0), 40, unit)


def ramp(unit: str = "m") -> Pair:
    """Values of 0.5 to 8, whose median is 2: in the middle it crosses the wall, however far it is moved."""
    return scene("ramp", np.tile(np.geomspace(0.5, 8, SIZE[1]), (SIZE[0], 1)), 200, unit)


@pytest.mark.parametrize("seed", range(6))
def test_the_nearer_one_is_seen_with_its_own_colour(seed: int) -> None:
    merged = merge(wall(), ramp(), np.random.default_rng(seed))
    assert (merged.name, merged.unit) == ("wall", "m")
    behind = merged.target == 2.0  # the ramp is further than the wall
    assert 5 < behind[0].sum() < 55
    assert (merged.target[~behind] < 2.0).all()
    columns = np.flatnonzero(np.diff(behind[0].astype(int)))
    assert len(columns) == 1
    outline = slice(max(columns[0] - 3, 0), columns[0] + 5)
    guide = np.delete(merged.guide, outline, axis=1)
    assert (guide[np.delete(behind, outline, axis=1)] == 40).all()
    assert (guide[~np.delete(behind, outline, axis=1)] == 200).all()


def test_of_disparities_the_larger_one_is_seen() -> None:
    merged = merge(wall("px"), ramp("px"), np.random.default_rng(1))
    assert merged.unit == "px"
    assert merged.target.min() == 2.0
    assert merged.target.max() > 2.0


def test_a_disparity_before_a_depth_becomes_a_depth() -> None:
    near, far = ramp("px").target, np.float32(2.0)
    merged = merge(wall("m"), ramp("px"), np.random.default_rng(1))
    seen = merged.target < far
    assert seen[:, -1].all()  # the largest disparity
    ratio = (merged.target * near)[seen]  # one over the disparity, scaled
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-5)


def test_what_is_unknown_in_either_is_unknown() -> None:
    hole = wall().target.copy()
    hole[3:6, 4:9] = np.nan
    other = ramp().target.copy()
    other[20:22, 30:33] = np.nan
    merged = merge(scene("wall", hole, 40), scene("ramp", other, 200), np.random.default_rng(0))
    np.testing.assert_array_equal(np.isnan(merged.target), np.isnan(hole) | np.isnan(other))


def test_the_distance_is_drawn_around_that_of_the_first() -> None:
    # One metre and one kilometre: the other scene is brought to where the first is, up to twice as near or far.
    for seed in range(8):
        far = scene("far", np.full(SIZE, 1000.0), 200)
        merged = merge(wall(), far, np.random.default_rng(seed))
        assert 1.0 <= merged.target.min() <= 2.0


def test_a_patch_is_merged_with_the_pair_that_is_given() -> None:
    patch = draw_patch(wall(), (20, 30), Augmentation(), np.random.default_rng(2), ramp())
    assert patch.size == (20, 30)
    assert len(np.unique(patch.target)) > 2  # the wall alone has one value
    alone = draw_patch(wall(), (20, 30), Augmentation(), np.random.default_rng(2))
    assert (alone.target == 2.0).all()
