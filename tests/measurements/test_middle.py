"""The middle of a pair is a pair whose source lies as it did."""

from __future__ import annotations

import numpy as np
import torch

from graphsr.measurements.middle import middle
from graphsr.sampling import Sampling


def test_the_middle_of_a_large_pair_lies_as_in_the_whole() -> None:
    rng = np.random.default_rng(0)
    depth, at = rng.random((240, 320)), Sampling((240, 320), (30, 40), origin=(1.3, -2.4), step=(8.1, 7.9))
    source = at(torch.from_numpy(depth)).numpy()
    cut, cut_source, cut_at = middle(depth[..., None], source[None], at, 100 * 130)
    assert cut.shape[0] * cut.shape[1] < 1.2 * 100 * 130
    np.testing.assert_allclose(cut_at(torch.from_numpy(cut[..., 0])).numpy(), cut_source[0], atol=1e-9)


def test_a_pair_that_is_small_enough_stays_as_it_is() -> None:
    guide, source, at = np.zeros((16, 24, 3)), np.zeros((1, 4, 6)), Sampling((16, 24), (4, 6))
    found = middle(guide, source, at, 16 * 24)
    assert found[0] is guide
    assert found[1] is source
    assert found[2] is at
