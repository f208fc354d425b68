"""Many channels are solved together, along their principal axes: the answer is that of each alone."""

from __future__ import annotations

import pytest
import torch

from graphsr import Edges, Problem, Sampling, solve
from graphsr.solver import channels, set_up
from tests.solver.dense_solve import BACKENDS, SIZES, a_source, error, graph, minimiser, noise

size, source_size = SIZES["not dividing"]


def redundant_source(count: int, components: int = 2) -> torch.Tensor:
    """Channels that are mixtures of a few, almost; each has units of its own."""
    mixture = noise(count, components, seed=7)
    few = noise(components, source_size[0] * source_size[1], seed=8)
    mixed = mixture @ few + 1e-3 * noise(count, few.shape[1], seed=9)
    units = torch.logspace(-2, 2, count, dtype=torch.float64)
    return ((mixed + 30) * units[:, None]).reshape(1, count, *source_size)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("exact", [False, True], ids=["soft", "exact"])
def test_redundant_channels_agree_with_dense_solves(backend, exact):
    edges, source = graph(size, sharp=True), redundant_source(7)
    target = solve(edges, source, size, exact=exact, backend=backend)
    assert error(target, minimiser(edges, source, size, exact=exact), source) <= 1e-4


@pytest.mark.parametrize("shared", [False, True], ids=["offsets each", "offsets shared"])
def test_priors_and_offsets_are_those_of_each_channel(shared):
    edges, source = graph(size), redundant_source(4)
    prior, weight = source.mean() + noise(1, 4, *size, seed=3), noise(1, *size, seed=4).abs()
    down, right = noise(1, 4, size[0] - 1, size[1], seed=5), noise(1, 4, size[0], size[1] - 1, seed=6)
    offsets = Edges(down[:, 0], right[:, 0]) if shared else Edges(down, right)
    target = solve(edges, source, size, prior=prior, prior_weight=weight, offsets=offsets)
    expected = minimiser(edges, source, size, prior=prior, prior_weight=weight, offsets=offsets)
    assert error(target, expected, source) <= 1e-4


def test_more_channels_than_source_pixels():
    count = source_size[0] * source_size[1] + 5
    edges, source = graph(size), a_source(1, count, *source_size)
    assert error(solve(edges, source, size), minimiser(edges, source, size), source) <= 1e-4


def test_blocks_give_the_answer_of_all_at_once(monkeypatch):
    edges, source = graph(size, sharp=True), redundant_source(9)
    together = solve(edges, source, size)
    monkeypatch.setattr(channels, "_PIXELS_AT_ONCE", 2 * size[0] * size[1])
    assert error(solve(edges, source, size), together.numpy(), source) <= 1e-4


def test_the_gradient_of_many_channels_is_the_sum_of_each():
    source = redundant_source(3)
    weights = [graph(size).down.requires_grad_(), graph(size).right.requires_grad_()]
    loss = noise(1, 3, *size, seed=2)
    (solve(Edges(*weights), source, size, rtol=1e-8) * loss).sum().backward()
    together = [weight.grad.clone() for weight in weights if weight.grad is not None]
    for weight in weights:
        weight.grad = None
    for k in range(3):
        part = slice(k, k + 1)
        (solve(Edges(*weights), source[:, part], size, rtol=1e-8) * loss[:, part]).sum().backward()
    for weight, expected in zip(weights, together, strict=True):
        torch.testing.assert_close(weight.grad, expected, rtol=1e-5, atol=1e-5 * float(expected.abs().max()))


class CountingMatrix:
    """A matrix that keeps the iterations of its solves."""

    def __init__(self, problem: Problem) -> None:
        self.matrix, self.iterations = set_up(problem), torch.zeros(0, dtype=torch.int64)

    def is_direct(self, channels: int) -> bool:
        return self.matrix.is_direct(channels)

    def minimise(self, *arguments, **options):
        found = self.matrix.minimise(*arguments, **options)
        self.iterations = torch.cat([self.iterations, found[1].flatten()])
        return found


def test_what_channels_have_in_common_is_solved_once():
    edges = graph(size, sharp=True)
    problem = Problem(edges, Sampling(size, source_size), redundant_source(8))
    matrix = CountingMatrix(problem)
    channels.solve_channels(problem, matrix, 1e-3)
    # Two components hold all but a thousandth of the variance, which is what may be wrong.
    first, *rest = matrix.iterations.tolist()
    assert len(rest) == 7
    assert max(rest[1:]) <= 0.6 * first
