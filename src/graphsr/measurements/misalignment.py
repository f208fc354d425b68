"""A quick look at whether a source that was said to lie edge to edge on its guide lies aside, and by how much.

The guide is read across the strongest edges of the source only, which takes a part of the time of a target. Shifts are
compared by their likelihood for all these edges, as in `alignment.py`. If one of them is likelier than none, the model
is asked: the graph that it predicts is stronger where guide and source agree (docs/evidence/alignment.md).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import torch

from graphsr.measurements.edge_likelihood import EdgeLikelihood
from graphsr.measurements.edge_patches import standardised
from graphsr.measurements.edge_points import FEWEST_POINTS, edge_points
from graphsr.measurements.likeliest import UNDERSTATED, maximise, ratio_to_error, standard_error
from graphsr.measurements.middle import middle
from graphsr.measurements.placement import EDGE_TO_EDGE, Alignment, Placements
from graphsr.models.base import Model, whole
from graphsr.sampling import Sampling
from graphsr.solver import Problem

# So many points are read; 2500 tell hardly more. A few are read first: most sources that lie right are told there, by
# log odds (below) of less than this.
_POINTS, _FIRST_POINTS, _TO_GO_ON = 600, 150, -3.0
# Shifts of up to so many guide pixels are compared, in such steps.
_FARTHEST, _STEP = 6.0, 0.5
_STEPS = np.arange(-_FARTHEST, _FARTHEST + _STEP / 2, _STEP)
_SHIFTS = np.stack(np.meshgrid(_STEPS, _STEPS), -1).reshape(-1, 2)
# Shifts of less guide pixels, or of less of a source pixel, are left: many maps lie that far aside.
_LEAST_SHIFT, _LEAST_SHARE = 1.0, 0.15
# The logarithm of the odds that a source lies aside, fitted on pairs whose shift is known: what it is multiplied by for
# how sure all groups of edges are that the likeliest shift is likelier than none, for how much likelier it is than any
# that is so many guide pixels away, and for the factor; and a constant.
_SURE, _LIKELIER, _APART, _FACTOR, _CONSTANT = 2.13, 0.99, 2.0, 1.06, -7.16
# From such log odds on a model is asked, and believed if the mean logarithm of its edge weights rises by so much.
_TO_ASK, _LEAST_RISE = 0.5, 0.015
# From such log odds on a word is said where no model is asked.
_TO_TELL = 1.25
# The likeliest place of all lies at most so many guide pixels from the likeliest shift of `_SHIFTS`.
_NEAR = 2.0
# Of smaller factors nothing is known, and hardly any shift is more than a pixel.
_LEAST_FACTOR = 2.5
# The middle of larger guides is looked at, of so many pixels.
_PIXELS = 2**19


def find_shift(guide: np.ndarray, source: np.ndarray, model: Model, footprint: str = "box") -> Alignment:
    """Look whether a source lies aside of where it should, edge to edge on its guide.

    Args:
        guide: (H, W, C).
        source: (1, h, w); NaN is missing.
        model: One that predicts a graph, in evaluation mode.
        footprint: What a source pixel averages over.

    Returns:
        The placement; `EDGE_TO_EDGE` if there is no good reason to believe that it is another.
    """
    size, source_size = (guide.shape[0], guide.shape[1]), (source.shape[1], source.shape[2])
    sampling = Sampling(size, source_size, footprint=footprint)
    guide, source, sampling = middle(guide, source, sampling, _PIXELS)
    found = _likely_shift(guide, source, sampling)
    if found is None or found.log_odds < _TO_ASK:
        return EDGE_TO_EDGE
    moved = sampling.moved(*found.shift[::-1].tolist())
    rise = _strength(model, guide, source, moved) - _strength(model, guide, source, sampling)
    if rise < _LEAST_RISE:
        return EDGE_TO_EDGE
    alignment = found.alignment(size, source_size)
    return replace(alignment, words=f"{alignment.words}; that is corrected")


def suspected_misalignment(guide: np.ndarray, source: np.ndarray) -> str:
    """Look whether a source seems to lie aside, without a model.

    Args:
        guide: (H, W, C).
        source: (K, h, w); NaN is missing.

    Returns:
        How it seems to lie, in words; "" if edge to edge, or if the pair does not tell.
    """
    size, source_size = (guide.shape[0], guide.shape[1]), (source.shape[1], source.shape[2])
    found = _likely_shift(*middle(guide, source, Sampling(size, source_size), _PIXELS))
    return "" if found is None or found.log_odds < _TO_TELL else found.alignment(size, source_size).words


@dataclass(frozen=True, eq=False)
class _LikelyShift:
    """A shift x and y, its standard error, and the logarithm of the odds that the source lies there."""

    shift: np.ndarray
    error: float
    log_odds: float

    def alignment(self, size: tuple[int, int], source_size: tuple[int, int]) -> Alignment:
        """Return the placement of a source of `source_size` (h, w) on a guide of `size` (H, W)."""
        return Placements.edge_to_edge(size, source_size).alignment(np.array([*self.shift, 0.0, 0.0]), self.error)


def _strength(model: Model, guide: np.ndarray, source: np.ndarray, sampling: Sampling) -> float:
    """Return the mean logarithm of the edge weights that a model predicts for a placement."""
    device = next((p.device for p in model.parameters()), torch.device("cpu"))
    seen = torch.from_numpy(np.array(np.moveaxis(guide, 2, 0)[None], np.float32)).to(device)
    plane = torch.from_numpy((source - np.nanmean(source))[None]).to(device, torch.float32)
    problem = model.prepare(seen, plane, window=whole(model.select_channels(seen), plane, None, sampling))
    assert isinstance(problem, Problem)
    weights = torch.cat([problem.edges.down.flatten(), problem.edges.right.flatten()])
    return float(weights.detach().log().mean())


def _likely_shift(guide: np.ndarray, source: np.ndarray, sampling: Sampling) -> _LikelyShift | None:
    """Return the shift that the edges tell; None if they tell none that matters."""
    if min(sampling.factor) < _LEAST_FACTOR:
        return None
    points = edge_points(source)
    if len(points.weights) < FEWEST_POINTS:
        return None
    colours, matrix, factor = standardised(guide), _matrix(sampling), math.sqrt(math.prod(sampling.factor))
    least = max(_LEAST_SHIFT, _LEAST_SHARE * max(sampling.factor))
    for most in (_FIRST_POINTS, _POINTS):
        likelihood = EdgeLikelihood(colours, points, matrix, most=most)
        shift, log_odds = _likeliest_shift(likelihood.at_shifts(_SHIFTS), factor)
        if log_odds < _TO_GO_ON or np.hypot(*shift) < least:
            return None
    likelihood = EdgeLikelihood(colours, points, _moved(matrix, shift), most=_POINTS)

    def by_group(change: np.ndarray) -> np.ndarray:
        return likelihood.by_group(_moved(matrix, change))

    free = np.ones(2, bool)
    best = maximise(by_group, shift, free)
    error = UNDERSTATED * standard_error(by_group, best, free)
    return _LikelyShift(best, error, log_odds) if np.hypot(*(best - shift)) < _NEAR else None


def _likeliest_shift(found: np.ndarray, factor: float) -> tuple[np.ndarray, float]:
    """Return the likeliest of `_SHIFTS`, x and y, and the logarithm of the odds that the source lies there.

    Args:
        found: (GROUPS, S) logarithms of the likelihoods of `_SHIFTS`, by groups of edges.
        factor: How many guide pixels a source pixel is wide.
    """
    total = found.sum(0)
    best, none = int(total.argmax()), len(_SHIFTS) // 2
    shift = _SHIFTS[best]
    if np.abs(shift).max() > _FARTHEST - _STEP / 2:  # on the border, which is no maximum
        return shift, -math.inf
    others = np.hypot(*(_SHIFTS - shift).T) > _APART
    sure = max(ratio_to_error(found[:, best] - found[:, none]), 0.0)
    likelier = max(float(total[best] - total[others].max()), 0.0)
    return shift, (_SURE * math.log1p(sure) + _LIKELIER * math.log1p(likelier) + _FACTOR * math.log(factor) + _CONSTANT)


def _matrix(sampling: Sampling) -> np.ndarray:
    """Return the (2, 3) map of source pixels to guide pixels."""
    (down, across), (top, left) = sampling.factor, sampling.origin
    return np.array([[across, 0.0, left], [0.0, down, top]])


def _moved(matrix: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Return the placement (2, 3) moved by x and y in guide pixels."""
    return np.column_stack([matrix[:, :2], matrix[:, 2] + shift])
