"""The pixel graph: the weights of the edges between each pixel and its four neighbours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch

from graphsr.errors import InputError

# The floor of an affinity. Below it pixels would be islands that no term of the energy holds in place; with it
# the minimiser is defined and a solve is well conditioned. It is small against every weight a fitted model uses.
FLOOR = 1e-4


@dataclass(frozen=True)
class Edges:
    """Weights of a pixel lattice.

    Attributes:
        down: (..., H-1, W), of the edges between (i, j) and (i+1, j).
        right: (..., H, W-1), of the edges between (i, j) and (i, j+1).
    """

    down: torch.Tensor
    right: torch.Tensor

    def __post_init__(self) -> None:
        down, right = self.down.shape, self.right.shape
        if len(down) < 2 or len(down) != len(right) or down[:-2] != right[:-2]:
            raise InputError(f"Edges: down {tuple(down)} and right {tuple(right)} must have the same leading shape")
        if down[-2] + 1 != right[-2] or right[-1] + 1 != down[-1]:
            raise InputError(
                f"Edges: down must be (..., H-1, W) and right (..., H, W-1), not {tuple(down)} and {tuple(right)}"
            )

    @property
    def size(self) -> tuple[int, int]:
        """Return (H, W) of the target."""
        return self.right.shape[-2], self.down.shape[-1]


def both_ways(function: Callable[..., torch.Tensor], *values: Edges) -> Edges:
    """Return what a function makes of the values of edges down, and of those of edges right."""
    return Edges(function(*(each.down for each in values)), function(*(each.right for each in values)))


def stack_strips(parts: Sequence[Edges]) -> Edges:
    """Return the edges of an image from those of its strips of rows.

    Args:
        parts: From top to bottom; all but the last also have the first row of the next strip.
    """
    if len(parts) == 1:
        return parts[0]
    rights = [*(part.right[..., :-1, :] for part in parts[:-1]), parts[-1].right]
    return Edges(torch.cat([part.down for part in parts], -2), torch.cat(rights, -2))


def differences(values: torch.Tensor) -> Edges:
    """Return y_p - y_q along every edge of (..., H, W), p being the upper or left pixel."""
    return Edges(values[..., :-1, :] - values[..., 1:, :], values[..., :-1] - values[..., 1:])


def net_flow(flow: Edges) -> torch.Tensor:
    """Return what leaves each pixel (..., H, W) where so much flows down and right: the adjoint of `differences`."""
    net = flow.down.new_zeros((*flow.down.shape[:-2], *flow.size))
    net[..., :-1, :] += flow.down
    net[..., 1:, :] -= flow.down
    net[..., :-1] += flow.right
    net[..., 1:] -= flow.right
    return net


def means(values: torch.Tensor) -> Edges:
    """Return the mean of the two pixels of every edge of (..., H, W)."""
    return Edges(0.5 * (values[..., :-1, :] + values[..., 1:, :]), 0.5 * (values[..., :-1] + values[..., 1:]))


def affinity(
    features: torch.Tensor,
    mu: torch.Tensor | float,
    *,
    weight: torch.Tensor | float = 1.0,
    floor: float = FLOOR,
) -> Edges:
    """Return the edge weights of features: weight * exp(-mean_c (f_p - f_q)^2 / (1e-6 + mu^2)).

    The exponential is smoothly kept above `floor` (floor + (1 - floor) * exp(...)), so that every pixel stays
    connected to the rest and the gradient never vanishes altogether.

    Args:
        features: (B, M, H, W).
        mu: The difference of features that counts as one.
        weight: The strongest edge weight, the paper's lambda.
        floor: The weakest edge weight as a part of the strongest, in [0, 1).

    Returns:
        Edges, down (B, H-1, W) and right (B, H, W-1).

    Example:
        >>> import torch, graphsr
        >>> edges = graphsr.affinity(torch.rand(1, 3, 8, 8), 0.5)
        >>> edges.down.shape, edges.right.shape
        (torch.Size([1, 7, 8]), torch.Size([1, 8, 7]))
    """
    if features.ndim != 4:
        raise InputError(f"affinity: features must be (B, M, H, W), not {tuple(features.shape)}")
    scale = 1e-6 + torch.as_tensor(mu, dtype=features.dtype, device=features.device) ** 2
    distance = both_ways(lambda each: each / scale, squared_distance(features))
    return edge_weights(distance, weight=weight, floor=floor)


def squared_distance(features: torch.Tensor) -> Edges:
    """Return mean_c (f_p - f_q)^2 of (B, M, H, W) along every edge."""
    if torch.is_grad_enabled():
        return both_ways(lambda step: step.square().mean(1), differences(features))
    # Channel by channel, in place: a fifth of the time of a mean over channels.
    planes = features.contiguous().unbind(1)
    down = _sum_of_squares([(each[..., :-1, :], each[..., 1:, :]) for each in planes])
    right = _sum_of_squares([(each[..., :-1], each[..., 1:]) for each in planes])
    return Edges(down.mul_(1 / len(planes)), right.mul_(1 / len(planes)))


def power_law_distance(features: torch.Tensor, mu: float, power: float) -> Edges:
    """Return power * log(1 + mean_c (f_p - f_q)^2 / mu^2): edge weights then fall with a power of the difference."""
    if torch.is_grad_enabled():
        return both_ways(lambda each: power * torch.log1p(each), squared_distance(features / mu))
    return both_ways(lambda each: each.mul_(mu**-2).log1p_().mul_(power), squared_distance(features))


def _sum_of_squares(pairs: Sequence[tuple[torch.Tensor, torch.Tensor]]) -> torch.Tensor:
    """Return the sum of (p - q)^2 over pairs (p, q)."""
    total = (pairs[0][0] - pairs[0][1]).square_()
    for p, q in pairs[1:]:
        step = p - q
        total.addcmul_(step, step)
    return total


def edge_weights(distance: Edges, *, weight: torch.Tensor | float, floor: float | Edges) -> Edges:
    """Return weight * (floor + (1 - floor) * exp(-distance)) for every edge."""
    if not isinstance(floor, Edges) and not 0.0 <= floor < 1.0:
        raise InputError(f"affinity: floor must lie in [0, 1), not {floor}")
    down, right = (floor.down, floor.right) if isinstance(floor, Edges) else (floor, floor)
    return Edges(
        weight * (down + (1.0 - down) * torch.exp(-distance.down)),
        weight * (right + (1.0 - right) * torch.exp(-distance.right)),
    )


def energy(edges: Edges, target: torch.Tensor, offsets: Edges | None = None) -> torch.Tensor:
    """Return the graph term, the sum over neighbours of w_pq (y_p - y_q - o_pq)^2.

    Args:
        edges: Edge weights, down (B, H-1, W) and right (B, H, W-1).
        target: (B, K, H, W).
        offsets: Differences to prefer, shaped like edges.

    Returns:
        (B, K), one number for each image and channel.

    Example:
        >>> import torch, graphsr
        >>> edges = graphsr.affinity(torch.rand(1, 3, 8, 8), 0.5)
        >>> float(graphsr.energy(edges, torch.ones(1, 1, 8, 8)))
        0.0
    """
    each = edge_energies(edges, target, offsets)
    return each.down.sum((-2, -1)) + each.right.sum((-2, -1))


def edge_energies(edges: Edges, target: torch.Tensor, offsets: Edges | None = None) -> Edges:
    """Return w_pq (y_p - y_q - o_pq)^2 along every edge, (B, K, ...); offsets (B, [K,] ...), else as in `energy`."""
    step = differences(target)
    if offsets is not None:
        step = both_ways(torch.sub, step, both_ways(with_channels, offsets))
    return both_ways(lambda weight, jump: weight.unsqueeze(-3) * jump.square(), edges, step)


def with_channels(offset: torch.Tensor) -> torch.Tensor:
    """Return offsets (B, [K,] ...) with an axis for the channels."""
    return offset.unsqueeze(1) if offset.ndim == 3 else offset
