"""The first target: that of the colour graph, which a network may look at before it predicts a graph of its own.

It shows where the edges of the guide bring the values of the source, and where they fail to; interpolation shows
neither. A network that sees it needs no more width, and no second run of itself (docs/design.md, "The first target").
"""

from __future__ import annotations

import torch

from graphsr.graph import Edges, edge_weights, power_law_distance
from graphsr.models.architecture import Architecture
from graphsr.models.window import Window
from graphsr.solver import Problem, solve_problem

# The strongest edge weight, near that of `Colour`.
LAMBDA = 5e-4
# What is only looked at may err so many times as much as the target itself.
_RTOL_TIMES, _LARGEST_RTOL = 10.0, 0.1


def first_graph(colours: torch.Tensor, component: torch.Tensor, how: Architecture) -> Edges:
    """Return the colour graph of standardised colours (B, 3, H, W) and interpolated source (B, 1, H, W)."""
    distance = power_law_distance(torch.cat([colours, component], 1), how.colour_mu, how.colour_power)
    return edge_weights(distance, weight=LAMBDA, floor=how.floor)


@torch.no_grad()
def first_target(
    colours: torch.Tensor,
    interpolated: torch.Tensor,
    source: torch.Tensor,
    confidence: torch.Tensor | None,
    window: Window,
    how: Architecture,
    rtol: float,
) -> torch.Tensor:
    """Solve on the colour graph; without gradients.

    Args:
        colours: The standardised guide (B, 3, H, W).
        interpolated: The source interpolated to its size (B, K, H, W).
        source: (B, K, h, w), NaN is missing.
        confidence: (B, 1 or K, h, w).
        window: Where the source lies, and its scale.
        how: Says the colour graph.
        rtol: Of the target that follows; this one may err more.

    Returns:
        The target (B, 1, H, W), standardised; of several channels that of their first principal component.
    """
    component = window.scale.first_component(interpolated)
    problem = Problem(
        first_graph(colours, component, how),
        window.sampling,
        window.scale.first_component(source),
        None if confidence is None else confidence.mean(1, keepdim=True),
        prior=component,
        prior_weight=0.0,
        start=component,
    )
    return solve_problem(problem, rtol=min(_RTOL_TIMES * rtol, _LARGEST_RTOL)).target
