"""A window of a larger pair: all about the whole that the window cannot tell by itself."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from graphsr.sampling import Sampling
from graphsr.scaling import Scale


@dataclass(frozen=True)
class Part:
    """What `Model.run` is told beside the window of guide (B, C, H, W) and source (B, K, h, w).

    The source of a window has no holes: they have been filled as in the whole.
    """

    sampling: Sampling  # where the source pixels lie in the window
    scale: Scale  # of the whole
    known: torch.Tensor  # (B, K, h, w) which source pixels were measured and not filled
    rtol: float  # see graphsr.solve


@dataclass(frozen=True)
class Locality:
    """How far the surroundings of a pixel matter to it: what a model that runs in windows tells of itself."""

    reach: int = 0  # pixels around a pixel that the network reads
    multiple: int = 1  # windows begin at multiples of so many pixels, to lie alike in the network's strides
    weight: float = 0.0  # the strongest tie, lambda; 0: no graph
    floor: float = 1.0  # the weakest tie as a part of the strongest
    trust: float = 0.0  # the weakest prior as a part of the strongest tie
