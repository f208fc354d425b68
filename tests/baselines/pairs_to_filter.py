"""What the tests of baselines without learned weights share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch

from graphsr.baselines.bilateral_solver import BilateralSolver
from graphsr.baselines.guided_filter import GuidedFilter
from graphsr.baselines.joint_bilateral import JointBilateral
from graphsr.baselines.pixtransform import PixTransform
from graphsr.baselines.sd_filter import SDFilter
from graphsr.models.base import Model

# PixTransform trains for every image; a few steps show all but its quality.
MODELS: dict[str, Callable[[], Model]] = {
    "guided-filter": GuidedFilter,
    "joint-bilateral": JointBilateral,
    "bilateral-solver": BilateralSolver,
    "sd-filter": SDFilter,
    "pixtransform": lambda: PixTransform(steps=3),
}
every_model = pytest.mark.parametrize("name", MODELS)


def noise(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.rand(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


def a_pair(size=(37, 51), source_size=(9, 8), guide_channels=3, channels=2, seed=0):
    rng = np.random.default_rng(seed)
    guide = rng.integers(0, 256, (*size, guide_channels), np.uint8)
    return guide, 5 + rng.random((*source_size, channels))


def a_step(size=(40, 48), at=21):
    """Two colours and two depths that part inside a source pixel, with a little noise in the colours."""
    rng = np.random.default_rng(0)
    left = np.arange(size[1]) < at
    guide = np.where(left[None, :, None], (30, 60, 90), (200, 190, 80)) + rng.integers(-3, 4, (*size, 3))
    return guide.astype(np.uint8), np.where(left, 1.0, 3.0)[None].repeat(size[0], 0).astype(np.float32)
