"""The likeliest placement for all edges together, and how sure all groups of them are of it."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy import optimize

from graphsr.measurements.edge_points import GROUPS

# Finite differences of the score are taken over so many guide pixels.
_DIFFERENCE = 0.5
# The groups share a guide whose edges are wrong together: so many times their standard error were true errors.
UNDERSTATED = 2.5
# A direction in which the score is flatter than this, relative to the steepest, is one in which the pair tells nothing.
_LEAST_CURVATURE = 0.02


def maximise(by_group: Callable[[np.ndarray], np.ndarray], start: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return the parameters (P,) of the highest score near a start, changing only the free ones (P,)."""
    moves = np.eye(len(start))[free]

    def minus_score(change: np.ndarray) -> float:
        return -float(by_group(start + change @ moves).sum())

    simplex = np.vstack([np.zeros(len(moves)), 0.6 * np.eye(len(moves))]) - 0.2
    options = {"initial_simplex": simplex, "xatol": 0.01, "fatol": 0.0, "maxfev": 60 * len(moves)}
    found = optimize.minimize(minus_score, simplex[0], method="Nelder-Mead", options=options)
    return np.asarray(start + found.x @ moves)


def standard_error(by_group: Callable[[np.ndarray], np.ndarray], best: np.ndarray, free: np.ndarray) -> float:
    """Return the standard error of the best parameters, from how differently the groups of points would change them.

    The sandwich estimator: inverse Hessian, covariance of the groups' gradients, inverse Hessian. What to tell is
    `UNDERSTATED` times that.
    """
    moves = _DIFFERENCE * np.eye(len(best))[free]
    gradients = np.stack([by_group(best + move) - by_group(best - move) for move in moves], 1) / (2 * _DIFFERENCE)
    middle = by_group(best).sum()

    def curvature(move: np.ndarray) -> float:
        return float((by_group(best + move) + by_group(best - move)).sum() - 2 * middle) / _DIFFERENCE**2

    own = np.array([curvature(move) for move in moves])
    hessian = np.diag(own)
    for i, j in np.transpose(np.triu_indices(len(moves), 1)):
        hessian[i, j] = hessian[j, i] = (curvature(moves[i] + moves[j]) - own[i] - own[j]) / 2
    curvatures = -np.linalg.eigvalsh(hessian)
    if curvatures.min() <= _LEAST_CURVATURE * curvatures.max():  # as along an edge
        return math.inf
    influence = np.linalg.solve(hessian, (gradients - gradients.mean(0)).T)
    return float(np.sqrt((influence**2).sum() * GROUPS / (GROUPS - 1)))


def ratio_to_error(gain: np.ndarray) -> float:
    """Return the ratio of the mean gain of the groups (GROUPS,) to its standard error; 0 where all gain the same."""
    error = float(gain.std(ddof=1)) / math.sqrt(GROUPS)
    return float(gain.mean()) / error if error > 0 else 0.0
