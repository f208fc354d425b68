"""The problem a solve is given, checked once and put into one form for both paths."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from graphsr.errors import InputError
from graphsr.graph import Edges
from graphsr.sampling import Sampling


@dataclass(frozen=True)
class Problem:
    """One batch. Every source pixel is either known, with a positive confidence, or has confidence 0.

    The right-hand side is D^T C source + push. Under `exact` the confidence only says which pixels are known.
    """

    edges: Edges  # (B, H-1, W), (B, H, W-1)
    sampling: Sampling
    confidence: torch.Tensor  # (B, 1 or K, h, w)
    ground: torch.Tensor  # (B, H, W), or (B, 1, 1) where it is the same everywhere
    exact: bool


def check_edges(edges: Edges, batch: int, size: tuple[int, int], dtype: torch.dtype) -> None:
    if edges.size != tuple(size):
        raise InputError(f"solve: the edges are for a target of {edges.size}, but size is {tuple(size)}")
    if edges.down.ndim != 3 or edges.down.shape[0] != batch:
        raise InputError(
            f"solve: edges.down must be (B, H-1, W) with B = {batch} as in the source, not {tuple(edges.down.shape)}"
        )
    for name, weights in (("down", edges.down), ("right", edges.right)):
        if weights.dtype != dtype:
            raise InputError(f"solve: edges.{name} ({weights.dtype}) and source ({dtype}) must have the same dtype")
        if weights.numel():
            _check_weights(name, *(float(end) for end in torch.aminmax(weights.detach())))


def _check_weights(name: str, least: float, most: float) -> None:
    if not most < float("inf"):
        raise InputError(f"solve: edges.{name} holds NaN or infinity; edge weights must be finite")
    if least < 0:
        raise InputError(f"solve: edges.{name} holds negative weights; edge weights must be positive")
    if least == 0:
        raise InputError(
            f"solve: edges.{name} holds zeros, which leave pixels that nothing holds in place; give every edge "
            "a small positive weight (graphsr.affinity does)"
        )


def check_source(source: torch.Tensor, confidence: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
    """The source with missing pixels set to 0, and a confidence that is 0 there. (B, K, h, w), (B, 1 or K, h, w)."""
    if source.ndim != 4:
        raise InputError(f"solve: source must be (B, K, h, w), not {tuple(source.shape)}")
    if not source.dtype.is_floating_point or source.dtype not in (torch.float32, torch.float64):
        raise InputError(f"solve: source must be float32 or float64, not {source.dtype}")
    if bool(torch.isinf(source).any()):
        raise InputError("solve: source holds infinity; missing source pixels are NaN (or have confidence 0)")
    largest = torch.finfo(source.dtype).max ** 0.5  # room for squares
    if bool((source.abs() > largest).any()):
        raise InputError(f"solve: source holds numbers beyond {largest:.0e}, too large for {source.dtype}")
    known = torch.isfinite(source)
    confidence = torch.ones_like(source[:, :1]) if confidence is None else _as_confidence(confidence, source)
    if not bool(known.all()):
        source = torch.where(known, source, torch.zeros_like(source))
        same = bool((known == known[:, :1]).all())
        confidence = confidence * (known[:, :1] if same else known).to(confidence.dtype)
    missing = (confidence <= 0).flatten(2).all(2).expand(source.shape[:2])
    if bool(missing.any()):
        image, channel = (int(i) for i in missing.nonzero()[0])
        raise InputError(f"solve: every pixel of source[{image}, {channel}] is missing; at least one must be known")
    return source, confidence


def _as_confidence(confidence: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
    if confidence.ndim == 3:
        confidence = confidence.unsqueeze(1)
    allowed = [(source.shape[0], k, *source.shape[2:]) for k in (1, source.shape[1])]
    if tuple(confidence.shape) not in allowed:
        raise InputError(
            f"solve: confidence must be {allowed[0]} or {allowed[1]} to go with the source, "
            f"not {tuple(confidence.shape)}"
        )
    if not bool(torch.isfinite(confidence).all()):
        raise InputError("solve: confidence holds NaN or infinity; use 0 for missing source pixels")
    if bool((confidence < 0).any()):
        raise InputError("solve: confidence holds negative values; it must be 0 (missing) or positive")
    confidence = confidence.to(source.dtype)
    if not bool(torch.isfinite(confidence).all()):
        raise InputError(f"solve: confidence holds numbers too large for {source.dtype}")
    # The reciprocal of anything smaller is infinite.
    return torch.where(confidence < 1 / torch.finfo(source.dtype).max ** 0.5, torch.zeros_like(confidence), confidence)


def check_like_target(name: str, values: torch.Tensor, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    try:
        values = values.expand(shape)
    except RuntimeError:
        raise InputError(f"solve: {name} must have the target's shape {shape}, not {tuple(values.shape)}") from None
    if not bool(torch.isfinite(values).all()):
        raise InputError(f"solve: {name} holds NaN or infinity")
    return values.to(dtype)


def check_prior_weight(weight: torch.Tensor | float, like: torch.Tensor, size: tuple[int, int]) -> torch.Tensor:
    """(B, H, W), or (B, 1, 1) for one number."""
    weight = torch.as_tensor(weight, dtype=like.dtype, device=like.device)
    if weight.ndim == 0:
        weight = weight.expand(like.shape[0], 1, 1)
    elif weight.ndim == 4 and weight.shape[1] == 1:
        weight = weight[:, 0]
    if tuple(weight.shape) not in [(like.shape[0], *size), (like.shape[0], 1, 1)]:
        raise InputError(
            f"solve: prior_weight must be one number or {(like.shape[0], *size)} (channels share it), "
            f"not {tuple(weight.shape)}"
        )
    if not bool(torch.isfinite(weight).all()) or bool((weight < 0).any()):
        raise InputError("solve: prior_weight must be finite and not negative")
    return weight


def check_offsets(offsets: Edges, shape: tuple[int, ...]) -> Edges:
    """Offsets (B, ...) or (B, 1 or K, ...) for a target of `shape` (B, K, H, W)."""
    batch, channels, *size = shape
    if offsets.size != tuple(size):
        raise InputError(f"solve: the offsets are for a target of {offsets.size}, but size is {tuple(size)}")
    for name, values in (("down", offsets.down), ("right", offsets.right)):
        leading = tuple(values.shape[:-2])
        if leading not in ((batch,), (batch, 1), (batch, channels)):
            raise InputError(
                f"solve: offsets.{name} must begin with ({batch},) or ({batch}, {channels}) as batch and channels of "
                f"the source, not {leading}"
            )
        if not bool(torch.isfinite(values).all()):
            raise InputError(f"solve: offsets.{name} holds NaN or infinity")
    return offsets


def edge_flow(edges: Edges, offsets: Edges) -> torch.Tensor:
    """B^T W o: what the offsets add to the right-hand side. Offsets (B, [K,] ...) -> (B, 1 or K, H, W)."""
    down, right = offsets.down, offsets.right
    if down.ndim == 3:
        down, right = down.unsqueeze(1), right.unsqueeze(1)
    down, right = edges.down.unsqueeze(1) * down, edges.right.unsqueeze(1) * right
    height, width = edges.size
    flow = down.new_zeros((*down.shape[:2], height, width))
    flow[..., :-1, :] += down
    flow[..., 1:, :] -= down
    flow[..., :-1] += right
    flow[..., 1:] -= right
    return flow
