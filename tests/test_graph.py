"""The pixel graph: affinities and the energy they weigh."""

from __future__ import annotations

import math

import pytest
import torch

from graphsr import Edges, InputError, affinity, energy
from graphsr.graph import FLOOR, edge_weights, power_law_distance


def noise(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def test_ties_can_fall_with_a_power_of_the_difference():
    features = noise(1, 3, 4, 5)
    apart = power_law_distance(features, mu=0.1, power=1.5)
    found = edge_weights(apart, weight=0.7, floor=0.0).right[0, 2, 1]
    squares = (features[0, :, 2, 1] - features[0, :, 2, 2]).square().mean()
    assert float(found) == pytest.approx(0.7 * float(1 + squares / 0.01) ** -1.5, rel=1e-12)


class TestAffinity:
    @pytest.mark.parametrize("mu", [0.05, 0.3, 2.0])
    @pytest.mark.parametrize("floor", [0.0, FLOOR, 0.1])
    def test_is_the_published_formula(self, mu, floor):
        features = noise(2, 3, 4, 5)
        edges = affinity(features, mu, weight=0.7, floor=floor)

        def tie(p, q):
            distance = sum(float(a - b) ** 2 for a, b in zip(p, q, strict=True)) / 3
            return 0.7 * (floor + (1 - floor) * math.exp(-distance / (1e-6 + mu**2)))

        for image in range(2):
            for i in range(4):
                for j in range(5):
                    here = features[image, :, i, j]
                    if i < 3:
                        expected = tie(here, features[image, :, i + 1, j])
                        assert float(edges.down[image, i, j]) == pytest.approx(expected, rel=1e-12)
                    if j < 4:
                        expected = tie(here, features[image, :, i, j + 1])
                        assert float(edges.right[image, i, j]) == pytest.approx(expected, rel=1e-12)

    def test_of_constant_features_is_the_weight(self):
        edges = affinity(torch.full((1, 4, 3, 3), 9.0), 0.1, weight=0.25)
        torch.testing.assert_close(edges.down, torch.full((1, 2, 3), 0.25))
        torch.testing.assert_close(edges.right, torch.full((1, 3, 2), 0.25))

    @pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
    def test_never_falls_below_the_floor(self, dtype):
        features = 1e6 * noise(1, 2, 6, 6).to(dtype)
        edges = affinity(features, 1e-3, weight=0.5)
        for found in (edges.down, edges.right):
            assert found.dtype == dtype
            torch.testing.assert_close(found, torch.full_like(found, 0.5 * FLOOR))

    @pytest.mark.parametrize("axis", [-2, -1])
    def test_flips_with_the_features(self, axis):
        features = noise(1, 3, 5, 7)
        edges, flipped = affinity(features, 0.8), affinity(features.flip(axis), 0.8)
        assert torch.equal(flipped.down, edges.down.flip(axis))
        assert torch.equal(flipped.right, edges.right.flip(axis))

    def test_transposes_with_the_features(self):
        features = noise(1, 3, 5, 7)
        edges, turned = affinity(features, 0.8), affinity(features.mT, 0.8)
        assert torch.equal(turned.down, edges.right.mT)
        assert torch.equal(turned.right, edges.down.mT)

    def test_is_differentiable_in_features_mu_and_weight(self):
        def both(features, mu, weight):
            edges = affinity(features, mu, weight=weight)
            return edges.down, edges.right

        scalars = [torch.tensor(x, dtype=torch.float64, requires_grad=True) for x in (0.9, 0.3)]
        assert torch.autograd.gradcheck(both, (noise(1, 2, 3, 4).requires_grad_(), *scalars))

    def test_refuses_features_without_a_batch(self):
        with pytest.raises(InputError, match=r"features must be \(B, M, H, W\)"):
            affinity(noise(3, 4, 5), 1.0)

    @pytest.mark.parametrize("floor", [-0.1, 1.0, math.nan])
    def test_refuses_a_floor_outside_0_to_1(self, floor):
        with pytest.raises(InputError, match="floor must lie in"):
            affinity(noise(1, 1, 3, 3), 1.0, floor=floor)


class TestEnergy:
    @pytest.mark.parametrize("with_offsets", [False, True])
    def test_is_the_sum_over_neighbours(self, with_offsets):
        edges = affinity(noise(2, 1, 3, 4), 1.0)
        target = noise(2, 2, 3, 4, seed=1)
        offsets = Edges(noise(2, 2, 4, seed=2), noise(2, 3, 3, seed=3)) if with_offsets else None
        result = energy(edges, target, offsets)
        assert result.shape == (2, 2)
        for image in range(2):
            for channel in range(2):
                y = target[image, channel].tolist()
                total = 0.0
                for i in range(3):
                    for j in range(4):
                        if i < 2:
                            wanted = float(offsets.down[image, i, j]) if offsets else 0.0
                            total += float(edges.down[image, i, j]) * (y[i][j] - y[i + 1][j] - wanted) ** 2
                        if j < 3:
                            wanted = float(offsets.right[image, i, j]) if offsets else 0.0
                            total += float(edges.right[image, i, j]) * (y[i][j] - y[i][j + 1] - wanted) ** 2
                assert float(result[image, channel]) == pytest.approx(total, rel=1e-12)

    def test_of_a_constant_is_zero(self):
        edges = affinity(noise(1, 1, 4, 4), 1.0)
        assert float(energy(edges, torch.full((1, 1, 4, 4), 3.0, dtype=torch.float64))) == 0.0


class TestEdges:
    def test_know_their_size(self):
        assert Edges(torch.ones(2, 3, 5), torch.ones(2, 4, 4)).size == (4, 5)

    @pytest.mark.parametrize(
        ("down", "right"),
        [
            ((1, 3, 5), (1, 4, 5)),
            ((1, 4, 5), (1, 4, 4)),
            ((2, 3, 5), (1, 4, 4)),
            ((3, 5), (1, 4, 4)),
            ((5,), (5,)),
        ],
    )
    def test_refuse_shapes_that_disagree(self, down, right):
        with pytest.raises(InputError, match="Edges: "):
            Edges(torch.ones(down), torch.ones(right))
