"""The first target, which a network may look at before it predicts a graph of its own: its graph, and what it is for.

That target shows where the edges of the guide bring the values of the source, and where they fail to; interpolation
shows neither. A network that sees it needs no more width, and no second run of itself
(docs/evidence/bundled-model.md).
"""

from __future__ import annotations

import torch

from graphsr.graph import Edges, both_ways, edge_weights, power_law_distance
from graphsr.models.architecture import Architecture

# The strongest edge weight, near that of `Colour`.
LAMBDA = 5e-4
# Edge weights fall with its steps beyond this many standard deviations of the source, by this power, at most e^3 = 20
# times: what the border of a tile does reaches further the lower edge weights are.
_MU, _POWER, _FARTHEST = 0.02, 0.5, 3.0


def first_graph(colours: torch.Tensor, component: torch.Tensor, how: Architecture) -> Edges:
    """Return the colour graph of standardised colours (B, 3, H, W) and interpolated source (B, 1, H, W)."""
    distance = power_law_distance(torch.cat([colours, component], 1), how.colour_mu, how.colour_power)
    return edge_weights(distance, weight=LAMBDA, floor=how.floor)


def sharpened(edges: Edges, first: torch.Tensor, share: Edges) -> Edges:
    """Return edge weights that are lower across steps of the first target (B, 1, H, W), below the floor too.

    A network tells to a few pixels where an edge is; steps of a target tell to one (as in iteratively re-weighted least
    squares). The share says how much they count.
    """
    step = power_law_distance(first, _MU, _POWER)
    return both_ways(lambda w, part, far: w * torch.exp(-(part * far).clamp_max(_FARTHEST)), edges, share, step)
