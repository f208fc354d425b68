"""Preconditioned conjugate gradients on one image, all its channels together.

The preconditioner is a V-cycle. Its answer is never stored: the last sweep makes it row by row from z, the coarse
correction and u.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from graphsr.solver import sweeps
from graphsr.solver.cycle import Levels, v_cycle
from graphsr.solver.estimate import error_after, smallest_ritz_value
from graphsr.solver.lattice import Cells, Lattice

# The first coefficients say too little to trust an estimate made from them.
_FIRST_LOOK = 2
# numba would compile the sweeps twice, for the unsigned strip numbers of parallel loops too: hence np.int64(strip).


@njit(cache=True, nogil=True, parallel=True)
def _advance(lattice, cells, active, alpha, p, q, x, r, v):  # type: ignore[no-untyped-def]
    for strip in prange(cells.strips.size - 1):
        s = np.int64(strip)
        for k in range(active.size):
            if active[k]:
                sweeps.advance(s, cells, x.dtype.type(alpha[k]), p[k], q[k], x[k], r[k])
                if not cells.straddling:
                    sweeps.average_inside(s, lattice, cells, r[k], v[k])
    if cells.straddling:
        for strip in prange(cells.strips.size - 1):
            s = np.int64(strip)
            for k in range(active.size):
                if active[k]:
                    sweeps.average_inside(s, lattice, cells, r[k], v[k])


@njit(cache=True, nogil=True, parallel=True)
def _average_straddling(lattice, cells, active, field, m, v):  # type: ignore[no-untyped-def]
    for strip in prange(cells.strips.size - 1):
        s = np.int64(strip)
        for k in range(active.size):
            if active[k]:
                sweeps.average_straddling(s, lattice, cells, field[k], m[k], v[k])


@njit(cache=True, nogil=True, parallel=True)
def _relax_and_restrict(lattice, cells, active, r, m, early, z, coarse, coarse_strips):  # type: ignore[no-untyped-def]
    for strip in prange(cells.strips.size - 1):
        s = np.int64(strip)
        for k in range(active.size):
            if active[k]:
                coarse[k, coarse_strips[s] : coarse_strips[s + 1]] = 0
                sweeps.relax_and_restrict(s, lattice, cells, r[k], m[k], early[k], z[k], coarse[k])


@njit(cache=True, nogil=True, parallel=True)
def _correct(lattice, cells, active, r, m, z, coarse, u, v, dots):  # type: ignore[no-untyped-def]
    for strip in prange(cells.strips.size - 1):
        s = np.int64(strip)
        for k in range(active.size):
            if active[k]:
                dots[k, s] = sweeps.correct(s, lattice, cells, r[k], m[k], z[k], coarse[k], u[k], v[k])


@njit(cache=True, nogil=True, parallel=True)
def _average_corrected(lattice, cells, active, z, coarse, u, v):  # type: ignore[no-untyped-def]
    for strip in prange(cells.strips.size - 1):
        s = np.int64(strip)
        for k in range(active.size):
            if active[k]:
                sweeps.average_corrected(s, lattice, cells, z[k], coarse[k], u[k], v[k])


@njit(cache=True, nogil=True, parallel=True)
def _dot_preconditioned(lattice, cells, active, r, z, coarse, u, step, early, dots):  # type: ignore[no-untyped-def]
    for strip in prange(cells.strips.size - 1):
        s = np.int64(strip)
        for k in range(active.size):
            if active[k]:
                dots[k, s] = sweeps.dot_preconditioned(
                    s, lattice, cells, r[k], z[k], coarse[k], u[k], step[k], early[k]
                )


@njit(cache=True, nogil=True, parallel=True)
def _direct(lattice, cells, active, z, coarse, u, step, early, m, beta, p, q, dots, norms):  # type: ignore[no-untyped-def]
    for strip in prange(cells.strips.size - 1):
        s = np.int64(strip)
        for k in range(active.size):
            if active[k]:
                dots[k, s], norms[k, s] = sweeps.direct(
                    s,
                    lattice,
                    cells,
                    z[k],
                    coarse[k],
                    u[k],
                    step[k],
                    early[k],
                    m[k],
                    p.dtype.type(beta[k]),
                    p[k],
                    q[k],
                )


class _Preconditioner:
    """One V-cycle, with the fields it works on. Channels share everything but their vectors."""

    def __init__(self, lattice: Lattice, cells: Cells, levels: Levels, like: np.ndarray) -> None:
        channels = like.shape[0]
        self.matrix = lattice, cells
        self.levels = levels
        self.straddling = cells.straddling
        self.z, self.u = np.empty_like(like), np.empty_like(like)
        small = (channels, *lattice.gain.shape)
        self.v, self.m, self.early, self.step, self.step_early = (np.zeros(small, like.dtype) for _ in range(5))
        coarse = (channels, levels.inverse.size)
        self.coarse_r, self.coarse_z, self.coarse = (np.zeros(coarse, like.dtype) for _ in range(3))
        self.coarse_m = np.zeros((channels, *levels.gain.shape), like.dtype)
        self.coarse_step = np.zeros(lattice.gain.size, like.dtype)
        self.dots = np.zeros((channels, cells.strips.size - 1))

    def apply(self, active: np.ndarray, r: np.ndarray) -> np.ndarray:
        """Prepare the answer to r, given v = D E^-1 r; returns r . answer for each channel."""
        lattice = self.matrix[0]
        np.multiply(self.v, lattice.gain, out=self.m)
        if self.straddling:
            self.early[:] = self.m
            _average_straddling(*self.matrix, active, r, self.early, self.v)
            np.multiply(self.v, lattice.gain, out=self.m)
        _relax_and_restrict(*self.matrix, active, r, self.m, self.early, self.z, self.coarse_r, self.levels.strips[0])
        v_cycle(
            self.levels, active, lattice.slack.ravel(), self.coarse_r, self.coarse_z, self.coarse, self.coarse_m,
            self.coarse_step,
        )  # fmt: skip
        _correct(*self.matrix, active, r, self.m, self.z, self.coarse, self.u, self.v, self.dots)
        if self.straddling:
            _average_corrected(*self.matrix, active, self.z, self.coarse, self.u, self.v)
        self.v -= lattice.slack * self.m
        np.multiply(self.v, lattice.gain, out=self.step)
        if self.straddling:
            self.step_early[:] = self.step
            _average_straddling(*self.matrix, active, self.u, self.step_early, self.v)
            np.multiply(self.v, lattice.gain, out=self.step)
            _dot_preconditioned(
                *self.matrix, active, r, self.z, self.coarse, self.u, self.step, self.step_early, self.dots
            )
        gamma = self.dots.sum(1)
        if not self.straddling:
            # r . answer = (r - D^T m) . (z2 + E^-1 u) + m . C^-1 m, since D E^-1 (r - D^T m) = C^-1 m.
            gamma += (lattice.slack * self.m * self.m).sum((1, 2), dtype=np.float64)
        self.m += self.step
        return gamma

    def turn(self, active: np.ndarray, beta: np.ndarray, p: np.ndarray, q: np.ndarray, norms: np.ndarray) -> np.ndarray:
        """p = answer + beta p, q = A answer + beta q; norms (K, S) sum to p . p. Returns p . q."""
        _direct(
            *self.matrix, active, self.z, self.coarse, self.u, self.step, self.step_early, self.m, beta, p, q,
            self.dots, norms,
        )  # fmt: skip
        return np.asarray(self.dots.sum(1))


@dataclass(frozen=True)
class Outcome:
    """Per channel: iterations done, estimated RMS error, and the RMS distance x has travelled."""

    iterations: np.ndarray
    error: np.ndarray
    travelled: np.ndarray


def conjugate_gradients(
    lattice: Lattice,
    cells: Cells,
    levels: Levels,
    x: np.ndarray,
    r: np.ndarray,
    *,
    tolerance: float,
    relative: bool,
    most: int,
    slowest: np.ndarray,
) -> Outcome:
    """Improve x (K, H, W) in place until the RMS error of every channel is below `tolerance`.

    r (K, H, W) is the residual and is used up. With `relative` the tolerance is a part of the distance travelled.
    slowest (K,) bounds the smallest eigenvalue known of the preconditioned matrix, and is improved.
    """
    channels = x.shape[0]
    root = np.sqrt(float(x[0].size))
    rounding = 8.0 * np.finfo(x.dtype).eps
    precondition = _Preconditioner(lattice, cells, levels, x)
    p, q = np.zeros_like(x), np.zeros_like(x)
    norms = np.zeros((channels, cells.strips.size - 1))
    alphas, betas = np.zeros((channels, most)), np.zeros((channels, most))
    alpha, beta, gamma = np.zeros(channels), np.zeros(channels), np.zeros(channels)
    travelled, length = np.zeros(channels), np.zeros(channels)
    iterations, error = np.zeros(channels, np.int64), np.full(channels, np.inf)
    active = np.ones(channels, np.bool_)
    for n in range(most + 1):
        _advance(lattice, cells, active, alpha, p, q, x, r, precondition.v)
        scale = travelled if relative else np.ones(channels)
        if n >= _FIRST_LOOK:
            active &= error > tolerance * scale
        if n == most or not active.any():
            break
        new_gamma = precondition.apply(active, r)
        # Where this is not positive nothing is left to do, or nothing that rounding can tell.
        ended = active & ~(new_gamma > 0)
        error[ended] = rounding * travelled[ended]
        active &= ~ended
        if n > 0:
            np.divide(new_gamma, gamma, out=beta, where=active)
            betas[:, n - 1] = beta
        gamma = new_gamma
        curvature = precondition.turn(active, beta, p, q, norms)
        active &= curvature > 0
        np.divide(gamma, curvature, out=alpha, where=active)
        alphas[:, n] = alpha
        last_length, length = length, alpha * np.sqrt(norms.sum(1)) / root
        travelled = np.where(active, np.hypot(travelled, length), travelled)
        for k in np.flatnonzero(active):
            iterations[k] = n + 1
            slowest[k] = min(slowest[k], smallest_ritz_value(alphas[k], betas[k], n + 1))
            error[k] = error_after(length[k], last_length[k], slowest[k])
            if length[k] <= rounding * (travelled[k] if relative else 1.0):
                error[k] = length[k]  # the step is lost in the rounding of x: no later one can matter more
    return Outcome(iterations, error, travelled)
