"""Every mistake is refused with a message that names the argument, and no failed solve goes unsaid."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from graphsr import ConvergenceError, Edges, InputError, solve
from tests.solver.dense_solve import BACKENDS, a_source, graph, noise

size, source_size = (8, 9), (4, 3)
on_both_backends = pytest.mark.parametrize("backend", BACKENDS)


def refused(match, *, edges=None, source=None, size=size, backend="numba", **more):
    edges = graph((8, 9)) if edges is None else edges
    source = a_source(1, 2, *source_size) if source is None else source
    with pytest.raises(InputError, match=match):
        solve(edges, source, size, backend=backend, **more)


def with_value(tensor: torch.Tensor, value: float) -> torch.Tensor:
    changed = tensor.clone()
    changed[..., 1, 1] = value
    return changed


@on_both_backends
class TestEdges:
    @pytest.mark.parametrize(
        ("value", "says"), [(-1.0, "negative"), (0.0, "zeros"), (torch.nan, "NaN"), (torch.inf, "infinity")]
    )
    @pytest.mark.parametrize("name", ["down", "right"])
    def test_weights_must_be_positive_numbers(self, name, value, says, backend):
        edges = graph(size)
        parts = {"down": edges.down, "right": edges.right}
        parts[name] = with_value(parts[name], value)
        refused(rf"edges\.{name}.*{says}", edges=Edges(**parts), backend=backend)

    def test_must_be_for_the_size(self, backend):
        refused(r"edges.*\(9, 8\).*size is \(8, 9\)", edges=graph((9, 8)), backend=backend)

    def test_must_be_for_the_batch(self, backend):
        refused(r"edges.*B = 1", edges=graph(size, batch=2), backend=backend)

    def test_without_a_batch_axis_must_go_with_one_image(self, backend):
        edges = graph(size)
        source = a_source(2, 1, *source_size)
        refused(r"edges.*B = 2", edges=Edges(edges.down[0], edges.right[0]), source=source, backend=backend)

    def test_must_have_the_dtype_of_the_source(self, backend):
        refused(r"edges.*dtype", edges=graph(size, dtype=torch.float32), backend=backend)

    def test_must_be_of_one_dtype(self, backend):
        edges = graph(size)
        refused(r"edges.*dtype", edges=Edges(edges.down, edges.right.float()), backend=backend)


@on_both_backends
class TestSource:
    def test_must_have_four_axes(self, backend):
        refused(r"source must be \(B, K, h, w\)", source=torch.zeros(4, 3), backend=backend)

    @pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.int32, torch.complex64])
    def test_must_be_of_single_or_double_precision(self, dtype, backend):
        refused("source must be float32 or float64", source=torch.ones(1, 1, 4, 3, dtype=dtype), backend=backend)

    @pytest.mark.parametrize("value", [torch.inf, -torch.inf])
    def test_must_not_be_infinite(self, value, backend):
        refused("source holds infinity", source=with_value(a_source(1, 1, *source_size), value), backend=backend)

    def test_must_have_a_known_pixel(self, backend):
        refused(
            "every pixel of source", source=torch.full((1, 1, 4, 3), torch.nan, dtype=torch.float64), backend=backend
        )

    def test_must_have_a_known_pixel_in_every_image_and_channel(self, backend):
        source = a_source(1, 3, *source_size)
        source[0, 1] = torch.nan
        refused(r"every pixel of source\[0, 1\]", source=source, backend=backend)

    def test_must_not_be_larger_than_the_target(self, backend):
        refused("factor cannot be below 1", source=a_source(1, 1, 9, 9), backend=backend)


@on_both_backends
class TestConfidence:
    @pytest.mark.parametrize(("value", "says"), [(-0.5, "negative"), (torch.nan, "NaN"), (torch.inf, "infinity")])
    def test_must_be_a_number_from_0_up(self, value, says, backend):
        confidence = with_value(torch.ones(1, 1, *source_size, dtype=torch.float64), value)
        refused(f"confidence.*{says}", confidence=confidence, backend=backend)

    @pytest.mark.parametrize("shape", [(1, 3, 4, 3), (2, 1, 4, 3), (1, 1, 3, 4), (1, 1, 8, 9), (4, 3)])
    def test_must_have_the_shape_of_the_source(self, shape, backend):
        refused("confidence must be", confidence=torch.ones(shape), backend=backend)

    def test_must_leave_a_known_pixel(self, backend):
        refused("every pixel of source", confidence=torch.zeros(1, 1, *source_size), backend=backend)


@on_both_backends
class TestPriorAndStart:
    def test_a_prior_needs_a_weight(self, backend):
        refused("prior needs a prior_weight", prior=noise(1, 2, *size), backend=backend)

    @pytest.mark.parametrize("name", ["prior", "start"])
    @pytest.mark.parametrize("shape", [(1, 2, 9, 8), (1, 3, 8, 9), (2, 2, 8, 9), (1, 2, 4, 3)])
    def test_must_have_the_shape_of_the_target(self, name, shape, backend):
        refused(f"{name} must have the target's shape", **{name: torch.zeros(shape)}, prior_weight=1.0, backend=backend)

    @pytest.mark.parametrize("name", ["prior", "start"])
    @pytest.mark.parametrize("value", [torch.nan, torch.inf])
    def test_must_be_finite(self, name, value, backend):
        refused(
            f"{name} holds NaN or inf",
            **{name: with_value(noise(1, 2, *size), value)},
            prior_weight=1.0,
            backend=backend,
        )

    @pytest.mark.parametrize("weight", [-1.0, torch.nan, torch.inf, with_value(torch.ones(1, 8, 9), -1.0)])
    def test_a_prior_weight_is_a_number_from_0_up(self, weight, backend):
        refused("prior_weight must be finite and not negative", prior_weight=weight, backend=backend)

    @pytest.mark.parametrize("shape", [(2, 8, 9), (1, 9, 8), (1, 2, 8, 9)])
    def test_a_prior_weight_has_the_shape_of_the_target(self, shape, backend):
        refused("prior_weight must be one number or", prior_weight=torch.ones(shape), backend=backend)


@on_both_backends
class TestOffsets:
    def test_must_be_for_the_size(self, backend):
        refused("offsets.*size is", offsets=Edges(torch.zeros(1, 8, 8), torch.zeros(1, 9, 7)), backend=backend)

    @pytest.mark.parametrize("leading", [(2,), (), (1, 3), (3, 2)], ids=str)
    def test_must_be_for_the_batch_and_the_channels(self, leading, backend):
        down, right = torch.zeros(*leading, 7, 9).double(), torch.zeros(*leading, 8, 8).double()
        refused("offsets", offsets=Edges(down, right), backend=backend)

    @pytest.mark.parametrize("value", [torch.nan, torch.inf])
    def test_must_be_finite(self, value, backend):
        offsets = Edges(with_value(torch.zeros(1, 7, 9).double(), value), torch.zeros(1, 8, 8).double())
        refused("offsets.*NaN", offsets=offsets, backend=backend)


@on_both_backends
class TestSettings:
    @pytest.mark.parametrize("rtol", [0.0, -1e-4, 1.0, 10.0, float("nan")])
    def test_rtol_lies_between_0_and_1(self, rtol, backend):
        refused("rtol must lie between 0 and 1", rtol=rtol, backend=backend)

    @pytest.mark.parametrize("bad", [(0, 9), (-8, 9)])
    def test_size_is_at_least_one_pixel(self, bad, backend):
        refused("size must be at least 1 x 1", size=bad, backend=backend)


def test_a_path_that_does_not_exist_is_refused():
    refused("backend must be 'auto', 'numba' or 'torch', not 'fast'", backend="fast")


@on_both_backends
@pytest.mark.parametrize("name", ["prior", "start", "confidence", "offsets", "prior_weight"])
def test_other_tensors_are_brought_to_the_dtype_of_the_source(name, backend):
    """A float64 aid to a float32 source is an aid all the same."""
    edges, source = graph(size, dtype=torch.float32), a_source(1, 2, *source_size, dtype=torch.float32)
    every: dict[str, dict[str, Any]] = {
        "prior": {"prior": 40 + noise(1, 2, *size), "prior_weight": 0.1},
        "start": {"start": noise(1, 2, *size)},
        "confidence": {"confidence": noise(1, 1, *source_size).abs() + 0.1},
        "offsets": {"offsets": Edges(noise(1, 7, 9), noise(1, 8, 8))},
        "prior_weight": {"prior_weight": noise(1, *size).abs()},
    }
    aids = every[name]

    def single(value):
        if isinstance(value, Edges):
            return Edges(value.down.float(), value.right.float())
        return value.float() if isinstance(value, torch.Tensor) else value

    target = solve(edges, source, size, backend=backend, **aids)
    expected = solve(edges, source, size, backend=backend, **{key: single(value) for key, value in aids.items()})
    assert target.dtype == torch.float32
    torch.testing.assert_close(target, expected, rtol=1e-4, atol=0)


@on_both_backends
@pytest.mark.parametrize("exact", [False, True], ids=["soft", "exact"])
def test_what_cannot_be_reached_is_said_with_advice(exact, backend):
    big, small = (24, 24), (8, 8)
    edges = graph(big, weight=1e-4, sharp=True, dtype=torch.float32)
    source = a_source(1, 1, *small, dtype=torch.float32)
    with pytest.raises(ConvergenceError, match=r"estimated error of .*, not 1e-09.*Try float64, a larger rtol"):
        solve(edges, source, big, exact=exact, rtol=1e-9, backend=backend)
