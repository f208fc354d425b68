"""Guided filter, joint bilateral upsampling and the bilateral solver, each against its definition."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.utils._python_dispatch import TorchDispatchMode

import graphsr
from graphsr.baselines.bilateral_solver import BilateralSolver, bistochastic, build_grid
from graphsr.baselines.guided_filter import box_mean, guided_filter
from graphsr.baselines.joint_bilateral import JointBilateral
from tests.baselines.pairs_to_filter import noise


class TestGuidedFilter:
    @pytest.mark.parametrize("channels", [1, 2, 3])
    def test_is_its_definition(self, channels):
        guide, values = noise(1, channels, 7, 6), noise(1, 1, 7, 6, seed=1)
        found = guided_filter(guide, values, (2, 1), 1e-2)
        np.testing.assert_allclose(found[0, 0], self.brute_force(guide[0].numpy(), values[0, 0].numpy()), rtol=1e-10)

    @staticmethod
    def brute_force(guide, values, radii=(2, 1), eps=1e-2):
        channels, height, width = guide.shape

        def window(i, j):
            rows, columns = slice(max(0, i - radii[0]), i + radii[0] + 1), slice(max(0, j - radii[1]), j + radii[1] + 1)
            return rows, columns

        slope, offset = np.empty((channels, height, width)), np.empty((height, width))
        for i, j in np.ndindex(height, width):
            rows, columns = window(i, j)
            colours, inside = guide[:, rows, columns].reshape(channels, -1), values[rows, columns].ravel()
            centred = colours - colours.mean(1, keepdims=True)
            covariance = centred @ centred.T / inside.size + eps * np.eye(channels)
            slope[:, i, j] = np.linalg.solve(covariance, centred @ inside / inside.size)
            offset[i, j] = inside.mean() - slope[:, i, j] @ colours.mean(1)
        result = np.empty((height, width))
        for i, j in np.ndindex(height, width):
            rows, columns = window(i, j)
            mean_slope = slope[:, rows, columns].reshape(channels, -1).mean(1)
            result[i, j] = mean_slope @ guide[:, i, j] + offset[rows, columns].mean()
        return result

    def test_costs_the_same_at_any_radius(self):
        class Recorded(TorchDispatchMode):
            def __init__(self):
                super().__init__()
                self.operations = []

            def __torch_dispatch__(self, function, types, arguments=(), named=None):
                result = function(*arguments, **(named or {}))
                self.operations.append((str(function), getattr(result, "shape", None)))
                return result

        recorded = []
        for radius in (1, 9):
            with Recorded() as record:
                guided_filter(noise(1, 3, 20, 24), noise(1, 1, 20, 24), (radius, radius), 1e-2)
            recorded.append(record.operations)
        assert recorded[0] == recorded[1]

    def test_means_are_of_what_lies_inside(self):
        values = torch.arange(5.0, dtype=torch.float64).reshape(1, 5)
        np.testing.assert_allclose(box_mean(values, (3, 1)), [[0.5, 1, 2, 3, 3.5]])


class TestJointBilateral:
    @pytest.mark.parametrize("sizes", [((9, 10), (3, 4)), ((12, 8), (3, 2)), ((15, 7), (2, 3))])
    def test_is_its_definition(self, sizes):
        size, source_size = sizes
        guide, source = noise(1, 3, *size), noise(1, 1, *source_size, seed=1)
        known = torch.ones_like(source, dtype=torch.bool)
        known[0, 0, 1, 1] = False
        found = JointBilateral(0.6, 0.3).estimate(guide, source, torch.zeros(1, 1, *size).double(), known)
        expected = self.brute_force(guide[0].numpy(), source[0, 0].numpy(), known[0, 0].numpy())
        np.testing.assert_allclose(found[0, 0], expected, rtol=1e-10)

    @staticmethod
    def brute_force(guide, source, known, sigma_d=0.6, sigma_r=0.3):
        size, cells = guide.shape[1:], source.shape
        factor = np.array(size) / cells

        def colour_at(place):
            """Bilinear between the pixels around a place, measured in pixels from the first one's centre."""
            low = np.floor(place).astype(int)
            total = 0.0
            for shift in np.ndindex(2, 2):
                weight = np.prod(np.where(shift, place - low, 1 - place + low))
                i, j = np.clip(low + shift, 0, np.array(size) - 1)
                total = total + weight * guide[:, i, j]
            return total

        result = np.empty(size)
        for p in np.ndindex(size):
            centre = (np.array(p) + 0.5) / factor
            weights, values = [], []
            for q in np.ndindex(cells):
                if known[q] and (np.abs(np.floor(centre) - q) <= 2).all():
                    colour = guide[:, p[0], p[1]] - colour_at((np.array(q) + 0.5) * factor - 0.5)
                    distance = np.square(centre - 0.5 - q).sum()
                    weights.append(np.exp(-distance / (2 * sigma_d**2) - colour @ colour / (2 * sigma_r**2)))
                    values.append(source[q])
            result[p] = np.average(values, weights=weights)
        return result

    def test_a_colour_unlike_all_others_gets_the_least_unlike(self):
        guide = torch.zeros(1, 1, 6, 6)
        guide[..., 0, 0] = 1.0
        source = torch.full((1, 1, 2, 2), 0.25)
        found = JointBilateral(0.5, 1e-3).estimate(guide, source, torch.zeros(1, 1, 6, 6), source > 0)
        np.testing.assert_allclose(found, 0.25)


class TestBilateralSolver:
    def test_vertices_are_tied_to_their_neighbours(self):
        coordinates = np.array([[0, 0], [0, 1], [0, 0], [1, 1], [0, 3]])
        grid = build_grid(coordinates)
        vertices = np.unique(coordinates[:, ::-1], axis=0)[:, ::-1]  # as they are numbered
        apart = np.abs(vertices[:, None] - vertices[None]).sum(2)
        np.testing.assert_array_equal(grid.blur.toarray(), np.where(apart == 0, 4, apart == 1))
        np.testing.assert_array_equal(grid.splat.toarray(), (vertices[:, None] == coordinates).all(2))

    def test_is_the_minimiser_on_the_grid(self):
        rng = np.random.default_rng(0)
        grid = build_grid(rng.integers(0, 3, (40, 3)))
        values, confidence = rng.random(40), rng.random(40)
        splat, blur = grid.splat.toarray(), grid.blur.toarray()
        scale, mass = bistochastic(grid.blur, splat.sum(1))
        matrix = 2.0 * (np.diag(mass) - scale[:, None] * blur * scale) + np.diag(splat @ confidence)
        expected = splat.T @ np.linalg.solve(matrix, splat @ (confidence * values))
        # Measured: 2e-6, of a tolerance of 1e-5 for the residual.
        np.testing.assert_allclose(grid.solve(values, confidence, 2.0), expected, atol=1e-4)

    def test_a_missing_source_pixel_has_no_say(self):
        guide, source = np.full((16, 16, 3), 90, np.uint8), np.array([[0.0, 1.0], [1.0, 1.0]])
        with_it = graphsr.upsample(guide, source, model=BilateralSolver(smoothness=512)).target
        source[0, 0] = np.nan
        without = graphsr.upsample(guide, source, model=BilateralSolver(smoothness=512)).target
        assert with_it.mean() < 0.9
        np.testing.assert_allclose(without, 1)
