"""What a patch cannot tell of the image that it is cut from: how far values differ there.

A network that is trained on patches by their own scale meets smaller steps in whole images, which have a larger
standard deviation than their parts (docs/evidence/bundled-model.md).
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from graphsr.scaling import Scale

# The guide of an image has up to so many times the standard deviation of a patch of it.
_MOST_GUIDE_SPREAD = 1.6


class SceneScale(NamedTuple):
    """Hold, of every sample of a batch, what it is standardised by. All are (B, 1, 1, 1).

    Attributes:
        mean, std: of the map that the patch is cut from.
        share: how far the patch is standardised by these: 0 not at all, 1 like a part of the whole image.
        guide_spread: how many times the standard deviation of the patch's guide that of the image is taken to be.
    """

    mean: Tensor
    std: Tensor
    share: Tensor
    guide_spread: Tensor

    def applied_to(self, scale: Scale) -> Scale:
        """Return the scale of the patches, on the way to that of their images by `share`."""
        std = torch.maximum(self.std, scale.source_std)
        return replace(
            scale,
            source_mean=torch.lerp(scale.source_mean, self.mean, self.share),
            source_std=scale.source_std * (std / scale.source_std).pow(self.share),
            guide_std=scale.guide_std * self.guide_spread,
        )


def draw_scene_scale(target: np.ndarray, often: float, rng: np.random.Generator) -> tuple[float, float, float, float]:
    """Draw mean, standard deviation, share and spread of `SceneScale` for one patch.

    Args:
        target: (H, W) the map that the patch is cut from, NaN = unknown.
        often: probability that the patch is standardised like a part of it.
        rng: where it is drawn from.
    """
    mean, std = float(np.nanmean(target)), float(np.nanstd(target))
    if rng.random() >= often:
        return mean, std, 0.0, 1.0
    return mean, std, float(rng.uniform(0.2, 1)), float(rng.uniform(1, _MOST_GUIDE_SPREAD))


def join_scene_scales(scales: list[tuple[float, float, float, float]]) -> SceneScale:
    """Return the scales of single patches as those of a batch."""
    return SceneScale(*(column[:, None, None, None] for column in torch.tensor(scales, dtype=torch.float32).unbind(1)))
