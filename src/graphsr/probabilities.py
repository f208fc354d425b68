"""Scores of classes: what makes a source one of probabilities, and a target that stays one."""

from __future__ import annotations

import numpy as np
import torch

from graphsr.errors import InputError
from graphsr.sampling import Sampling

# How far the scores of a source pixel may sum from 1: 8-bit scores of many classes are rounded by so much.
_SUM_TOLERANCE = 0.02
# Rounds of fitting averages and sums in turn (docs/evidence/channels-and-frames.md).
_ROUNDS = 5
_NEGLIGIBLE = 1e-12


KINDS = ("values", "probabilities")


def check_kind(kind: str, exact: bool, footprint: str = "box") -> None:
    """Check the argument `kind` of `graphsr.upsample`, and that it can be had together with the others."""
    if footprint != "box" and kind == "probabilities":
        raise InputError(
            "kind='probabilities' keeps averages over the area of source pixels; leave footprint out, or kind"
        )
    if kind not in KINDS:
        raise InputError(f"kind: must be one of {', '.join(map(repr, KINDS))}, not {kind!r}")
    if exact and kind == "probabilities":
        raise InputError(
            "kind='probabilities' keeps averages only nearly, so it cannot be exact; leave one of them out"
        )


def check_probabilities(source: np.ndarray) -> np.ndarray:
    """Check a source (h, w, K) of scores, NaN is missing; return them in sum 1, missing pixels so in all channels.

    Raises:
        InputError: If it has one channel only, negative scores, or scores that do not sum to 1.
    """
    if source.ndim != 3 or source.shape[2] < 2:
        raise InputError(
            f"source: with kind='probabilities' it must be (h, w, K) with the scores of K >= 2 classes, not "
            f"{source.shape}; of one class p, give np.stack([1 - p, p], axis=2)"
        )
    scores = source.astype(np.float64)
    sums = scores.sum(2)  # NaN where any is
    if np.nanmin(scores, initial=0.0) < 0:
        raise InputError(
            f"source: with kind='probabilities' no score may be negative, and the smallest is {np.nanmin(scores):.3g}; "
            "of logits, take the softmax over the classes first"
        )
    known = ~np.isnan(sums)
    if known.any() and np.abs(sums[known] - 1).max() > _SUM_TOLERANCE:
        raise InputError(
            "source: with kind='probabilities' the scores of a pixel must sum to 1, and here they sum to "
            f"{sums[known].min():.3g} to {sums[known].max():.3g}; divide them by it, or take the softmax of logits"
        )
    return np.where(known[..., None], scores / np.where(known, sums, 1.0)[..., None], np.nan)


def as_probabilities(target: torch.Tensor, sampling: Sampling) -> torch.Tensor:
    """Make the channels of a target probabilities: none negative, sum 1, averages as they were.

    Scores are set to 0 where they are negative. That changes averages and sums, which are restored in turn by
    multiplication (iterative proportional fitting): a class that is absent from a pixel stays so.

    Args:
        target: (B, K, H, W), which is changed.
        sampling: What the averages are of: the footprints of the source's pixels.

    Returns:
        The target. Its channels sum to 1; averages are kept up to what five rounds leave.
    """
    wanted = torch.stack([sampling(channel) for channel in target.unbind(1)], 1).clamp_min_(0)
    target.clamp_min_(0)
    whole = sampling.adjoint(torch.ones_like(wanted[:, 0]))
    _divide_by_sum(target)
    for _ in range(_ROUNDS):
        for channel, average in zip(target.unbind(1), wanted.unbind(1), strict=True):  # one by one: memory
            ratio = average / sampling(channel).clamp_min(_NEGLIGIBLE)
            # A pixel in no source pixel is in no average.
            channel.mul_(torch.where(whole > 0, sampling.adjoint(ratio) / whole, 1.0))
        _divide_by_sum(target)
    return target


def _divide_by_sum(target: torch.Tensor) -> None:
    total = target.sum(1, keepdim=True)
    # Where all are 0, which only rounding can do, no class is more likely than another.
    target.masked_fill_(total <= _NEGLIGIBLE, 1.0)
    target.div_(torch.where(total <= _NEGLIGIBLE, float(target.shape[1]), total))
