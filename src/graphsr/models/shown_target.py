"""Targets that a network looks at before the last graph is made: solved without gradients, and less precisely."""

from __future__ import annotations

import torch

from graphsr.graph import Edges
from graphsr.models.window import Window
from graphsr.solver import Problem, solve_problem

# What is only looked at may err so many times as much as the target itself.
_RTOL_TIMES, _LARGEST_RTOL = 10.0, 0.1


@torch.no_grad()
def shown_target(
    edges: Edges,
    source: torch.Tensor,
    confidence: torch.Tensor | None,
    window: Window,
    start: torch.Tensor,
    rtol: float,
    offsets: Edges | None = None,
) -> torch.Tensor:
    """Solve for the one plane that a network sees of a source; without gradients.

    Args:
        edges: The graph.
        source: (B, K, h, w), NaN is missing.
        confidence: (B, 1 or K, h, w).
        window: Where the source lies, and its scale.
        start: (B, 1, H, W), standardised: where to begin.
        rtol: Of the target that follows; this one may err more.
        offsets: Differences to prefer along the edges, standardised.

    Returns:
        The target (B, 1, H, W), standardised; of several channels that of their first principal component.
    """
    problem = Problem(
        edges,
        window.sampling,
        window.scale.first_component(source),
        None if confidence is None else confidence.mean(1, keepdim=True),
        prior=start,  # of no weight: one array less, as the default is the interpolated source
        prior_weight=0.0,
        offsets=offsets,
        start=start,
    )
    return solve_problem(problem, rtol=min(_RTOL_TIMES * rtol, _LARGEST_RTOL)).target
