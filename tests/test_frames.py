"""`graphsr.upsample_frames`: what stands still is steady, what moves is not smeared, a solve begins at the last."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import torch

import graphsr
from graphsr import InputError, Sampling
from graphsr.measurements.stillness import still_pixels
from graphsr.threads import on_threads

SIZE, SOURCE_SIZE = (48, 64), (12, 16)
NOISE = 0.05


@pytest.fixture(autouse=True)
def one_thread() -> Iterator[None]:
    with on_threads(1):
        yield


def a_film(count, speed=2.0, noise=NOISE):
    """A box before a wall, in the upper half, that moves to the right: guides, sources (both with noise), depths."""
    rng = np.random.default_rng(3)
    texture = rng.integers(0, 20, (*SIZE, 3))
    y, x = np.indices(SIZE)
    for n in range(count):
        box = (y >= 6) & (y < 22) & (x >= 6 + speed * n) & (x < 26 + speed * n)
        depth = np.where(box, 1.0, 3 + 0.005 * x)
        guide = np.where(box[..., None], 190, 60) + texture + (noise > 0) * rng.integers(-2, 3, (*SIZE, 3))
        source = Sampling(SIZE, SOURCE_SIZE)(torch.from_numpy(depth)).numpy()
        yield guide.astype(np.uint8), source + noise * rng.standard_normal(SOURCE_SIZE), depth


def targets(count=8, speed=2.0, noise=NOISE, noise_option=None, **options):
    frames = ((guide, source) for guide, source, _ in a_film(count, speed, noise))
    return list(graphsr.upsample_frames(frames, model="colour", noise=noise_option, **options))


def flicker(results):
    """The standard deviation in time of the lower half, where nothing moves."""
    return float(np.std([result.target[28:] for result in results[3:]], axis=0).mean())


def test_without_steady_targets_are_those_of_single_frames():
    for result, (guide, source, depth) in zip(targets(3), a_film(3), strict=True):
        alone = graphsr.upsample(guide, source, model="colour").target
        # Both are solved to 1e-4 standard deviations of the source.
        assert np.sqrt(np.mean((result.target - alone) ** 2)) < 3e-4 * depth.std()


def test_a_still_film_without_noise_takes_fewer_iterations_from_the_second_frame_on():
    first, *later = (result.report.iterations for result in targets(4, speed=0, noise=0))
    assert max(later) < 0.7 * first


def test_steady_takes_flicker_away_where_nothing_moves():
    # Measured: 0.35.
    assert flicker(targets(steady=True)) < 0.5 * flicker(targets())


def test_steady_averages_over_so_many_frames():
    two, many = flicker(targets(steady=2)), flicker(targets(steady=16))
    assert many < two < flicker(targets())


def test_nothing_is_smeared_where_things_move():
    depths = [depth for _, _, depth in a_film(8)]

    def error(results):
        """RMSE over the columns of the upper half that the box is in or has left within two frames."""
        squares = [
            np.mean((result.target[4:24, :] - depth[4:24, :]) ** 2)
            for result, depth in zip(results[3:], depths[3:], strict=True)
        ]
        return float(np.sqrt(np.mean(squares)))

    assert error(targets(steady=True)) < 1.05 * error(targets())


def test_a_source_that_changes_under_a_guide_that_does_not_is_followed():
    guide, source, _ = next(a_film(1))
    nearer = source.copy()
    nearer[8:, 4:12] -= 1.0
    frames = [(guide, source)] * 4 + [(guide, nearer)] * 2
    last = list(graphsr.upsample_frames(frames, model="colour", steady=True))[-1]
    back = Sampling(SIZE, SOURCE_SIZE)(torch.from_numpy(last.target)).numpy()
    assert np.abs(back - nearer)[9:, 5:11].mean() < 0.1


def test_stillness_is_1_for_the_same_frame_and_0_for_another():
    rng = np.random.default_rng(0)
    guide, other = (torch.from_numpy(rng.random((1, 3, *SIZE))) for _ in range(2))
    target = torch.from_numpy(rng.random((1, 1, *SIZE)))
    sampling = Sampling(SIZE, SOURCE_SIZE)
    source = sampling(target)
    known = torch.ones_like(source, dtype=torch.bool)
    torch.testing.assert_close(
        still_pixels((guide, guide), source, known, target, sampling), torch.ones(1, 1, *SIZE, dtype=torch.float64)
    )
    assert still_pixels((guide, other), source, known, target, sampling).max() < 1e-3
    assert still_pixels((guide, guide), source + 1, known, target, sampling).max() < 1e-3


def test_a_stated_noise_is_smoothed_in_space_and_steady_smooths_the_rest_in_time():
    noisy, noisy_and_steady = targets(noise_option=NOISE), targets(noise_option=NOISE, steady=True)
    assert all(result.report.noise == pytest.approx(NOISE) for result in noisy)
    # Measured: 0.38 of the flicker of frames as they are, and 0.41 of that.
    assert flicker(noisy) < 0.6 * flicker(targets())
    assert flicker(noisy_and_steady) < 0.6 * flicker(noisy)


def test_with_a_stated_noise_the_target_is_not_held_by_the_frames_before():
    guide, source, _ = next(a_film(1))
    frames = [(guide, source)] * 4 + [(guide, source + 1.0)] * 2
    results = list(graphsr.upsample_frames(frames, model="colour", steady=True, noise=NOISE))
    assert abs(np.mean(results[-1].target - results[0].target) - 1.0) < 0.05


def test_an_outlier_of_one_frame_is_switched_off_in_that_frame_only():
    frames = [(guide, source) for guide, source, _ in a_film(3, speed=0, noise=0)]
    frames[1][1][9, 8] += 2.0
    results = list(graphsr.upsample_frames(frames, model="colour", robust=True))
    assert [result.report.switched_off for result in results] == [0, 1, 0]
    assert np.abs(results[1].target - results[0].target).max() < 0.1


def test_a_confidence_is_that_of_every_frame():
    confidence = np.ones(SOURCE_SIZE)
    confidence[9, 8] = 0
    frames = [(guide, np.where(confidence, source, 50.0)) for guide, source, _ in a_film(3)]
    assert all(
        result.target.max() < 5 for result in graphsr.upsample_frames(frames, model="colour", confidence=confidence)
    )


@pytest.mark.parametrize("steady", [False, True])
def test_a_large_offset_costs_no_digits(steady):
    def film(offset):
        # Each frame has another mean.
        return [(guide, source + 0.1 * n + offset) for n, (guide, source, _) in enumerate(a_film(3, speed=0))]

    low, high = (list(graphsr.upsample_frames(film(at), model="colour", steady=steady)) for at in (0.0, 1e7))
    for here, there in zip(low, high, strict=True):
        # In single precision a target at 1e7 has steps of 1. Solves end within 1e-4 standard deviations, about 1e-4.
        assert np.abs(there.target - 1e7 - here.target).max() < 2e-3


def test_frames_of_another_size_begin_anew():
    first, second = next(a_film(1)), next(a_film(1))
    frames = [first[:2], (second[0][:40], second[1][:10])]
    sizes = [result.target.shape for result in graphsr.upsample_frames(frames, model="colour", steady=True)]
    assert sizes == [SIZE, (40, 64)]


@pytest.mark.parametrize("steady", [0.5, -1, 0, float("nan"), "yes", None, [2]])
def test_a_number_of_frames_is_at_least_1(steady):
    with pytest.raises(InputError, match="steady: must be True, False or a number of frames, at least 1"):
        next(graphsr.upsample_frames([], model="colour", steady=steady))


def test_a_frame_that_fails_is_named():
    good = next(a_film(1))[:2]
    frames = graphsr.upsample_frames([good, (good[0], np.full(SOURCE_SIZE, np.nan))], model="colour")
    next(frames)
    with pytest.raises(InputError, match=r"frame 1: source: every pixel is missing"):
        next(frames)


@pytest.mark.parametrize("frames", [[np.zeros((3, 4, 5))], [None], [(1, 2, 3)]])
def test_a_frame_is_a_guide_and_a_source(frames):
    with pytest.raises(InputError, match="frame 0: must be two arrays, a guide and its source"):
        list(graphsr.upsample_frames(frames, model="colour"))


@pytest.mark.parametrize("options", [{"model": "colur"}, {"noise": -1}, {"robust": True, "model": "bicubic"}])
def test_what_is_wrong_with_an_option_is_said_before_the_first_frame(options):
    with pytest.raises(InputError, match=r"^(model|noise|robust)"):
        graphsr.upsample_frames([], **options)
