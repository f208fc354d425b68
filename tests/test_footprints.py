"""Footprints: what a source pixel averages over, from its definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from graphsr import InputError, Sampling
from graphsr.footprints import check_footprint, footprint_reach
from tests.solver.dense_solve import averaging

SIZES = {"factor 4": ((16, 12), (4, 3)), "not dividing": ((17, 23), (5, 7)), "factor 1.3": ((13, 26), (10, 20))}
EVERY = ("box", "bicubic", "gaussian:0.5", "gaussian:0.1", "point")
every_size = pytest.mark.parametrize(("size", "source_size"), SIZES.values(), ids=SIZES.keys())
every_footprint = pytest.mark.parametrize("footprint", EVERY)


def noise(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@every_size
@every_footprint
class TestEveryFootprint:
    def test_averages_as_it_is_defined(self, size, source_size, footprint):
        if footprint == "gaussian:0.1":
            pytest.skip("narrower than a pixel: the definition has no weight left to divide by")
        target = noise(2, *size)
        expected = (averaging(size, source_size, footprint) @ target.reshape(2, -1).numpy().T).T.reshape(
            2, *source_size
        )
        found = Sampling(size, source_size, footprint=footprint)(target)
        # measured 9e-16
        np.testing.assert_allclose(found.numpy(), expected, rtol=0, atol=1e-13)

    def test_has_its_transpose_as_adjoint(self, size, source_size, footprint):
        sampling = Sampling(size, source_size, footprint=footprint)
        y, s = noise(*size), noise(*source_size, seed=1)
        assert abs((sampling(y) * s).sum() - (y * sampling.adjoint(s)).sum()) < 1e-12

    def test_keeps_a_constant(self, size, source_size, footprint):
        average = Sampling(size, source_size, footprint=footprint)(torch.full(size, 3.7, dtype=torch.float64))
        torch.testing.assert_close(average, torch.full_like(average, 3.7), rtol=1e-14, atol=0)

    def test_is_the_same_wherever_the_source_lies(self, size, source_size, footprint):
        whole = Sampling(size, source_size, footprint=footprint)
        shift = (2 * whole.factor[0], whole.factor[1])
        larger = (source_size[0] + 3, source_size[1] + 2)
        origin = (-shift[0], -shift[1])
        placed = Sampling(size, larger, origin=origin, step=whole.factor, footprint=footprint)
        target = noise(*size)
        torch.testing.assert_close(placed(target)[2:-1, 1:-1], whole(target), rtol=0, atol=1e-12)
        assert (placed.visible > 0).sum() == source_size[0] * source_size[1]


@every_size
def test_bicubic_is_that_of_pil(size, source_size):
    target = noise(*size).float()
    expected = Image.fromarray(target.numpy()).resize((source_size[1], source_size[0]), Image.Resampling.BICUBIC)
    # PIL computes in single precision; measured 5e-7
    np.testing.assert_allclose(Sampling(size, source_size, footprint="bicubic")(target), np.array(expected), atol=2e-6)


def test_a_point_between_pixels_is_the_mean_of_those_around_it():
    target = noise(8, 9)
    found = Sampling((8, 9), (2, 3), footprint="point")(target)
    torch.testing.assert_close(found[0, 1], target[1:3, 4].mean())


def test_a_window_of_a_larger_pair_averages_alike_away_from_its_border():
    target = noise(64, 64)
    whole = Sampling((64, 64), (16, 16), footprint="bicubic")(target)
    window = Sampling((40, 40), (10, 10), origin=(0.0, 0.0), step=(4.0, 4.0), footprint="bicubic")(target[8:48, 12:52])
    torch.testing.assert_close(window[2:-2, 2:-2], whole[4:10, 5:11], rtol=0, atol=1e-12)


def test_says_which_it_is():
    assert "footprint='point'" in repr(Sampling((8, 8), (2, 2), footprint="point"))
    assert [footprint_reach(name) for name in ("box", "bicubic", "gaussian:0.5", "point")] == [0.5, 2.0, 2.0, 0.5]


@pytest.mark.parametrize(
    ("footprint", "says"),
    [
        ("bicubik", "did you mean bicubic"),
        ("gaussian:wide", "SIGMA must be a positive number, in source pixels, and at most 1"),
        ("gaussian:0", "SIGMA must be a positive number"),
        ("gaussian:-1", "SIGMA must be a positive number"),
        ("gaussian:nan", "SIGMA must be a positive number"),
        ("gaussian:3", "at most 1"),
        ("gaussian:SIGMA", "SIGMA must be a positive number"),
        ("gaussian", "gaussian:SIGMA"),
        ("", "unknown"),
        (4, "unknown; one of box, bicubic, gaussian:SIGMA, point"),
    ],
)
def test_a_footprint_that_does_not_exist_is_refused(footprint, says):
    with pytest.raises(InputError, match=says) as error:
        Sampling((8, 8), (2, 2), footprint=footprint)
    assert "\n" not in str(error.value)
    with pytest.raises(InputError, match=says):
        check_footprint(footprint)
