"""The pixel graph: how strongly each pixel is tied to its four neighbours."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from graphsr.errors import InputError

# The floor of an affinity. Below it pixels would be islands that no term of the energy holds in place; with it
# the minimiser is defined and a solve is well conditioned. It is small against every tie a fitted model uses.
FLOOR = 1e-4


@dataclass(frozen=True)
class Edges:
    """Weights of a pixel lattice: `down` (B, H-1, W) ties (i, j) to (i+1, j), `right` (B, H, W-1) to (i, j+1)."""

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
        return self.right.shape[-2], self.down.shape[-1]


def differences(values: torch.Tensor) -> Edges:
    """y_p - y_q along every edge of (..., H, W), p being the upper or left pixel."""
    return Edges(values[..., :-1, :] - values[..., 1:, :], values[..., :-1] - values[..., 1:])


def affinity(
    features: torch.Tensor,
    mu: torch.Tensor | float,
    *,
    weight: torch.Tensor | float = 1.0,
    floor: float = FLOOR,
) -> Edges:
    """Edge weights of (B, M, H, W) features: weight * exp(-mean_c (f_p - f_q)^2 / (1e-6 + mu^2)).

    The exponential is smoothly kept above `floor` (floor + (1 - floor) * exp(...)), so that every pixel stays
    tied to the rest and the gradient never vanishes altogether. `weight` is the paper's lambda.
    """
    if features.ndim != 4:
        raise InputError(f"affinity: features must be (B, M, H, W), not {tuple(features.shape)}")
    scale = 1e-6 + torch.as_tensor(mu, dtype=features.dtype, device=features.device) ** 2
    apart = squared_distance(features)
    return edge_weights(Edges(apart.down / scale, apart.right / scale), weight=weight, floor=floor)


def squared_distance(features: torch.Tensor) -> Edges:
    """mean_c (f_p - f_q)^2 of (B, M, H, W) along every edge."""
    step = differences(features)
    return Edges(step.down.square().mean(1), step.right.square().mean(1))


def power_law_distance(features: torch.Tensor, mu: float, power: float) -> Edges:
    """power * log(1 + mean_c (f_p - f_q)^2 / mu^2): ties then fall with a power of the difference, and not abruptly."""
    apart = squared_distance(features / mu)
    return Edges(power * torch.log1p(apart.down), power * torch.log1p(apart.right))


def edge_weights(apart: Edges, *, weight: torch.Tensor | float, floor: float | Edges) -> Edges:
    """Edge weights from how far apart pixels are: weight * (floor + (1 - floor) * exp(-apart))."""
    if not isinstance(floor, Edges) and not 0.0 <= floor < 1.0:
        raise InputError(f"affinity: floor must lie in [0, 1), not {floor}")
    down, right = (floor.down, floor.right) if isinstance(floor, Edges) else (floor, floor)
    return Edges(
        weight * (down + (1.0 - down) * torch.exp(-apart.down)),
        weight * (right + (1.0 - right) * torch.exp(-apart.right)),
    )


def energy(edges: Edges, target: torch.Tensor, offsets: Edges | None = None) -> torch.Tensor:
    """Sum over neighbours of w_pq (y_p - y_q - o_pq)^2 for each image and channel: (B, K, H, W) -> (B, K)."""
    step = differences(target)
    down, right = step.down, step.right
    if offsets is not None:
        down, right = down - offsets.down.unsqueeze(-3), right - offsets.right.unsqueeze(-3)
    return (edges.down.unsqueeze(-3) * down.square()).sum((-2, -1)) + (edges.right.unsqueeze(-3) * right.square()).sum(
        (-2, -1)
    )
