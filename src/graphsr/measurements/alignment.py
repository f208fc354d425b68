"""Find how a source lies on its guide: the placement at which its edges meet edges of the guide.

The guide has many more edges than the source. So at first all shifts within reach are tried, and what counts is how
much of an edge there is in the guide at the points of the source's edges, across the same direction. From the best one
on, a small network reads the guide across every edge, and tells how likely each place of it is; the placement is the
likeliest one for all edges together. How much it depends on single parts of the pair tells how far off it may be.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
from scipy import ndimage

from graphsr.errors import InputError
from graphsr.measurements.alignment_energy import refined_shift
from graphsr.measurements.alignment_score import Score
from graphsr.measurements.edge_likelihood import EdgeLikelihood
from graphsr.measurements.edge_patches import standardised
from graphsr.measurements.edge_points import FEWEST_POINTS, edge_points
from graphsr.measurements.likeliest import UNDERSTATED, maximise, ratio_to_error, standard_error
from graphsr.measurements.placement import Alignment, Placements
from graphsr.models.base import Model
from graphsr.suggestion import suggestion

KINDS = ("none", "shift", "affine")
# Shifts of so many guide pixels are found at least, or of a source pixel if that is more.
_REACH = 8
# Scale and rotation that are tried, in guide pixels at half a diagonal from the middle.
_SCALES_AND_ROTATIONS = (-9, -6, -3, 0, 3, 6, 9)
# Scale and rotation of less than this are left out: they move no pixel by more. So are those from which not all groups
# of points gain: by so many standard errors of their mean gain.
_LEAST_MOVE, _LEAST_T_OF_ROTATION = 0.5, 2.5
# So many points are enough for a start, and to choose between those.
_POINTS_FOR_START, _POINTS_FOR_CHOICE = 4000, 1500
# Shifts of more guide pixels than this are less likely, those of as many again much less.
_LIKELY = 6.0
# All groups of points have to gain from the best shift: this many standard errors of their mean gain.
_LEAST_T = 3.5
# A placement is used if its standard error is at most this part of a source pixel.
_LARGEST_ERROR = 0.07
# The guide is read across the edges so many times, each time from the placement before.
_ROUNDS = 2
# At first, shifts of up to so many guide pixels from the start are compared, in such steps.
_FROM_START, _STEP = 6.0, 0.5
# From this factor on the graph of a model tells the shift better than the likelihood does.
_LEAST_REFINED_FACTOR = 6.0
_TO_TELL = "to tell how the source lies on the guide"


def check_align(kind: str | None) -> None:
    """Raise an error unless it is one of `KINDS`, or None."""
    if kind is not None and kind not in KINDS:
        raise InputError(f"align {kind!r}: unknown; {suggestion(str(kind), KINDS)}")


def find_alignment(guide: np.ndarray, source: np.ndarray, kind: str, model: Model | None = None) -> Alignment:
    """Find how a source lies on its guide.

    Args:
        guide: (H, W, C).
        source: (K, h, w); NaN is missing.
        kind: "shift", or "affine" for shift, scale and rotation.
        model: One that predicts where targets have edges: its graph refines the shift.

    Returns:
        The placement, or why there is none.
    """
    placements = Placements.edge_to_edge((guide.shape[0], guide.shape[1]), (source.shape[1], source.shape[2]))
    nominal = placements.nominal
    points = edge_points(source)
    if len(points.weights) < FEWEST_POINTS:
        return Alignment(words=f"unchanged: the source has too few edges {_TO_TELL}")
    score = Score(guide, points.thinned(_POINTS_FOR_START), nominal)
    if not score.edges.any():
        return Alignment(words=f"unchanged: the guide has no edges {_TO_TELL}")
    best = _start(score, placements, kind)
    free = np.array([True, True, kind == "affine", kind == "affine"])
    colours = standardised(guide)
    for number in range(_ROUNDS):
        likelihood = EdgeLikelihood(colours, points, placements.matrix(best))
        if number == 0:
            shift, t = _likeliest_shift(likelihood)
            if t < _LEAST_T or np.abs(best[:2] + shift).max() > _reach(nominal):
                words = f"unchanged: the edges of source and guide do not agree well enough {_TO_TELL}"
                return Alignment(words=words)
            best[:2] += shift
        by_group = partial(_log_likelihood, likelihood, placements)
        best = maximise(by_group, best, free)
        if kind == "affine" and number == 0:
            free = _needed_parameters(by_group, best)
            best = np.where(free, best, 0.0)
    error = standard_error(by_group, best, free)
    if not error <= _LARGEST_ERROR * math.sqrt(np.linalg.det(nominal[:, :2]) * free.sum() / 2):
        return Alignment(words=f"unchanged: the edges of the pair fit in more than one place, too little {_TO_TELL}")
    error *= UNDERSTATED
    if model is not None and nominal.diagonal().min() >= _LEAST_REFINED_FACTOR:
        best, error = _refined(model, guide, source, placements, best, error)
    if free[2] and min(np.hypot(*placements.matrix(best)[:, :2])) < 1:
        return Alignment(words="unchanged: source pixels would be smaller than guide pixels")
    return placements.alignment(best, error)


def _refined(
    model: Model, guide: np.ndarray, source: np.ndarray, placements: Placements, best: np.ndarray, error: float
) -> tuple[np.ndarray, float]:
    """Return parameters (4,) whose shift the graph of a model has refined, and their standard error.

    Where energies tell no shift, what was given is returned.
    """
    placed = Alignment(placements.matrix(best))
    size, source_size = (guide.shape[0], guide.shape[1]), (source.shape[1], source.shape[2])
    frame = placed.frame(size)
    seen = frame.rotated(guide) if frame.angle else guide
    found = refined_shift(model, seen, source, placed.sampling(size, source_size))
    if found is None:
        return best, error
    down, right = found.change
    cos, sin = math.cos(frame.angle), math.sin(frame.angle)
    return best + np.array([cos * right - sin * down, sin * right + cos * down, 0, 0]), found.error


def _start(score: Score, placements: Placements, kind: str) -> np.ndarray:
    """Return parameters (4,) near the best ones."""
    linear = np.zeros(2)
    if kind == "affine":
        choice = [np.array([scale, rotation]) for scale in _SCALES_AND_ROTATIONS for rotation in _SCALES_AND_ROTATIONS]
        few = score.thinned(_POINTS_FOR_CHOICE)
        linear = max(choice, key=lambda each: _best_shift(few, placements.matrix(np.array([0, 0, *each])))[1])
    return np.concatenate([_best_shift(score, placements.matrix(np.array([0, 0, *linear])))[0], linear])


def _reach(nominal: np.ndarray) -> int:
    """Return how many guide pixels shifts reach that are searched."""
    return math.ceil(max(_REACH, float(nominal.diagonal().max())))


def _best_shift(score: Score, matrix: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the whole shift x, y from a placement at which edges agree best, and how much is gained by it."""
    reach = _reach(score.nominal)
    total = ndimage.gaussian_filter(score.at_shifts(matrix, reach), 0.7, mode="nearest")
    distance = np.hypot(*np.mgrid[-reach : reach + 1, -reach : reach + 1])
    # Of two shifts that are as good, the smaller one.
    row, column = np.unravel_index(np.argmax(total - 0.5 * (distance / _LIKELY) ** 2 * total.std()), total.shape)
    return np.array([column - reach, row - reach], float), float(total[row, column] - total.mean())


def _likeliest_shift(likelihood: EdgeLikelihood) -> tuple[np.ndarray, float]:
    """Return the likeliest shift x, y from where the guide was read, and how sure all groups of points are of it.

    That is what the groups gain over the mean of all shifts, as a ratio to the standard error of the mean gain; 0 for a
    shift on the border of those compared, which is no maximum.
    """
    steps = np.arange(-_FROM_START, _FROM_START + _STEP / 2, _STEP)
    shifts = np.stack(np.meshgrid(steps, steps), -1).reshape(-1, 2)
    found = likelihood.at_shifts(shifts)
    best = int(found.sum(0).argmax())
    if np.abs(shifts[best]).max() > _FROM_START - _STEP / 2:
        return shifts[best], 0.0
    gain = found[:, best] - found.mean(1)
    return shifts[best], ratio_to_error(gain)


def _needed_parameters(by_group: Callable[[np.ndarray], np.ndarray], best: np.ndarray) -> np.ndarray:
    """Return which parameters (4,) are needed: the shift; scale and rotation where it is much worse without."""
    needed = np.ones(4, bool)
    for number in (2, 3):
        others = np.arange(4) != number
        without = maximise(by_group, np.where(others, best, 0.0), others)
        t = ratio_to_error(by_group(best) - by_group(without))
        needed[number] = abs(best[number]) >= _LEAST_MOVE and t >= _LEAST_T_OF_ROTATION
    return needed


def _log_likelihood(likelihood: EdgeLikelihood, placements: Placements, parameters: np.ndarray) -> np.ndarray:
    """Return (GROUPS,) the logarithm of the likelihood of a placement (4,)."""
    return likelihood.by_group(placements.matrix(parameters))
