"""The graph of the first target, which a network may look at before it predicts a graph of its own.

That target shows where the edges of the guide bring the values of the source, and where they fail to; interpolation
shows neither. A network that sees it needs no more width, and no second run of itself (docs/design.md, "The first
target").
"""

from __future__ import annotations

import torch

from graphsr.graph import Edges, edge_weights, power_law_distance
from graphsr.models.architecture import Architecture

# The strongest edge weight, near that of `Colour`.
LAMBDA = 5e-4


def first_graph(colours: torch.Tensor, component: torch.Tensor, how: Architecture) -> Edges:
    """Return the colour graph of standardised colours (B, 3, H, W) and interpolated source (B, 1, H, W)."""
    distance = power_law_distance(torch.cat([colours, component], 1), how.colour_mu, how.colour_power)
    return edge_weights(distance, weight=LAMBDA, floor=how.floor)
