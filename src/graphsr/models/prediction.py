"""What a network says of a pair, and how the predictions for parts of a batch are put together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import torch

from graphsr.graph import Edges, both_ways, stack_strips


class Prediction(NamedTuple):
    """What the network says of a pair, in standard deviations of the source about its mean."""

    edges: Edges
    offsets: Edges | None  # (B, 1, ...); None of several channels: they are those of the one plane that was seen


def join_images(parts: Sequence[Prediction]) -> Prediction:
    """Join the predictions of some images each."""
    return _joined(parts, _stacked_images)


def join_strips(parts: Sequence[Prediction]) -> Prediction:
    """Join the predictions of strips of rows, from top to bottom; all but the last have a row of the next one too."""
    return _joined(parts, stack_strips)


def _joined(parts: Sequence[Prediction], join: Callable[[Sequence[Edges]], Edges]) -> Prediction:
    offsets = [part.offsets for part in parts if part.offsets is not None]
    return Prediction(join([part.edges for part in parts]), join(offsets) if offsets else None)


def _stacked_images(parts: Sequence[Edges]) -> Edges:
    return parts[0] if len(parts) == 1 else both_ways(lambda *each: torch.cat(each), *parts)
