"""A shift refined by the solve itself: where the source lies so that its graph explains it with the least energy.

Edge weights say where a target may have steps, and source pixels how much of each step they contain. Where the two lie
beside each other the target has to have steps across strong edges, and the energy of the solve is larger. So the
problem is solved for shifts around a placement, on one graph, and the next placement is where a parabola through their
energies has its minimum; there the model predicts a graph anew. A graph that was predicted for a wrong placement hides
a quarter of the error, so a few rounds are enough.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import torch

from graphsr.graph import edge_energies
from graphsr.measurements.edge_points import GROUPS, groups_of
from graphsr.measurements.middle import middle
from graphsr.models.base import Model, whole
from graphsr.sampling import Sampling
from graphsr.solver import Problem, solve_problem

# Rounds at most, and the change of the shift, in guide pixels, that ends them.
_ROUNDS, _SMALL = 3, 0.1
# The part of an error of the placement that the graph predicted for it hides.
_HIDDEN = 0.25
# Shifts, down and right, whose energies determine a parabola, and how far they lie apart, in guide pixels.
_PATTERN = np.array([(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1), (1, 1)], float)
_APART = 1.0
# A round moves each axis by at most so many guide pixels.
_FARTHEST_STEP = 1.5
# A refined shift is at most so many guide pixels from where it began.
_FARTHEST = 3.0
# Energies err with the square of the error of the target, so this is enough.
_RTOL = 1e-3
# The middle of larger guides is looked at, of so many pixels.
_PIXELS = 2**20
# Errors are so many times what the groups tell, which share a graph: fitted on 15 pairs (docs/evidence/alignment.md).
_UNDERSTATED = 3.0
# A direction in which energies are flatter than this, relative to the steepest, is one in which the pair tells nothing.
_LEAST_CURVATURE = 0.02


@dataclass(frozen=True)
class Refined:
    """A better shift.

    Attributes:
        change: Pixels (down, right) from the placement it began at.
        error: Estimated standard error, in guide pixels.
    """

    change: np.ndarray
    error: float


def refined_shift(model: Model, guide: np.ndarray, source: np.ndarray, sampling: Sampling) -> Refined | None:
    """Refine the shift of a source by the graph that a model predicts.

    Args:
        model: One with a graph, in evaluation mode.
        guide: (H, W, C).
        source: (K, h, w); NaN is missing.
        sampling: Where the source lies, nearly.

    Returns:
        The shift, or None where energies do not tell one near that placement.
    """
    guide, source, sampling = middle(guide, source, sampling, _PIXELS)
    model = model.without_restoration()  # which would fit the source to each placement that is tried
    device = next((p.device for p in model.parameters()), torch.device("cpu"))
    seen = torch.from_numpy(np.array(np.moveaxis(guide, 2, 0)[None], np.float32)).to(device)
    planes = torch.from_numpy(source[None]).to(device, torch.float64)
    plane = whole(model.select_channels(seen), planes, None, sampling).scale.first_component(planes).float()
    change = np.zeros(2)
    for _ in range(_ROUNDS):
        placed = sampling.moved(*change.tolist())
        window = whole(model.select_channels(seen), plane, None, placed)
        problem = model.prepare(seen, plane, window=window)
        assert isinstance(problem, Problem)
        parabola = _Parabola.of(_energies(problem))
        step = parabola.minimum()
        if step is None:
            return None
        change += np.clip(step / (1 - _HIDDEN), -_FARTHEST_STEP, _FARTHEST_STEP)
        if np.hypot(*change) > _FARTHEST:
            return None
        if np.hypot(*step) < _SMALL:
            break
    return Refined(change, _UNDERSTATED * parabola.error())


def _energies(problem: Problem) -> np.ndarray:
    """Return the energies (6, GROUPS) of solves with the source moved by `_PATTERN`, in groups of source pixels."""
    samplings = [problem.sampling.moved(*(_APART * each).tolist()) for each in _PATTERN]
    # A source pixel that a move puts across the border would change the energy by itself.
    inside = np.all([each.visible > 1 - 1e-6 for each in samplings], 0)
    confidence = problem.confidence * torch.from_numpy(inside).to(problem.confidence)
    groups = groups_of(*np.indices(inside.shape))
    area = math.prod(problem.sampling.factor)
    start, found = problem.start, []
    for sampling in samplings:
        moved = replace(problem, sampling=sampling, confidence=confidence, start=start)
        start = solve_problem(moved, rtol=_RTOL).target
        residuals = confidence * (moved.source - sampling(start)).square()
        energies = residuals + area * problem.sampling(_energy_of_pixels(moved, start))
        found.append(np.bincount(groups.ravel(), energies[0, 0].double().cpu().numpy().ravel(), GROUPS))
    return np.array(found)


def _energy_of_pixels(problem: Problem, target: torch.Tensor) -> torch.Tensor:
    """Return the graph term of a target (1, 1, H, W), that of each edge at its first pixel, (1, 1, H, W)."""
    terms, found = edge_energies(problem.edges, target, problem.offsets), torch.zeros_like(target)
    found[..., :-1, :] += terms.down
    found[..., :-1] += terms.right
    return found


@dataclass(frozen=True)
class _Parabola:
    """Energies around a placement as functions of the shift (down, right), by groups.

    Attributes:
        gradients: (GROUPS, 2).
        hessian: (2, 2) of their sum.
    """

    gradients: np.ndarray
    hessian: np.ndarray

    @classmethod
    def of(cls, energies: np.ndarray) -> _Parabola:
        """Find it from the energies (6, GROUPS) at `_PATTERN`."""
        down, right = (_APART * _PATTERN).T
        columns = [np.ones(6), down, right, down**2 / 2, right**2 / 2, down * right]
        found = np.linalg.solve(np.stack(columns, 1), energies)
        own_down, own_right, both = found[3:].sum(1)
        return cls(found[1:3].T, np.array([[own_down, both], [both, own_right]]))

    def minimum(self) -> np.ndarray | None:
        """Return where the sum is least; None where it does not tell."""
        curvatures = np.linalg.eigvalsh(self.hessian)
        if curvatures[0] <= _LEAST_CURVATURE * curvatures[1]:
            return None
        return -np.linalg.solve(self.hessian, self.gradients.sum(0))

    def error(self) -> float:
        """Return the standard error of the minimum, by the sandwich estimator."""
        influence = np.linalg.solve(self.hessian, (self.gradients - self.gradients.mean(0)).T)
        return float(np.sqrt((influence**2).sum() * GROUPS / (GROUPS - 1)))
