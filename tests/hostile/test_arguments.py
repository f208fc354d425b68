"""Arrays that are none, tensors of all kinds: a value or one line."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch

import graphsr
from graphsr import InputError

GUIDE = np.random.default_rng(0).random((16, 16, 3))
SOURCE = np.random.default_rng(1).random((4, 4))


@pytest.mark.parametrize("ragged", [[[1, 2], [3]], [[1.0, 2.0], 3.0], [[1, "two"], [3, 4]], object(), None])
@pytest.mark.parametrize("name", ["guide", "source"])
def test_what_is_no_array(name, ragged):
    arguments = {"guide": GUIDE, "source": SOURCE, name: ragged}
    with pytest.raises(InputError, match=rf"^{name}: (is no array of numbers|must hold real numbers)"):
        graphsr.upsample(**arguments, model="bicubic")


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.bfloat16, torch.float16])
def test_tensors_that_require_gradients_or_are_short(dtype):
    source = torch.from_numpy(SOURCE).to(dtype).requires_grad_()
    result = graphsr.upsample(torch.from_numpy(GUIDE), source, model="bicubic")  # type: ignore[arg-type]
    expected = graphsr.upsample(GUIDE, source.detach().float().numpy(), model="bicubic")
    np.testing.assert_allclose(result.target, expected.target, atol=1e-6)


@pytest.mark.parametrize("model", [None, 3, b"default", ""])
def test_what_is_no_model(model):
    with pytest.raises(InputError, match=r"^model"):
        graphsr.upsample(GUIDE, SOURCE, model=model)


def test_arrays_that_must_not_be_written():
    guide, source, confidence = GUIDE.copy(), SOURCE.copy(), np.ones(SOURCE.shape, np.float32)
    for array in (guide, source, confidence):
        array.setflags(write=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graphsr.upsample(guide, source, confidence=confidence, model="bicubic")
        graphsr.upsample(guide[..., 0].astype(np.float32), source.astype(np.float32), model="bicubic")


def test_the_problem_does_not_follow_the_array():
    source = SOURCE + 1e6
    problem = graphsr.upsample(GUIDE, source, model="colour").problem
    before = problem.source.clone()
    source[:] = 0
    assert torch.equal(problem.source, before)
