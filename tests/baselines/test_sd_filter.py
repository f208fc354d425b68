"""The SD filter is a dense solve at every step; it can be exact and heeds confidence."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import graphsr
from graphsr import Sampling
from graphsr.baselines.sd_filter import SDFilter, lab
from tests.baselines.pairs_to_filter import a_pair, noise


class TestSDFilter:
    def dense(self, guide, target, source, weight=0.05, sigma_g=3.0, sigma_u=5.0):
        """One step by dense matrices, from a target (H, W) on: minimise |D y - s|^2 + weight * sum w (y_p - y_q)^2."""
        size = target.shape
        index = np.arange(target.size).reshape(size)
        p = np.concatenate([index[:-1].ravel(), index[:, :-1].ravel()])
        q = np.concatenate([index[1:].ravel(), index[:, 1:].ravel()])

        def edge_weight(image, sigma):
            square = np.square(image.ravel()[p] - image.ravel()[q])
            span = np.ptp(square)
            square = (square - square.min()) / span if span > 0 else square
            return np.exp(-sigma * square) + 1e-5

        steps = np.zeros((p.size, target.size))
        steps[np.arange(p.size), p], steps[np.arange(p.size), q] = 1, -1
        weights = weight * edge_weight(guide, sigma_g) * edge_weight(target, sigma_u)
        units = torch.eye(target.size, dtype=torch.float64).reshape(-1, *size)
        averaging = Sampling(size, source.shape)(units).flatten(1).T.numpy()
        matrix = averaging.T @ averaging + steps.T @ (weights[:, None] * steps)
        return np.linalg.solve(matrix, averaging.T @ source.ravel()).reshape(size)

    @pytest.mark.parametrize("sizes", [((6, 8), (2, 2)), ((7, 5), (3, 2))])
    def test_every_step_is_a_dense_solve(self, sizes):
        guide, source = noise(1, 1, *sizes[0]), 4 + noise(1, 1, *sizes[1], seed=1)
        expected = np.ones(sizes[0])
        for steps in (1, 2, 3):
            expected = self.dense(guide[0, 0].numpy(), expected, source[0, 0].numpy())
            result = SDFilter(0.05, 3.0, 5.0, steps).run(guide, source)
            # The solve promises 1e-4 of the source's deviation, 0.3; measured 2e-6.
            np.testing.assert_allclose(result.target[0, 0], expected, atol=5e-5)
            assert result.edges is not None
            assert result.edges.size == sizes[0]
            assert result.solution is not None
            assert result.solution.error <= 1e-4

    def test_can_be_exact(self):
        guide, source = a_pair()
        target = graphsr.upsample(guide, source, model="sd-filter", exact=True).target
        back = Sampling((37, 51), (9, 8))(torch.from_numpy(np.moveaxis(target, 2, 0)).double())
        np.testing.assert_allclose(back, np.moveaxis(source, 2, 0), rtol=1e-6)

    def test_heeds_confidence(self):
        guide, source = a_pair(channels=1)
        confidence = np.ones((9, 8))
        confidence[4, 4] = 0
        wild, holed = source.copy(), source.copy()
        wild[4, 4], holed[4, 4] = 99, np.nan
        targets = [
            graphsr.upsample(guide, wild, model="sd-filter", confidence=confidence).target,
            graphsr.upsample(guide, holed, model="sd-filter").target,
        ]
        np.testing.assert_allclose(targets[0], targets[1], atol=1e-3)

    def test_lab_of_black_grey_and_white(self):
        grey = torch.tensor([0.0, 0.5, 1.0]).view(1, 1, 1, 3).expand(1, 3, 1, 3).double()
        lightness, a, b = lab(grey)[0, :, 0]
        # 0.5 is the linear value ((0.5 + 0.099) / 1.099)^(1 / 0.45) = 0.2597; its cube root 0.638.
        np.testing.assert_allclose(lightness, [0, 58.0, 100], atol=0.05)
        np.testing.assert_allclose(torch.stack([a, b]), 0, atol=0.02)
