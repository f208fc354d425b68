"""What every model promises: it is called alike, and none is only half a model."""

from __future__ import annotations

import pytest
import torch

import graphsr
from graphsr.errors import InputError
from graphsr.models.base import Model

GRAPH_MODELS = ("default", "colour")
# PixTransform trains a network for each pair, for minutes.
QUICK = tuple(name for name in graphsr.models() if name not in ("pixtransform", "dada-colour"))


def a_pair() -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return torch.rand(1, 3, 32, 40, generator=generator), torch.rand(1, 1, 8, 10, generator=generator)


def test_a_model_has_to_say_how_it_prepares_a_problem():
    with pytest.raises(TypeError, match="abstract"):
        Model()  # type: ignore[abstract]


@pytest.mark.parametrize("name", QUICK)
def test_every_model_can_be_called(name):
    guide, source = a_pair()
    with torch.no_grad():
        target = graphsr.load(name)(guide, source)
    assert target.shape == (1, 1, 32, 40)
    assert bool(torch.isfinite(target).all())


@pytest.mark.parametrize("name", GRAPH_MODELS)
def test_a_graph_model_gives_the_problem_that_it_solved(name):
    guide, source = a_pair()
    with torch.no_grad():
        result = graphsr.load(name).run(guide, source)
        again = graphsr.solve(result.problem)
    assert result.solution.error <= 1e-3
    torch.testing.assert_close(again, result.target, rtol=0, atol=1e-6)


@pytest.mark.parametrize("name", GRAPH_MODELS)
@pytest.mark.parametrize("dtype", [torch.uint8, torch.float64, torch.int32])
def test_sources_of_any_real_type(name, dtype):
    guide, source = a_pair()
    source = (200 * source).to(dtype)
    model = graphsr.load(name)
    with torch.no_grad():
        torch.testing.assert_close(model(guide, source).float(), model(guide, source.float()), rtol=0, atol=0.05)


def test_another_tolerance_leaves_the_model_alone():
    model = graphsr.load("default")
    fine = model.with_rtol(1e-5)
    assert (model.rtol, fine.rtol) == (1e-3, 1e-5)
    assert fine.log_lambda is model.log_lambda
    assert model.with_rtol(None) is model
    assert fine.digest() == model.digest()  # by which its calibration, and the tiles of a stopped run, are found


def test_complex_numbers_are_refused():
    guide, source = a_pair()
    with pytest.raises(InputError, match="source: must hold real numbers"):
        graphsr.load("colour")(guide, source.to(torch.complex64))
