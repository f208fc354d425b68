"""Gradients of a solve against finite differences, in float64.

Differences of step 1e-6 of a solve to rtol 1e-10 carry an error of 1e-4 at the worst; gradcheck's fast mode compares
one random projection each way, so a test costs a dozen solves.
"""

from __future__ import annotations

import pytest
import torch
from torch.autograd import gradcheck

from graphsr import ConvergenceError, Edges, affinity, solve
from tests.solver.dense_solve import BACKENDS, a_source, graph, noise

SIZES = {
    "factor 3": ((6, 6), (2, 2)),
    "factor 2.5": ((5, 5), (2, 2)),
    "factor 1.5": ((6, 6), (4, 4)),
}
on_both_backends = pytest.mark.parametrize("backend", BACKENDS)
every_size = pytest.mark.parametrize(("size", "source_size"), SIZES.values(), ids=SIZES.keys())
INPUTS = ("down", "right", "source", "confidence", "offset_down", "offset_right", "prior", "prior_weight")


def tensors(size, source_size, *, batch=1, channels=1):
    """One of everything a solve is differentiable in."""
    height, width = size
    edges = graph(size, weight=0.1, batch=batch)
    return {
        "down": edges.down,
        "right": edges.right,
        "source": noise(batch, channels, *source_size, seed=1),
        "confidence": noise(batch, 1, *source_size, seed=2).abs() + 0.5,
        "offset_down": noise(batch, height - 1, width, seed=3),
        "offset_right": noise(batch, height, width - 1, seed=4),
        "prior": noise(batch, channels, *size, seed=5),
        "prior_weight": noise(batch, *size, seed=6).abs() + 0.1,
    }


def answer(given, size, *, exact, backend):
    return solve(
        Edges(given["down"], given["right"]),
        given["source"],
        size,
        confidence=given["confidence"],
        offsets=Edges(given["offset_down"], given["offset_right"]),
        prior=given["prior"],
        prior_weight=given["prior_weight"],
        exact=exact,
        rtol=1e-10,
        backend=backend,
    )


def agrees(given, names, size, *, exact=False, backend):
    def function(*values):
        return answer({**given, **dict(zip(names, values, strict=True))}, size, exact=exact, backend=backend)

    return gradcheck(function, [given[name].clone().requires_grad_() for name in names], fast_mode=True)


@pytest.mark.slow
@on_both_backends
@every_size
@pytest.mark.parametrize("name", INPUTS)
def test_of_each_input(name, size, source_size, backend):
    assert agrees(tensors(size, source_size), [name], size, backend=backend)


@on_both_backends
@pytest.mark.parametrize("shape", ["factor 3", "factor 2.5"])
@pytest.mark.parametrize("name", [name for name in INPUTS if name != "confidence"])
def test_of_each_input_of_an_exact_solve(name, shape, backend):
    size, source_size = SIZES[shape]
    assert agrees(tensors(size, source_size), [name], size, exact=True, backend=backend)


@on_both_backends
@pytest.mark.parametrize("exact", [False, True], ids=["soft", "exact"])
def test_of_all_inputs_of_a_batch_with_channels(exact, backend):
    size, source_size = SIZES["factor 2.5"]
    assert agrees(tensors(size, source_size, batch=2, channels=2), INPUTS, size, exact=exact, backend=backend)


@on_both_backends
def test_of_confidence_and_offsets_of_each_channel(backend):
    size, source_size = SIZES["factor 2.5"]
    given = tensors(size, source_size, channels=2)
    given["confidence"] = noise(1, 2, *source_size, seed=2).abs() + 0.5
    given["offset_down"], given["offset_right"] = noise(1, 2, 4, 5, seed=3), noise(1, 2, 5, 4, seed=4)
    assert agrees(given, ["confidence", "offset_down", "offset_right"], size, backend=backend)


@on_both_backends
def test_of_one_prior_weight_for_all_pixels(backend):
    size, source_size = SIZES["factor 3"]
    given = tensors(size, source_size)
    given["prior_weight"] = torch.tensor(0.3, dtype=torch.float64)
    assert agrees(given, ["prior_weight"], size, backend=backend)


@on_both_backends
@pytest.mark.parametrize("exact", [False, True], ids=["soft", "exact"])
def test_of_the_source_alone(exact, backend):
    """Without a prior, and so without anything but the data that fixes the mean."""
    size, source_size = SIZES["factor 2.5"]
    edges = graph(size, weight=1e-3)

    def function(source):
        return solve(edges, source, size, exact=exact, rtol=1e-10, backend=backend)

    assert gradcheck(function, [noise(1, 1, *source_size, seed=1).requires_grad_()], fast_mode=True)


@on_both_backends
def test_of_the_source_where_it_is_also_the_prior(backend):
    """Without `prior`, a prior_weight pulls to the interpolated source, which moves with the source."""
    size, source_size = SIZES["factor 3"]
    edges = graph(size, weight=0.1)

    def function(source):
        return solve(edges, source, size, prior_weight=0.5, rtol=1e-10, backend=backend)

    assert gradcheck(function, [noise(1, 1, *source_size, seed=1).requires_grad_()], fast_mode=True)


@on_both_backends
@pytest.mark.parametrize("exact", [False, True], ids=["soft", "exact"])
def test_missing_pixels_have_none(exact, backend):
    size, source_size = (9, 9), (3, 3)
    source = a_source(1, 1, *source_size)
    source[0, 0, 1, 1] = torch.nan
    source.requires_grad_()
    target = solve(graph(size), source, size, exact=exact, backend=backend)
    target.square().sum().backward()
    assert bool(torch.isfinite(source.grad).all())
    assert float(source.grad[0, 0, 1, 1]) == 0.0
    assert int((source.grad != 0).sum()) == 8


@on_both_backends
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=["float32", "float64"])
def test_reaches_the_features_through_the_affinity(dtype, backend):
    size, source_size = (9, 8), (3, 2)
    features = noise(1, 2, *size, dtype=dtype).requires_grad_()
    mu = torch.tensor(1.0, dtype=dtype, requires_grad=True)
    target = solve(affinity(features, mu, weight=0.1), a_source(1, 1, *source_size, dtype=dtype), size, backend=backend)
    target.square().mean().backward()
    for grad in (features.grad, mu.grad):
        assert grad.dtype == dtype
        assert bool(torch.isfinite(grad).all())
        assert bool((grad != 0).all())


@on_both_backends
def test_of_the_features_agree_with_differences(backend):
    size, source = (6, 6), noise(1, 1, 2, 2, seed=1)

    def function(features):
        return solve(affinity(features, 1.0, weight=0.1), source, size, rtol=1e-10, backend=backend)

    assert gradcheck(function, [noise(1, 2, *size).requires_grad_()], fast_mode=True)


def test_of_the_two_paths_agree():
    size, source_size = (17, 19), (5, 7)
    given = tensors(size, source_size)
    grads = []
    for backend in BACKENDS:
        inputs = [given[name].clone().requires_grad_() for name in INPUTS]
        target = answer(dict(zip(INPUTS, inputs, strict=True)), size, exact=False, backend=backend)
        grads.append(torch.autograd.grad((target * noise(1, 1, *size, seed=9)).sum(), inputs))
    for fused, plain in zip(*grads, strict=True):
        assert float((fused - plain).norm() / plain.norm()) <= 1e-8


@on_both_backends
def test_of_a_second_pass_through_one_graph_are_the_same(backend):
    size, source = (6, 6), noise(1, 1, 2, 2, seed=1).requires_grad_()
    target = solve(graph(size), source, size, backend=backend)
    first = torch.autograd.grad(target.sum(), source, retain_graph=True)[0]
    assert torch.equal(torch.autograd.grad(target.sum(), source)[0], first)


@on_both_backends
def test_of_a_constant_shift_are_spread_over_the_source(backend):
    """The target moves with the source, so the derivatives of its mean by the source sum to 1."""
    size, source_size = (17, 19), (5, 7)
    source = a_source(1, 1, *source_size).requires_grad_()
    solve(graph(size, weight=1e-4, sharp=True), source, size, backend=backend).mean().backward()
    assert float(source.grad.sum()) == pytest.approx(1.0, abs=1e-4)


def gradient_of_a_constant(rtol, backend, dtype=torch.float32):
    """A constant source is solved at once, to any tolerance; its gradient is not."""
    size = (17, 19)
    source = torch.full((1, 1, 5, 7), 2.0, dtype=dtype, requires_grad=True)
    target = solve(graph(size, dtype=dtype), source, size, rtol=rtol, backend=backend)
    (target * noise(1, 1, *size, dtype=torch.float32).to(dtype)).sum().backward()
    return source.grad


@on_both_backends
def test_that_single_precision_cannot_have_are_solved_for_in_double(backend):
    found = gradient_of_a_constant(1e-9, backend)
    assert found.dtype == torch.float32
    torch.testing.assert_close(
        found.double(), gradient_of_a_constant(1e-9, backend, torch.float64), rtol=1e-5, atol=1e-6
    )


@on_both_backends
def test_that_cannot_be_had_to_rtol_raise(backend):
    with pytest.raises(ConvergenceError, match=r"the gradient reached an estimated error"):
        gradient_of_a_constant(1e-17, backend)
