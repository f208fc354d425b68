"""Gradients on their way to the optimiser: averaged over processes, and clipped so that nothing drowns the rest."""

from __future__ import annotations

from types import SimpleNamespace

import pytest
import torch
from torch import nn

from graphsr.training.gradients import clip_and_average

ALONE = SimpleNamespace(world_size=1)


class TwoNetworks(nn.Module):
    """A number of its own and two networks, with gradients of these norms."""

    def __init__(self, own: float, calm: float, wild: float) -> None:
        super().__init__()
        self.number, self.calm, self.wild = nn.Parameter(torch.ones(1)), nn.Linear(4, 1), nn.Linear(4, 1)
        self.number.grad = torch.tensor([float(own)])
        for network, norm in ((self.calm, calm), (self.wild, wild)):
            network.weight.grad, network.bias.grad = torch.full((1, 4), norm / 2.0), torch.zeros(1)

    def norms(self) -> list[float]:
        return [float(each.grad.norm()) for each in (self.number, self.calm.weight, self.wild.weight)]


def with_another_process(gradient: float) -> SimpleNamespace:
    """Return what averages with a process whose gradients are all the same."""
    return SimpleNamespace(world_size=2, all_reduce=lambda own, reduce_op: (own + gradient) / 2)


def test_are_averaged_also_of_what_one_process_alone_has_used():
    network = nn.Sequential(nn.Conv2d(2, 2, 3), nn.Conv2d(2, 2, 3))
    network[0](torch.ones(1, 2, 3, 3)).sum().backward()
    before = [torch.zeros_like(p) if p.grad is None else p.grad.clone() for p in network.parameters()]
    clip_and_average(with_another_process(3), network, 0, each_network=False)
    for parameter, own in zip(network.parameters(), before, strict=True):
        assert torch.equal(parameter.grad, (own + 3) / 2)


def test_are_left_as_they_are_without_a_limit():
    network = TwoNetworks(1, 2, 1000)
    norm = clip_and_average(ALONE, network, 0, each_network=False)
    assert network.norms() == pytest.approx([1, 2, 1000])
    assert float(norm) == pytest.approx((1 + 4 + 1e6) ** 0.5)


def test_clipped_together_the_larger_drown_the_smaller():
    network = TwoNetworks(0.5, 2, 1000)
    clip_and_average(ALONE, network, 1, each_network=False)
    assert network.norms() == pytest.approx([0.0005, 0.002, 1], rel=1e-4)


def test_each_network_may_be_clipped_by_itself():
    network = TwoNetworks(0.5, 2, 1000)
    clip_and_average(ALONE, network, 1, each_network=True)
    assert network.norms() == pytest.approx([0.5, 1, 1], rel=1e-4)


def test_each_network_is_clipped_before_it_is_averaged_with_that_of_another_process():
    network = TwoNetworks(0, 2, 1000)
    clip_and_average(with_another_process(0), network, 1, each_network=True)
    assert network.norms() == pytest.approx([0, 0.5, 0.5], rel=1e-4)


@pytest.mark.parametrize("each_network", [False, True])
@pytest.mark.parametrize("wrong", [torch.inf, torch.nan])
def test_one_that_is_not_finite_is_seen(wrong, each_network):
    norm = clip_and_average(ALONE, TwoNetworks(1, 1, wrong), 1, each_network=each_network)
    assert not bool(torch.isfinite(norm))
