"""`graphsr.complete`: points in, a whole map out."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch
from scipy.interpolate import griddata

import graphsr
from graphsr import InputError
from graphsr.threads import on_threads

SIZE = (48, 64)


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with on_threads(1):
        yield


def a_scene():
    """A slanted floor before a wall, each in its colour with a little noise: guide (H, W, 3) and depth (H, W)."""
    y, x = np.indices(SIZE)
    floor = y > 20 + x // 4
    depth = np.where(floor, 4 - 0.05 * (y - 20), 6 + 0.01 * x)
    noise = np.random.default_rng(5).integers(-3, 4, (*SIZE, 3))
    return (np.where(floor[..., None], (90, 60, 40), (180, 190, 200)) + noise).astype(np.uint8), depth


def points_of(depth, count, seed=0):
    chosen = np.random.default_rng(seed).choice(depth.size, count, replace=False)
    rows, columns = np.unravel_index(chosen, depth.shape)
    return np.stack([columns + 0.5, rows + 0.5, depth[rows, columns]], 1)


def rms(values):
    return float(np.sqrt(np.mean(np.square(values))))


def linear(points):
    y, x = np.indices(SIZE) + 0.5
    inside = griddata(points[:, :2], points[:, 2], (x, y), "linear")
    return np.where(np.isnan(inside), griddata(points[:, :2], points[:, 2], (x, y), "nearest"), inside)


@pytest.mark.parametrize("model", ["default", "colour"])
def test_surfaces_follow_the_guide_and_not_the_triangles_between_points(model):
    guide, depth = a_scene()
    points = points_of(depth, 40)
    result = graphsr.complete(guide, points, model=model)
    assert result.target.shape == SIZE
    assert result.target.dtype == np.float32
    # Measured: 0.11 (default) and 0.13 (colour) of linear interpolation's.
    assert rms(result.target - depth) < 0.4 * rms(linear(points) - depth)


@pytest.mark.parametrize("model", ["default", "colour"])
def test_there_are_no_spots_around_points(model):
    guide, depth = a_scene()
    points = points_of(depth, 40)
    target = graphsr.complete(guide, points, model=model).target
    rows, columns = (points[:, 1].astype(int), points[:, 0].astype(int))
    inside = (rows > 0) & (rows < SIZE[0] - 1) & (columns > 0) & (columns < SIZE[1] - 1)
    rows, columns = rows[inside], columns[inside]
    around = (target[rows - 1, columns] + target[rows + 1, columns]) / 2 - target[rows, columns]
    assert np.median(np.abs(around)) < 0.02 * depth.std()


@pytest.mark.parametrize("count", [1, 3, 40, SIZE[0] * SIZE[1] // 2, SIZE[0] * SIZE[1]])
def test_any_number_of_points_from_one_to_all(count):
    guide, depth = a_scene()
    result = graphsr.complete(guide, points_of(depth, count), model="colour")
    assert np.isfinite(result.target).all()
    assert result.report.fidelity < 0.02 * depth.std()


def test_a_list_and_a_map_of_the_same_points_give_the_same():
    guide, depth = a_scene()
    points = points_of(depth, 40)
    whole = np.full(SIZE, np.nan)
    whole[points[:, 1].astype(int), points[:, 0].astype(int)] = points[:, 2]
    one, other = (graphsr.complete(guide, each, model="colour").target for each in (points, whole))
    np.testing.assert_array_equal(one, other)


def test_exact_meets_the_points():
    guide, depth = a_scene()
    points = points_of(depth, 40)
    target = graphsr.complete(guide, points, model="colour", exact=True).target
    np.testing.assert_allclose(target[points[:, 1].astype(int), points[:, 0].astype(int)], points[:, 2], rtol=1e-5)


def test_a_low_confidence_smooths_noise_of_the_points():
    guide, depth = a_scene()
    points = points_of(depth, 300)
    points[:, 2] += 0.3 * np.random.default_rng(2).standard_normal(len(points))
    kept = graphsr.complete(guide, points, model="colour").target
    smooth = graphsr.complete(guide, points, model="colour", confidence=1e-4).target
    assert rms(smooth - depth) < 0.8 * rms(kept - depth)


def test_a_stated_noise_smooths_the_points():
    guide, depth = a_scene()
    points = points_of(depth, 100)
    points[:, 2] += 0.6 * np.random.default_rng(2).standard_normal(len(points))
    kept = graphsr.complete(guide, points, model="colour")
    smooth = graphsr.complete(guide, points, model="colour", noise=0.6)
    assert smooth.report.noise == pytest.approx(0.6)
    # The planes that both begin with are smooth already.
    assert rms(smooth.target - depth) < 0.95 * rms(kept.target - depth)


def test_no_noise_changes_nothing():
    guide, depth = a_scene()
    points = points_of(depth, 40)
    one, other = (graphsr.complete(guide, points, model="colour", noise=noise).target for noise in (None, 0.0))
    np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("robust", [True, 1.0])
@pytest.mark.parametrize("count", [150, 1500])
def test_wrong_points_are_left_out(count, robust):
    guide, depth = a_scene()
    points = points_of(depth, count)
    wrong = points.copy()
    wrong[:: count // 7, 2] += 3.0
    result = graphsr.complete(guide, wrong, model="colour", robust=robust)
    plain, best = (graphsr.complete(guide, each, model="colour").target for each in (wrong, points))
    # Measured: 8 of the 8 wrong ones and at most 3 others.
    assert 8 <= result.report.switched_off <= 12
    assert rms(result.target - depth) < 0.3 * rms(plain - depth)
    assert rms(result.target - depth) < 1.5 * rms(best - depth)


def test_right_points_are_kept():
    guide, depth = a_scene()
    result = graphsr.complete(guide, points_of(depth, 150), model="colour", robust=True)
    assert result.report.switched_off == 0


def test_one_point_cannot_be_wrong():
    guide, _ = a_scene()
    result = graphsr.complete(guide, [(20.5, 20.5, 3.0)], model="colour", robust=True)
    assert result.report.switched_off == 0


def test_sparse_points_do_not_tell_their_noise_but_a_whole_map_does():
    guide, depth = a_scene()
    with pytest.raises(InputError, match="noise: sparse points do not tell noise from the detail between them"):
        graphsr.complete(guide, points_of(depth, 40), model="colour", noise="auto")
    noisy = depth + 0.05 * np.random.default_rng(0).standard_normal(SIZE)
    report = graphsr.complete(guide, noisy, model="colour", noise="auto").report
    assert report.noise == pytest.approx(0.05, rel=0.3)


@pytest.mark.parametrize("option", [{"noise": 0.1}, {"robust": True}])
def test_a_model_that_does_not_weigh_points_says_so(option):
    guide, depth = a_scene()
    with pytest.raises(InputError, match="Bicubic does not weigh source pixels"):
        graphsr.complete(guide, points_of(depth, 40), model="bicubic", **option)


def test_a_point_of_no_confidence_does_not_count():
    guide, depth = a_scene()
    points = points_of(depth, 40)
    wrong = np.vstack([points, [[30.5, 30.5, 1000.0]]])
    target = graphsr.complete(guide, wrong, model="colour", confidence=np.r_[np.ones(40), 0]).target
    np.testing.assert_array_equal(target, graphsr.complete(guide, points, model="colour").target)


def test_units_do_not_matter():
    guide, depth = a_scene()
    points = points_of(depth, 40)
    millimetres = points * (1, 1, 1000)
    one, other = (graphsr.complete(guide, each, model="colour").target for each in (points, millimetres))
    # Both are solved to 1e-4 standard deviations.
    assert rms(other / 1000 - one) < 5e-4 * depth.std()


def test_the_problem_solved_can_be_solved_again():
    guide, depth = a_scene()
    result = graphsr.complete(guide, points_of(depth, 40), model="colour")
    again = graphsr.solve(result.problem)
    torch.testing.assert_close(again[0, 0], torch.from_numpy(result.target))


def test_models_without_a_graph_give_a_map_too():
    guide, depth = a_scene()
    target = graphsr.complete(guide, points_of(depth, 40), model="bicubic").target
    assert rms(target - depth) < 0.5 * depth.std()


def test_what_is_wrong_is_said():
    guide, _ = a_scene()
    with pytest.raises(InputError, match="points: 1 of 1 lie outside the guide"):
        graphsr.complete(guide, [(65, 1, 1)], model="colour")
    with pytest.raises(InputError, match="guide: must be"):
        graphsr.complete(np.ones(5), [(1, 1, 1)], model="colour")
    with pytest.raises(InputError, match="colours"):
        graphsr.complete(guide, [(1, 1, 1)], model="colours")
