"""Windows of a larger pair: what a model is told of the whole, and how far it has to see around a pixel."""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from graphsr.sampling import Sampling
from graphsr.scaling import Scale


@dataclass(frozen=True)
class Window:
    """What a window of guide (B, C, H, W) and source (B, K, h, w) cannot tell by itself.

    The source of a window has no holes: they have been filled as in the whole.

    Attributes:
        sampling: Where the source pixels lie in the window.
        scale: Mean and standard deviation of the whole.
        known: (B, K, h, w) which source pixels were measured and not filled.
    """

    sampling: Sampling
    scale: Scale
    known: torch.Tensor


@dataclass(frozen=True)
class Locality:
    """How far the surroundings of a pixel matter to it: what a model that runs on windows says of itself.

    Attributes:
        reach: Pixels around a pixel that the network reads.
        multiple: Windows begin at multiples of so many pixels, to lie alike in the network's strides.
        edge_weight: The strongest edge weight, lambda; 0: no graph.
        floor: The weakest edge weight as a part of the strongest.
        shown: Of the targets that its networks read before, one after another.
    """

    reach: int = 0
    multiple: int = 1
    edge_weight: float = 0.0
    floor: float = 1.0
    shown: tuple[Locality, ...] = ()

    def weighed(self, confidence: float) -> Locality:
        """Return the same where source pixels count less: edges are stronger against them."""
        shown = tuple(each.weighed(confidence) for each in self.shown)
        return replace(self, edge_weight=self.edge_weight / confidence, shown=shown)
