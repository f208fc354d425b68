"""Frames in, frames out, each begun from the one before: `graphsr.upsample_frames`."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import ClassVar, NamedTuple

import numpy as np
import torch

from graphsr.errors import InputError
from graphsr.measurements.stillness import still_pixels
from graphsr.models.base import Model, Result
from graphsr.models.registry import load
from graphsr.models.window import Window
from graphsr.solver import Problem
from graphsr.upsampling import Upsampled, upsample

# How many frames are averaged where nothing moves, unless another number is asked for.
STEADY = 8.0


def upsample_frames(
    frames: Iterable[tuple[np.ndarray, np.ndarray]],
    *,
    model: str | os.PathLike[str] | Model = "default",
    steady: bool | float = False,
    exact: bool = False,
) -> Iterator[Upsampled]:
    """Upsample the frames of a video one after another; each solve begins at the target before.

    Args:
        frames: Guides (H, W[, C]) with their sources (h, w[, K]), as in `graphsr.upsample`, all of the same sizes; they
            are taken one by one, so any iterator will do.
        model: As in `graphsr.upsample`.
        steady: Whether to draw pixels that stood still towards the target before, which takes the flicker of a noisy
            source away; a number says over how many frames they are averaged at the most.
        exact: As in `graphsr.upsample`. What `steady` can do is then little.

    Returns:
        An iterator over the results, each of which is there as soon as its frame is done.

    Example:
        >>> import numpy as np, graphsr
        >>> frames = ((np.random.rand(16, 24, 3), np.random.rand(4, 6)) for _ in range(3))
        >>> [result.target.shape for result in graphsr.upsample_frames(frames, model="colour")]
        [(16, 24), (16, 24), (16, 24)]
    """
    following = Following(model if isinstance(model, Model) else load(model), steady)
    for number, (guide, source) in enumerate(frames):
        try:
            yield upsample(guide, source, model=following, exact=exact)
        except InputError as error:
            raise InputError(f"frame {number}: {error}") from error


class _Before(NamedTuple):
    """The frame before: its guide (B, C, H, W), its target (B, K, H, W), and over how many frames it is a mean."""

    guide: torch.Tensor
    target: torch.Tensor
    age: torch.Tensor  # (B, 1, H, W)


class Following(Model):
    """Another model, whose solves begin at the target before; it remembers one frame.

    With `steady` the target before is a prior as well. Its weight at a pixel is that of the source there times the
    number of frames that the pixel has stood still: the target is the mean over them, and after so many frames as
    `steady` says a running mean.
    """

    # The target before would be centred by another mean than the source.
    shift_equivariant: ClassVar[bool] = False

    def __init__(self, model: Model, steady: bool | float = False) -> None:
        super().__init__()
        most = STEADY if steady is True else float(steady)
        if steady is not False and not 1 <= most < float("inf"):
            raise InputError(f"steady: must be a number of frames, at least 1, not {steady}")
        self.model, self.rtol = model, model.rtol
        self.most_frames = most
        self._before: _Before | None = None
        self._age: torch.Tensor | None = None

    def bytes_per_pixel(self, channels: int) -> int:
        return self.model.bytes_per_pixel(channels) + 32 * (1 + channels)

    def select_channels(self, guide: torch.Tensor) -> torch.Tensor:
        return self.model.select_channels(guide)

    def prepare(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
        window: Window | None = None,
    ) -> Problem | torch.Tensor:
        prepared = self.model.prepare(guide, source, confidence=confidence, exact=exact, window=window)
        before, self._age = self._before, None
        if isinstance(prepared, torch.Tensor) or before is None:
            return prepared
        if before.guide.shape != guide.shape or before.target.shape[:2] != source.shape[:2]:
            return prepared
        known = (prepared.confidence > 0).expand_as(prepared.source)
        target = before.target.to(prepared.source)
        still = still_pixels((guide, before.guide), prepared.source, known, target, prepared.sampling)
        still = still.to(target)
        started = replace(prepared, start=still * target + (1 - still) * prepared.start)
        if not self.most_frames:
            return started
        self._age = (still * before.age.to(still)).clamp_max(self.most_frames - 1)
        return _with_prior(started, target, self._age)

    def _run(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        confidence: torch.Tensor | None,
        exact: bool,
        window: Window | None,
    ) -> Result:
        result = super()._run(guide, source, confidence, exact, window)
        first = torch.zeros_like(guide[:, :1])
        self._before = _Before(guide, result.target, (first if self._age is None else self._age) + 1)
        return result


def _with_prior(problem: Problem, target: torch.Tensor, frames: torch.Tensor) -> Problem:
    """Return the problem with a prior on `target` (B, K, H, W) that counts as so many frames (B, 1, H, W)."""
    confidence = problem.confidence.mean(1, keepdim=True)
    known = confidence > 0
    usual = (confidence.sum((-2, -1)) / known.sum((-2, -1)))[..., None, None]  # for holes, which flicker most
    weight = (frames * problem.sampling.adjoint(torch.where(known, confidence, usual)))[:, 0]
    total = problem.prior_weight + weight
    share = torch.where(total > 0, weight / total.clamp_min(1e-30), 0.0)[:, None]
    return replace(problem, prior=share * target + (1 - share) * problem.prior, prior_weight=total)
