"""What learned baselines are fed is the interpolation they were published with."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from PIL import Image

from graphsr.baselines import METHODS
from graphsr.baselines.base import Baseline
from graphsr.baselines.interpolation import interpolate_pil_bicubic
from graphsr.sampling import interpolate_source
from tests.baselines.pairs_to_filter import noise

SIZES = [
    ((6, 5), (24, 40)),
    ((7, 9), (37, 51)),
    ((4, 4), (4, 9)),
    ((1, 2), (8, 16)),
    ((3, 3), (5, 5)),
    ((8, 8), (8, 8)),
]


@pytest.mark.parametrize(("source_size", "size"), SIZES)
def test_is_that_of_pil(source_size, size):
    source = noise(2, 1, *source_size).float()
    found = interpolate_pil_bicubic(source, size)
    for image, plane in zip(found[:, 0], source[:, 0], strict=True):
        expected = Image.fromarray(plane.numpy()).resize(size[::-1], Image.Resampling.BICUBIC)
        # Measured 7e-7: PIL computes in double precision.
        np.testing.assert_allclose(image, np.asarray(expected), atol=3e-6)


def test_has_gradients():
    source = noise(1, 1, 3, 4).requires_grad_()
    assert torch.autograd.gradcheck(lambda source: interpolate_pil_bicubic(source, (7, 12)), source)


class Torch(Baseline):
    def estimate(self, guide, source, interpolated, confidence):
        return interpolated


class Pil(Torch):
    interpolation = "pil"


@pytest.mark.parametrize(("model", "interpolate"), [(Torch, interpolate_source), (Pil, interpolate_pil_bicubic)])
def test_a_baseline_is_fed_the_one_it_names(model, interpolate):
    guide, source = noise(1, 3, 16, 24), noise(1, 1, 4, 6)
    torch.testing.assert_close(model()(guide, source), interpolate(source, (16, 24)))


@pytest.mark.parametrize(
    ("name", "interpolation"), [("dkn", "pil"), ("fdkn", "pil"), ("fdsr", "pil"), ("dada", "torch")]
)
def test_networks_name_the_one_they_were_published_with(name, interpolation):
    model = METHODS[name].build(None)
    assert isinstance(model, Baseline)
    assert model.interpolation == interpolation
