"""What is said of the errors of a source, noise and outliers, and the problem that follows from it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from graphsr.centring import WIDE, centred
from graphsr.measurements.matching import match_noise
from graphsr.measurements.noise import Noise, estimate_noise, resolve_noise, stated_confidence
from graphsr.measurements.outliers import find_inliers
from graphsr.models.base import Model, Result, whole
from graphsr.sampling import Sampling
from graphsr.scaling import Scale, known_pixels
from graphsr.solver import Problem
from graphsr.solver.progress import part

_log = logging.getLogger("graphsr")
# A source pixel whose predicted noise is so many times what is stated, and what is predicted for most, is an outlier.
_OUTLIER = 5.0
# Where outliers have been found, and the graph without them made, as parts of the time until the target.
_OUTLIERS_FOUND, _GRAPH_MADE = 0.85, 0.95


@dataclass(frozen=True)
class SourceErrors:
    """What is said of the errors of a source.

    Attributes:
        noise: Standard deviation of its noise in its own units, or "auto"; None: nothing is said, the model decides.
        robust: Whether to switch outliers off; a number is the error from which on a pixel is one.
    """

    noise: Noise | None = None
    robust: bool | float = False

    @property
    def said(self) -> bool:
        """Return whether anything is."""
        return self.noise is not None or self.robust is not False


@dataclass(frozen=True, eq=False)
class Weighed:
    """A problem whose confidence follows from the errors of the source.

    Attributes:
        problem: To be solved.
        noise: Standard deviation of the noise (B, K, 1, 1) in the units of the source; None: nothing was said of it.
        outliers: (B, h, w) which source pixels are switched off, in one channel or more.
    """

    problem: Problem
    noise: Tensor | None
    outliers: Tensor

    @property
    def switched_off(self) -> int:
        """Return how many source pixels are."""
        return int(self.outliers.sum())


def run_weighed(
    model: Model,
    guide: Tensor,
    source: Tensor,
    *,
    confidence: Tensor | None,
    exact: bool,
    errors: SourceErrors,
    sampling: Sampling | None = None,
) -> tuple[Result, Weighed]:
    """Run a model on a pair whose source has errors; arguments as in `Model.run`.

    `sampling` says where the source lies and what its pixels average over; default boxes edge to edge.
    """
    model = model.without_restoration()  # what is stated takes the place of what it predicts
    known = known_pixels(source, confidence)
    mean = None
    if source.dtype in WIDE:
        source, mean = centred(source.double(), known)
    own = next((p.dtype for p in model.parameters()), torch.float32)
    weighed = _weigh_pair(model, guide.to(own), source.to(own), confidence, exact, errors, sampling)
    if 2 * weighed.switched_off > int(known.any(1).sum()):
        _log.warning(
            "robust: %d source pixels are switched off, more than half; is the error in the units of the source?",
            weighed.switched_off,
        )
    if weighed.noise is not None and errors.noise not in ("auto", 0):
        weighed = replace(weighed, problem=match_noise(weighed.problem, weighed.noise))
    return model.finish(weighed.problem, mean), weighed


def _weigh_pair(
    model: Model,
    guide: Tensor,
    source: Tensor,
    confidence: Tensor | None,
    exact: bool,
    errors: SourceErrors,
    sampling: Sampling | None,
) -> Weighed:
    known = known_pixels(source, confidence)
    measured = torch.where(known, source, torch.nan)
    noise = None if errors.noise is None else resolve_noise(errors.noise, measured)
    std = Scale.of(guide, source, known).source_std

    def prepare(weights: Tensor) -> Problem:
        given = weights if confidence is None else confidence * weights
        window = None if sampling is None else whole(model.select_channels(guide), source, given, sampling)
        problem = model.prepare(guide, source, confidence=given, exact=exact, window=window)
        assert isinstance(problem, Problem)
        return problem if noise is None else with_noise(problem, given, noise / std, model)

    return weigh(prepare, measured, std, noise, model, errors)


def weigh(
    prepare: Callable[[Tensor], Problem],
    source: Tensor,
    std: Tensor,
    noise: Tensor | None,
    model: Model,
    errors: SourceErrors,
) -> Weighed:
    """Make the problem of a source with errors.

    Args:
        prepare: Makes the problem of weights (B, K, h, w) of the source pixels; 0 is missing.
        source: (B, K, h, w), NaN is missing.
        std: Its standard deviation (B, K, 1, 1).
        noise: That of its noise (B, K, 1, 1), in the same units; None: nothing is said of it.
        model: Whose graph it is.
        errors: What is said.
    """
    everything = torch.ones_like(source)
    if errors.robust is False:
        return Weighed(prepare(everything), noise, torch.zeros_like(source[:, 0], dtype=torch.bool))
    assert model.noise_unit is not None
    with part(0.0, _OUTLIERS_FOUND, "outliers"):
        found = find_inliers(
            prepare,
            source,
            std,
            estimate_noise(source) if noise is None else noise,
            model.noise_unit,
            None if errors.robust is True else errors.robust,
        )
    with part(_OUTLIERS_FOUND, _GRAPH_MADE):
        problem = replace(prepare(found.weights), start=found.start)
    return Weighed(problem, noise, ((found.weights == 0) & torch.isfinite(source)).any(1))


def with_noise(problem: Problem, given: Tensor, noise: Tensor, model: Model) -> Problem:
    """Return the problem with the confidence of a stated noise, in the place of what the model predicted.

    A stated noise says nothing of outliers, which a model may have found: they stay doubted as predicted. Where a model
    doubts most of the source, that is its idea of the noise, which is not asked for any more.

    Args:
        problem: What the model made.
        given: (B, 1 or K, h, w) what else is known of the source pixels: they count by so much.
        noise: Standard deviations of the noise (B, K, 1, 1), in those of the source.
        model: Whose graph it is.
    """
    assert model.noise_unit is not None
    confidence = stated_confidence(noise, model.noise_unit, problem.sampling.factor)
    if bool((confidence == confidence[:, :1]).all()):
        confidence = confidence[:, :1]
    stated = confidence.to(given.dtype) * given
    is_missing = problem.confidence == 0
    predicted = torch.where(is_missing, torch.nan, problem.confidence / given)
    usual = predicted.flatten(2).nanmedian(2).values[..., None, None]
    is_outlier = predicted < torch.minimum(confidence, usual) / _OUTLIER**2
    return replace(problem, confidence=torch.where(is_missing | is_outlier, problem.confidence, stated))
