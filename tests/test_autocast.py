"""Autocast is for the networks: they get faster, and nothing that is measured or solved loses digits."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import graphsr
from graphsr.graph import Edges
from graphsr.models.local_scale import local_scale
from graphsr.models.reweighting import Reweighting
from graphsr.sampling import Sampling, interpolate_source
from graphsr.scaling import Scale
from graphsr.scenes import scene


def bfloat16():
    return torch.autocast("cpu", torch.bfloat16)


def made_pair() -> tuple[np.ndarray, np.ndarray]:
    drawn = scene(7, (96, 128))
    return drawn.guide, drawn.depth.reshape(12, 8, 16, 8).mean((1, 3))


def test_a_network_computes_in_it_and_its_target_hardly_changes():
    guide, source = made_pair()
    model = graphsr.load("default")
    expected = graphsr.upsample(guide, source, model=model).target
    with bfloat16():
        found = graphsr.upsample(guide, source, model=model).target
    change = np.sqrt(np.mean((found - expected) ** 2)) / source.std()
    assert 0 < change < 0.01  # measured: 0.003


@pytest.mark.parametrize("channels", [1, 3, 16])
def test_a_model_without_a_network_is_left_alone(channels):
    guide, source = made_pair()
    source = 100 + source[..., None] * np.linspace(1, 2, channels)
    expected = graphsr.upsample(guide, source, model="colour").target
    with bfloat16():
        assert np.array_equal(graphsr.upsample(guide, source, model="colour").target, expected)


def test_what_the_network_sees_keeps_its_digits():
    torch.manual_seed(0)
    source = 100 + torch.rand(1, 1, 12, 16)
    several = 100 + torch.rand(1, 3, 12, 16)
    sampling = Sampling((96, 128), (12, 16))
    known = torch.ones(1, 1, 12, 16, dtype=torch.bool)

    def seen() -> list[torch.Tensor]:
        scale = Scale.of(torch.rand(1, 3, 4, 4, generator=torch.Generator().manual_seed(0)), several, known)
        planes = interpolate_source(source, sampling, known)
        return [planes, scale.first_component(several), *local_scale(planes, (96, 128))]

    expected = seen()
    with bfloat16():
        for one, other in zip(seen(), expected, strict=True):
            assert one.dtype == torch.float32
            assert torch.equal(one, other)


def test_a_reweighting_learns_from_the_same_gradients():
    # Whose dilated convolution has gradients in bfloat16 that are wrong by 80 %, or not finite.
    torch.manual_seed(0)
    reweighting = Reweighting(24)
    torch.nn.init.normal_(reweighting.last.weight, std=0.1)
    edges = Edges(torch.rand(2, 63, 64) + 0.01, torch.rand(2, 64, 63) + 0.01)
    planes = torch.rand(2, 1, 64, 64), torch.rand(2, 3, 64, 64), torch.rand(2, 1, 64, 64)

    def gradients() -> list[torch.Tensor]:
        changed = reweighting(edges, *planes, 0.0)
        return list(torch.autograd.grad(changed.down.sum() + changed.right.sum(), list(reweighting.parameters())))

    expected = gradients()
    with bfloat16():
        for one, other in zip(gradients(), expected, strict=True):
            assert torch.equal(one, other)


def test_gradients_of_a_solve_are_the_same():
    torch.manual_seed(0)
    source = torch.rand(1, 3, 4, 4)
    edges = [torch.rand(1, 15, 16, requires_grad=True), torch.rand(1, 16, 15, requires_grad=True)]

    def gradients() -> tuple[torch.Tensor, ...]:
        target = graphsr.solve(Edges(*edges), source, (16, 16))
        return torch.autograd.grad(target.square().sum(), edges)

    expected = gradients()
    with bfloat16():
        for one, other in zip(gradients(), expected, strict=True):
            assert torch.equal(one, other)
