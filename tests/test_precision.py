"""A source on a large offset keeps its digits: they are not lost on the way through single precision."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import graphsr
from graphsr import Sampling
from graphsr.files import read_image
from graphsr.files.pair import PairFiles, PairOptions, upsample_pair

SIZE, SOURCE_SIZE = (32, 32), (8, 8)


def a_pair(offset: float) -> tuple[np.ndarray, np.ndarray]:
    """A guide, and a source with a standard deviation of 1 on an offset."""
    random = np.random.default_rng(0)
    return random.random((*SIZE, 3)), random.standard_normal(SOURCE_SIZE) + offset


def averaged(target: np.ndarray) -> np.ndarray:
    return Sampling(SIZE, SOURCE_SIZE)(torch.from_numpy(target).double()[None, None])[0, 0].numpy()


@pytest.mark.parametrize("model", ["colour", "default"])
@pytest.mark.parametrize("offset", [1e6, -1e8])
def test_exact_averages_on_an_offset(model, offset):
    guide, source = a_pair(offset)
    result = graphsr.upsample(guide, source, model=model, exact=True)
    assert result.target.dtype == np.float64
    # Measured: 1.2e-7, which is rounding in single precision about the mean.
    assert np.abs(averaged(result.target) - source).max() < 1e-6


@pytest.mark.parametrize("exact", [False, True])
def test_an_offset_moves_the_target_and_nothing_else(exact):
    guide, source = a_pair(0.0)
    plain = graphsr.upsample(guide, source, model="colour", exact=exact)
    moved = graphsr.upsample(guide, source + 1e6, model="colour", exact=exact)
    assert plain.target.dtype == np.float32
    # Measured: 3e-5; the solves may differ by 1e-4.
    assert np.abs(moved.target - 1e6 - plain.target).max() < 2e-4


def test_the_report_measures_against_what_was_given():
    guide, source = a_pair(1e8)
    result = graphsr.upsample(guide, source, model="bicubic")
    rms = np.sqrt(np.square(averaged(result.target) - source).mean())
    assert rms > 0.1
    assert result.report.fidelity == pytest.approx(rms, rel=1e-6)


@pytest.mark.parametrize("footprint", ["box", "gaussian:0.5"])
@pytest.mark.parametrize("model", ["colour", "default"])
def test_the_problem_is_in_the_units_of_the_source_and_has_the_target_as_its_solution(model, footprint):
    guide, source = a_pair(1e6)  # random numbers, which look like noise
    result = graphsr.upsample(guide, source, model=graphsr.load(model).without_restoration(), footprint=footprint)
    assert result.problem.source.dtype == torch.float64
    assert np.abs(result.problem.source[0, 0].numpy() - source).max() < 1e-6  # of 1, rounded about the mean
    again = graphsr.solve(result.problem)[0, 0].numpy()
    assert np.abs(again - result.target).max() < 1e-8


def test_missing_pixels_do_not_move_the_offset():
    guide, source = a_pair(1e6)
    by_nan, by_confidence = source.copy(), source.copy()
    by_nan[2:4, 3:6], by_confidence[2:4, 3:6] = np.nan, -3e15
    confidence = np.isfinite(by_nan)
    one = graphsr.upsample(guide, by_nan, model="colour")
    other = graphsr.upsample(guide, by_confidence, model="colour", confidence=confidence)
    np.testing.assert_array_equal(one.target, other.target)
    assert np.abs(averaged(one.target) - source)[confidence].max() < 1e-2


@pytest.mark.parametrize(
    ("value", "dtype", "expected"),
    [(0.5, np.float64, np.float32), (123456789.125, np.float64, np.float64), (16777217, np.int32, np.float64)],
)
def test_constant_sources_keep_their_value(value, dtype, expected):
    guide, _ = a_pair(0.0)
    result = graphsr.upsample(guide, np.full(SOURCE_SIZE, value, dtype), model="colour")
    assert result.target.dtype == expected
    np.testing.assert_array_equal(result.target, np.full(SIZE, value))


def test_a_model_called_on_double_precision_returns_it():
    guide = torch.from_numpy(a_pair(1e6)[0])
    slope = torch.arange(SOURCE_SIZE[0] * SOURCE_SIZE[1], dtype=torch.float64).reshape(SOURCE_SIZE)
    tensors = guide.permute(2, 0, 1)[None], (1e6 + 0.1 * slope)[None, None].requires_grad_()
    target = graphsr.load("default")(*tensors)
    assert target.dtype == torch.float64
    assert (Sampling(SIZE, SOURCE_SIZE)(target) - tensors[1]).abs().max() < 0.05
    (gradient,) = torch.autograd.grad(target.sum(), tensors[1])
    # A constant added to the source is added to every target pixel: 16 of them for each source pixel.
    assert float(gradient.sum()) == pytest.approx(SIZE[0] * SIZE[1], rel=1e-3)


@pytest.mark.parametrize(("name", "dtype"), [("out.npy", "float64"), ("out.tif", "int32")])
def test_files_keep_the_digits_of_their_type(tmp_path, name, dtype):
    guide, source = a_pair(0.0)
    offset = 1_000_000_000
    np.save(tmp_path / "guide.npy", guide)
    np.save(tmp_path / "source.npy", (1000 * source + offset).astype(dtype))
    files = PairFiles(tmp_path / "guide.npy", tmp_path / "source.npy", tmp_path / name)
    report = upsample_pair(files, PairOptions(model="colour", exact=True), lambda _: None)
    assert report.stored_type == dtype
    found = read_image(tmp_path / name).array.astype(np.float64)
    given = np.load(tmp_path / "source.npy").astype(np.float64)
    # Half a unit is what rounding to whole numbers may do.
    assert np.abs(averaged(found) - given).max() < (1e-3 if dtype == "float64" else 0.5)
