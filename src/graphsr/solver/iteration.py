"""Conjugate gradients with iterative refinement: one skeleton for both backends.

In the form of Chronopoulos and Gear: the products r . z and z . A z of one sweep give both coefficients, so that an
iteration is two sweeps over the image (one by lines, three where pixels straddle source pixels) instead of one for
every vector operation. A backend supplies the sweeps as a `System`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Protocol

import numpy as np

from graphsr.solver import stopping
from graphsr.solver.progress import EVERY, is_observed, notify
from graphsr.solver.stopping import Progress

# Far beyond what any graph with a sensible contrast needs; a solve that gets here has failed.
_MOST_ITERATIONS = 20_000
# How often the true residual is computed anew in double precision.
_MOST_RESTARTS = 6
# A tolerance within so many roundings of the target needs restarts.
_NEAR_ROUNDING = 100.0
# The part of the tolerance that levels may still want to change.
_HIDDEN = 0.2
# Pixels that are iterated before Python looks for an interrupt, if nobody observes: some 0.1 s of them.
_PIXELS_BLIND = 1 << 26
# The rounding of double precision is below this, that of single precision above.
_DOUBLE = 1e-10


class System(Protocol):
    """N linear systems with one matrix layout: x and the vectors of the iteration are held by the backend."""

    count: int  # N
    pixels: int  # of x
    exact: bool  # the data is a constraint
    delicate: bool  # the residual that the iteration carries along would drift from the true one
    slowest: float  # smallest eigenvalue of the preconditioned matrix seen in solves with it, in parts of the largest
    precision: np.finfo[np.floating[Any]]
    most: int | None  # iterations after which it has failed; None: as many as for all

    @property
    def rounding(self) -> float:
        """The error that rounding alone may leave, in parts of the RMS of x."""

    @property
    def patience(self) -> int | None:
        """Iterations after which levels are worth their set-up; None if they help no further."""

    def add_levels(self) -> None:
        """Precondition with levels too, from the next restart on."""

    def hidden_error(self) -> np.ndarray:
        """Return the RMS (N,) of what levels would still change of x, 0 where they already take part or change nothing.

        Modes of pixels without data may have so little energy that the iteration does not show them.
        """

    def fit(self) -> None:
        """Move x so that it averages to the source (exactly), or as far as the confidence says."""

    def restart(self) -> None:
        """Compute the residual of x in double precision, and the change of x from zero."""

    def iterate(self, progress: Progress, first: int, last: int, tolerance: np.ndarray, relative: bool) -> int:
        """Do iterations from number `first` on and before `last`, at least one; return the number of the next.

        tolerance (N,) and relative: see `stopping.update_errors`. It returns early when no system is active any more.
        """

    def accept(self) -> None:
        """Add the change to x."""

    def rms(self) -> np.ndarray:
        """Return the RMS of x, (N,)."""


def minimise(system: System, tolerance: float, relative: bool) -> tuple[np.ndarray, np.ndarray]:
    """Improve x until its RMS error is below `tolerance`, or below that part of its RMS if `relative`.

    Returns:
        Iterations done and the RMS error estimated (relative if asked so), each (N,).
    """
    count, precision = system.count, system.precision
    most_together = min(_MOST_ITERATIONS, system.most or _MOST_ITERATIONS)
    delicate = system.delicate or tolerance < _NEAR_ROUNDING * precision.eps
    total, error, drift = np.zeros(count, np.int64), np.full(count, np.inf), np.zeros(count)
    bound, travelled_before = np.full(count, tolerance), np.ones(count)
    if system.patience == 0:
        system.add_levels()
    slowest = np.full(count, system.slowest)
    for turn in range(_MOST_RESTARTS):
        if system.exact or turn == 0:
            # Beginning on the data keeps single precision honest: what the data term still pulls with is then as small
            # as the edge weights, and not the difference of two numbers of order 1.
            system.fit()
        # The change is sought from zero, so that small steps are not lost in the rounding of x.
        system.restart()
        most, patience = most_together - int(total.max()), system.patience
        if patience is not None:
            most = min(most, patience)
        progress = _conjugate_gradients(system, bound, relative and turn == 0, most, slowest)
        system.accept()
        total += progress.iterations
        slowest = progress.slowest
        if patience is not None and not bool((progress.error <= bound).all()):
            system.add_levels()
            slowest = np.full(count, system.slowest)
        if relative and turn == 0:
            bound = tolerance * system.rms()
        estimate, travelled = progress.error, progress.travelled
        error = estimate.copy() if turn == 0 else np.maximum(np.minimum(error, bound), estimate)
        # The drift is a part of the distance travelled, and this turn tells which part of the last one's it was.
        with np.errstate(invalid="ignore"):  # NaN where x overflowed, which does not settle
            drift = travelled if turn == 0 else travelled * travelled / np.maximum(travelled_before, precision.tiny)
        travelled_before = travelled
        settled = not delicate or bool((drift <= bound).all())
        if total.max() >= most_together:
            break
        if bool((estimate <= bound).all()) and settled:
            hidden = system.hidden_error()
            if bool((hidden <= _HIDDEN * bound).all()):
                break
            error = np.maximum(error, hidden / _HIDDEN)
            if precision.eps > _DOUBLE:
                break  # what holds such a mode is lost in the rounding of single precision
            system.add_levels()
            slowest = np.full(count, system.slowest)
    system.slowest = float(slowest.min(initial=1.0))
    if not settled:
        error = np.maximum(error, drift)
    if system.exact:
        system.fit()
    error = np.maximum(error, system.rounding * system.rms())
    if relative:
        with np.errstate(invalid="ignore"):  # where x overflowed both are infinite: NaN, which meets no tolerance
            error = np.divide(error, bound / tolerance, out=np.zeros(count), where=bound > 0)
    return total, error


def _conjugate_gradients(
    system: System, tolerance: np.ndarray, relative: bool, most: int, slowest: np.ndarray
) -> stopping.Progress:
    progress = stopping.begin(system.count, most)
    progress.slowest[:] = slowest
    n, at_once = 0, EVERY
    if not is_observed():
        at_once *= max(1, _PIXELS_BLIND // (EVERY * system.count * system.pixels))
    while n < most and progress.active.any():
        n = system.iterate(progress, n, min(most, n + at_once - n % at_once), tolerance, relative)
        if n % EVERY == 0 and progress.active.any():
            notify(n, float((progress.error / np.maximum(tolerance, system.precision.tiny)).max()))
    return progress


class Stepwise(ABC):
    """A system whose sweeps Python calls one by one."""

    pixels: int
    largest: float
    precision: np.finfo[np.floating[Any]]

    @abstractmethod
    def product(self, active: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Precondition the residual, z = M^-1 r; return r . z and z . A z, each in S parts (N, S)."""

    @abstractmethod
    def advance(self, alpha: np.ndarray, beta: np.ndarray, active: np.ndarray) -> np.ndarray:
        """Step along p = z + beta p by alpha; return p . p in parts (N, S)."""

    @abstractmethod
    def learn(self, progress: Progress, n: int) -> None:
        """Set `largest` by the coefficients of iteration n, where it is not known."""

    def iterate(self, progress: Progress, first: int, last: int, tolerance: np.ndarray, relative: bool) -> int:
        """See `System.iterate`; one iteration at a time."""
        gammas, deltas = self.product(progress.active)
        if not stopping.set_coefficients(progress, first, gammas, deltas):
            return first
        self.learn(progress, first)
        squares = self.advance(progress.alpha, progress.beta, progress.active)
        rounding = float(self.precision.eps)
        stopping.update_errors(progress, first, squares, self.pixels, self.largest, tolerance, relative, rounding)
        return first + 1
