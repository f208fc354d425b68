"""The problem of a solve: all that goes in, checked where it is made."""

from __future__ import annotations

import copy
from dataclasses import dataclass, fields, replace
from typing import Any

import torch

from graphsr.errors import InputError
from graphsr.graph import Edges, both_ways
from graphsr.sampling import Sampling, interpolate_source
from graphsr.scaling import all_finite

DEFAULT_RTOL = 1e-4


@dataclass(frozen=True, eq=False, init=False)
class Problem:
    """One batch of least-squares problems on the pixel graph, in the units of the source.

    The target y minimises

        sum conf (D y - s)^2  +  sum w (y_p - y_q - o)^2  +  sum t (y - z)^2

    or, with `exact`, the last two sums among the targets that average back to the source. Everything is checked and
    brought into one form when a Problem is made: a batch axis everywhere, missing source pixels 0 with confidence 0.
    `dataclasses.replace` makes a changed one.

    Attributes:
        edges: Edge weights w, down (B, H-1, W) and right (B, H, W-1), positive.
        sampling: D, which averages the target over the footprint of every source pixel.
        source: s (B, K, h, w) float32 or float64. NaN is missing.
        confidence: (B, 1 or K, h, w), 0 is missing. Default 1. With `exact` it only says which pixels are known. Pixels
            that lie outside the target count as missing.
        prior: z (B, K, H, W). Default the interpolated source.
        prior_weight: t, a number, (B, H, W), or (B, 1, 1). Default 0.
        offsets: Differences o = y_p - y_q to prefer along the edges, shaped like edges, or with a channel axis.
        exact: Whether the target averages back to the source exactly.
        start: (B, K, H, W) where the iteration begins. Default the interpolated source. It does not change the answer.
        rtol: RMS error allowed of the target against the exact minimiser, relative to the source's standard deviation.
    """

    edges: Edges
    sampling: Sampling
    source: torch.Tensor
    confidence: torch.Tensor
    prior: torch.Tensor
    prior_weight: torch.Tensor
    offsets: Edges | None
    exact: bool
    start: torch.Tensor
    rtol: float

    def __init__(
        self,
        edges: Edges,
        sampling: Sampling,
        source: torch.Tensor,
        confidence: torch.Tensor | None = None,
        prior: torch.Tensor | None = None,
        prior_weight: torch.Tensor | float | None = None,
        offsets: Edges | None = None,
        exact: bool = False,
        start: torch.Tensor | None = None,
        rtol: float = DEFAULT_RTOL,
    ) -> None:
        if not 0 < rtol < 1:
            raise InputError(f"solve: rtol must lie between 0 and 1, not {rtol}")
        source, confidence = _checked_source(source, confidence)
        if sampling.source_size != tuple(source.shape[-2:]):
            raise InputError(f"solve: {sampling} is not for a source of shape {tuple(source.shape)}")
        _check_edges(edges, source.shape[0], sampling.size, source.dtype)
        if prior is not None and prior_weight is None:
            raise InputError("solve: a prior needs a prior_weight")
        shape = (*source.shape[:2], *sampling.size)
        if start is None or prior is None:
            # Where the interpolated source is the prior, the target follows it.
            followed = prior is None and prior_weight is not None
            interpolated = interpolate_source(
                source if followed else source.detach(), sampling, confidence.detach() > 0
            )
            start, prior = (interpolated if each is None else each for each in (start, prior))
        confidence = _seen_confidence(confidence, sampling)
        if offsets is not None:
            _check_offsets(offsets, shape)
        weight = _checked_prior_weight(0.0 if prior_weight is None else prior_weight, source, sampling.size)
        same = prior is start
        prior = _checked_like_target("prior", prior, shape, source.dtype)
        start = prior if same else _checked_like_target("start", start, shape, source.dtype)
        for name, value in (
            ("edges", edges),
            ("sampling", sampling),
            ("source", source),
            ("confidence", confidence),
            ("prior", prior),
            ("prior_weight", weight),
            ("offsets", offsets),
            ("exact", exact),
            ("start", start.detach()),
            ("rtol", rtol),
        ):
            object.__setattr__(self, name, value)

    def with_rtol(self, rtol: float) -> Problem:
        """Return the same problem with another tolerance, without checking everything else again."""
        other = copy.copy(self)
        object.__setattr__(other, "rtol", rtol)
        return other

    def to(self, target: torch.dtype | torch.device | str) -> Problem:
        """Return the same problem in another precision or on another device."""

        def moved(value: Any) -> Any:
            if isinstance(value, Edges):
                return both_ways(moved, value)
            return value.to(target) if isinstance(value, torch.Tensor) else value

        return replace(self, **{field.name: moved(getattr(self, field.name)) for field in fields(self)})


def _check_edges(edges: Edges, batch: int, size: tuple[int, int], dtype: torch.dtype) -> None:
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


def _checked_source(source: torch.Tensor, confidence: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
    """Return the source (B, K, h, w) with 0 at missing pixels, and a confidence (B, 1 or K, h, w) that is 0 there."""
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
    confidence = torch.ones_like(source[:, :1]) if confidence is None else _checked_confidence(confidence, source)
    if not bool(known.all()):
        source = torch.where(known, source, torch.zeros_like(source))
        same = bool((known == known[:, :1]).all())
        confidence = confidence * (known[:, :1] if same else known).to(confidence.dtype)
    _check_any_known(confidence, source.shape[1], "is missing")
    return source, confidence


def _seen_confidence(confidence: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Return a confidence (B, 1 or K, h, w) that is 0 for source pixels outside the target."""
    if bool((sampling.visible > 0).all()):
        return confidence
    inside = torch.as_tensor(sampling.visible > 0, dtype=confidence.dtype, device=confidence.device)
    confidence = confidence * inside
    _check_any_known(confidence, confidence.shape[1], "is missing or lies outside the target")
    return confidence


def _check_any_known(confidence: torch.Tensor, channels: int, what: str) -> None:
    """Raise an error unless every image and channel has a pixel with a confidence (B, 1 or K, h, w) above 0."""
    missing = (confidence <= 0).flatten(2).all(2).expand(confidence.shape[0], channels)
    if bool(missing.any()):
        image, channel = (int(i) for i in missing.nonzero()[0])
        raise InputError(f"solve: every pixel of source[{image}, {channel}] {what}; at least one must be known")


def _checked_confidence(confidence: torch.Tensor, source: torch.Tensor) -> torch.Tensor:
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


def _checked_like_target(name: str, values: torch.Tensor, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
    try:
        values = values.expand(shape)
    except RuntimeError:
        raise InputError(f"solve: {name} must have the target's shape {shape}, not {tuple(values.shape)}") from None
    if not all_finite(values):
        raise InputError(f"solve: {name} holds NaN or infinity")
    return values.to(dtype)


def _checked_prior_weight(weight: torch.Tensor | float, like: torch.Tensor, size: tuple[int, int]) -> torch.Tensor:
    """Return (B, H, W), or (B, 1, 1) for one number."""
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


def _check_offsets(offsets: Edges, shape: tuple[int, ...]) -> None:
    """Check offsets (B, ...) or (B, 1 or K, ...) for a target of `shape` (B, K, H, W)."""
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
        if not all_finite(values):
            raise InputError(f"solve: offsets.{name} holds NaN or infinity")
