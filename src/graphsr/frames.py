"""Frames in, frames out, each begun from the one before: `graphsr.upsample_frames`."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from numbers import Real
from typing import Literal, NamedTuple

import numpy as np
import torch

from graphsr.errors import InputError
from graphsr.measurements.stillness import still_pixels
from graphsr.models.base import Model, Result
from graphsr.models.window import Window
from graphsr.models.wrapper import Wrapper
from graphsr.options import UpsamplingOptions
from graphsr.solver import Problem
from graphsr.upsampling import Upsampled, upsample_with

# How many frames are averaged where nothing moves, unless another number is asked for.
STEADY = 8.0


def upsample_frames(
    frames: Iterable[tuple[np.ndarray, np.ndarray]],
    *,
    model: str | os.PathLike[str] | Model = "default",
    steady: bool | float = False,
    confidence: np.ndarray | float | None = None,
    exact: bool = False,
    noise: float | Literal["auto"] | None = None,
    robust: bool | float = False,
    rtol: float | None = None,
) -> Iterator[Upsampled]:
    """Upsample the frames of a video one after another; each solve begins at the target before.

    Args:
        frames: Guides (H, W[, C]) with their sources (h, w[, K]), as in `graphsr.upsample`, all of the same sizes; they
            are taken one by one, so any iterator will do.
        model: As in `graphsr.upsample`.
        steady: Whether to draw pixels that stood still towards the target before, which takes the flicker of a noisy
            source away; a number says over how many frames they are averaged at the most.
        confidence: As in `graphsr.upsample`, the same for all frames; a pixel that is missing in one frame is NaN.
        exact: As in `graphsr.upsample`. What `steady` can do is then little.
        noise: As in `graphsr.upsample`; "auto" estimates it for every frame. With `steady` less of it is left.
        robust: As in `graphsr.upsample`: every frame's own source pixels are judged.
        rtol: As in `graphsr.upsample`.

    Returns:
        An iterator over the results, each of which is there as soon as its frame is done. An error in a frame says its
        number, from 0; one in an option is raised at once.

    Example:
        >>> import numpy as np, graphsr
        >>> frames = ((np.random.rand(16, 24, 3), np.random.rand(4, 6)) for _ in range(3))
        >>> [result.target.shape for result in graphsr.upsample_frames(frames, model="colour")]
        [(16, 24), (16, 24), (16, 24)]
    """
    options = UpsamplingOptions(model, confidence, exact, noise, robust, rtol=rtol)
    following = Following(options.load_model(), steady)
    options.check_model(following)  # what is wrong with these is no frame's fault
    return (_upsampled(number, frame, following, options) for number, frame in enumerate(frames))


def _upsampled(
    number: int, frame: tuple[np.ndarray, np.ndarray], model: Following, options: UpsamplingOptions
) -> Upsampled:
    """Upsample one frame; errors say its number."""
    try:
        guide, source = frame
    except (TypeError, ValueError):
        raise InputError(f"frame {number}: must be two arrays, a guide and its source") from None
    try:
        return upsample_with(options, guide, source, model)
    except InputError as error:
        raise InputError(f"frame {number}: {error}") from error


class _Before(NamedTuple):
    """The frame before: its guide (B, C, H, W), its target (B, K, H, W), and over how many frames it is a mean."""

    guide: torch.Tensor
    target: torch.Tensor
    age: torch.Tensor  # (B, 1, H, W)


@dataclass
class _Memory:
    """What is kept between calls: the guide of the problem that is being made, and the frame before."""

    guide: torch.Tensor | None = None
    before: _Before | None = None


class Following(Wrapper):
    """Another model, whose solves begin at the target before; it remembers one frame.

    With `steady` the target before is a prior as well. Its weight at a pixel is that of the source there times the
    number of frames that the pixel has stood still: the target is the mean over them, and after so many frames as
    `steady` says a running mean. All of this is done when a problem is finished, as what is said of noise and outliers
    changes the weight of the source before.
    """

    def __init__(self, model: Model, steady: bool | float = False) -> None:
        super().__init__(model, bytes_per_channel=64)
        self.most_frames = _most_frames(steady)
        self._memory = _Memory()  # shared with copies of this model that differ in how they weigh the source

    def prepare(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
        window: Window | None = None,
    ) -> Problem | torch.Tensor:
        self._memory.guide = guide
        return self.model.prepare(guide, source, confidence=confidence, exact=exact, window=window)

    def finish(self, prepared: Problem | torch.Tensor, offset: torch.Tensor | None = None) -> Result:
        guide, before = self._memory.guide, self._memory.before
        assert guide is not None
        age = torch.zeros_like(guide[:, :1])
        if isinstance(prepared, Problem) and before is not None and _alike(before, guide, prepared):
            # The target before is not centred, or not by the mean of this source.
            target = (before.target if offset is None else before.target.double() - offset).to(prepared.source)
            known = (prepared.confidence > 0).expand_as(prepared.source)
            still = still_pixels((guide, before.guide), prepared.source, known, target, prepared.sampling).to(target)
            prepared = replace(prepared, start=still * target + (1 - still) * prepared.start)
            if self.most_frames:
                age = (still * before.age.to(still)).clamp_max(self.most_frames - 1)
                prepared = _with_prior(prepared, target, age)
        result = super().finish(prepared, offset)
        self._memory.before = _Before(guide, result.target, age + 1)
        return result


def _most_frames(steady: object) -> float:
    """Return over how many frames pixels are averaged at the most, 0 for none; InputError if that is no number."""
    if isinstance(steady, (bool, np.bool_)):
        return STEADY if steady else 0.0
    frames = float(steady) if isinstance(steady, Real) else math.nan
    if not 1 <= frames < math.inf:
        raise InputError(f"steady: must be True, False or a number of frames, at least 1, not {steady!r}")
    return frames


def _alike(before: _Before, guide: torch.Tensor, problem: Problem) -> bool:
    """Return whether the frame before has the size and the channels of a guide (B, C, H, W) and a problem."""
    return before.guide.shape == guide.shape and before.target.shape[:2] == problem.source.shape[:2]


def _with_prior(problem: Problem, target: torch.Tensor, frames: torch.Tensor) -> Problem:
    """Return the problem with a prior on `target` (B, K, H, W) that counts as so many frames (B, 1, H, W)."""
    confidence = problem.confidence.mean(1, keepdim=True)
    known = confidence > 0
    usual = (confidence.sum((-2, -1)) / known.sum((-2, -1)))[..., None, None]  # for holes, which flicker most
    weight = (frames * problem.sampling.adjoint(torch.where(known, confidence, usual)))[:, 0]
    total = problem.prior_weight + weight
    share = torch.where(total > 0, weight / total.clamp_min(1e-30), 0.0)[:, None]
    return replace(problem, prior=share * target + (1 - share) * problem.prior, prior_weight=total)
