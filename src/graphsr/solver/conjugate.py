"""Preconditioned conjugate gradients on one image, all its channels together."""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from graphsr.solver import sweeps
from graphsr.solver.cycle import v_cycle
from graphsr.solver.estimate import error_after, smallest_ritz_value

# Iterations between two looks at the estimate cost nothing, but the first few coefficients say too little.
_FIRST_LOOK = 2


@njit(cache=True, nogil=True, parallel=True)
def _advance(lattice, cells, active, alpha, p, q, x, r, v):  # type: ignore[no-untyped-def]
    for s in prange(cells.strips.size - 1):
        for k in range(active.size):
            if active[k]:
                sweeps.advance(s, cells, x.dtype.type(alpha[k]), p[k], q[k], x[k], r[k])
                if not cells.straddling:
                    sweeps.average_inside(s, lattice, cells, r[k], v[k])
    if cells.straddling:
        for s in prange(cells.strips.size - 1):
            for k in range(active.size):
                if active[k]:
                    sweeps.average_inside(s, lattice, cells, r[k], v[k])


@njit(cache=True, nogil=True, parallel=True)
def _average_straddling(lattice, cells, active, field, m, v):  # type: ignore[no-untyped-def]
    for s in prange(cells.strips.size - 1):
        for k in range(active.size):
            if active[k]:
                sweeps.average_straddling(s, lattice, cells, field[k], m[k], v[k])


@njit(cache=True, nogil=True, parallel=True)
def _relax_and_restrict(lattice, cells, active, r, m, early, z, coarse, coarse_strips):  # type: ignore[no-untyped-def]
    for s in prange(cells.strips.size - 1):
        for k in range(active.size):
            if active[k]:
                coarse[k, coarse_strips[s] : coarse_strips[s + 1]] = 0
                sweeps.relax_and_restrict(s, lattice, cells, r[k], m[k], early[k], z[k], coarse[k])


@njit(cache=True, nogil=True, parallel=True)
def _correct(lattice, cells, active, r, m, z, coarse, u, v, dots):  # type: ignore[no-untyped-def]
    for s in prange(cells.strips.size - 1):
        for k in range(active.size):
            if active[k]:
                dots[k, s] = sweeps.correct(s, lattice, cells, r[k], m[k], z[k], coarse[k], u[k], v[k])


@njit(cache=True, nogil=True, parallel=True)
def _average_corrected(lattice, cells, active, z, coarse, u, v):  # type: ignore[no-untyped-def]
    for s in prange(cells.strips.size - 1):
        for k in range(active.size):
            if active[k]:
                sweeps.average_corrected(s, lattice, cells, z[k], coarse[k], u[k], v[k])


@njit(cache=True, nogil=True, parallel=True)
def _dot_preconditioned(lattice, cells, active, r, z, coarse, u, step, early, dots):  # type: ignore[no-untyped-def]
    for s in prange(cells.strips.size - 1):
        for k in range(active.size):
            if active[k]:
                dots[k, s] = sweeps.dot_preconditioned(
                    s, lattice, cells, r[k], z[k], coarse[k], u[k], step[k], early[k]
                )


@njit(cache=True, nogil=True, parallel=True)
def _direct(lattice, cells, active, z, coarse, u, step, early, m, beta, p, q, dots, norms):  # type: ignore[no-untyped-def]
    for s in prange(cells.strips.size - 1):
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


@njit(cache=True, nogil=True)
def conjugate_gradients(lattice, cells, levels, x, r, tolerance, relative, most, slowest, safety):  # type: ignore[no-untyped-def]
    """Improve x (K, H, W) until the RMS error of every channel is below `tolerance`.

    r (K, H, W) is the residual and is used up. With `relative` the tolerance is a part of the distance travelled.
    slowest (K,) bounds the smallest eigenvalue known of the preconditioned matrix, and is improved.
    Returns per channel the iterations done and the estimated RMS error.

    The preconditioner is a V-cycle. Its answer is never stored: sweep 4 makes it row by row from z, the coarse
    correction and u.
    """
    channels, height, width = x.shape
    kind = x.dtype
    strips = cells.strips.size - 1
    straddling = cells.straddling
    nodes = levels.inverse.size
    root = np.sqrt(float(height * width))
    rounding = 8.0 * np.finfo(x.dtype).eps
    slack = lattice.slack.ravel()
    p, q, z, u = np.zeros_like(x), np.zeros_like(x), np.empty_like(x), np.empty_like(x)
    shape = (channels, *lattice.gain.shape)
    v, m, early = np.zeros(shape, kind), np.zeros(shape, kind), np.zeros(shape, kind)
    step, step_early = np.zeros(shape, kind), np.zeros(shape, kind)
    coarse_r, coarse_z = np.zeros((channels, nodes), kind), np.zeros((channels, nodes), kind)
    coarse_w = np.zeros((channels, nodes), kind)
    coarse_m = np.zeros((channels, *levels.gain.shape), kind)
    coarse_step = np.zeros(lattice.gain.size, kind)
    dots, norms = np.zeros((channels, strips)), np.zeros((channels, strips))
    alphas, betas = np.zeros((channels, most)), np.zeros((channels, most))
    alpha, beta, gamma = np.zeros(channels), np.zeros(channels), np.zeros(channels)
    travelled, last_length = np.zeros(channels), np.zeros(channels)
    iterations, error = np.zeros(channels, np.int64), np.full(channels, np.inf)
    active = np.ones(channels, np.bool_)
    for n in range(most + 1):
        _advance(lattice, cells, active, alpha, p, q, x, r, v)
        for k in range(channels):
            bound = tolerance * (travelled[k] if relative else 1.0)
            if n >= _FIRST_LOOK and error[k] <= bound:
                active[k] = False
        if n == most or not active.any():
            break
        for k in range(channels):
            m[k] = v[k] * lattice.gain
        if straddling:
            early[:] = m
            _average_straddling(lattice, cells, active, r, early, v)
            for k in range(channels):
                m[k] = v[k] * lattice.gain
        _relax_and_restrict(lattice, cells, active, r, m, early, z, coarse_r, levels.strips[0])
        v_cycle(levels, active, slack, coarse_r, coarse_z, coarse_w, coarse_m, coarse_step)
        _correct(lattice, cells, active, r, m, z, coarse_w, u, v, dots)
        if straddling:
            _average_corrected(lattice, cells, active, z, coarse_w, u, v)
        for k in range(channels):
            v[k] -= lattice.slack * m[k]
            step[k] = v[k] * lattice.gain
        if straddling:
            step_early[:] = step
            _average_straddling(lattice, cells, active, u, step_early, v)
            for k in range(channels):
                step[k] = v[k] * lattice.gain
            _dot_preconditioned(lattice, cells, active, r, z, coarse_w, u, step, step_early, dots)
        for k in range(channels):
            if active[k]:
                new_gamma = dots[k].sum()
                if not straddling:
                    # r . answer = (r - D^T m) . (z2 + E^-1 u) + m . C^-1 m, since D E^-1 (r - D^T m) = C^-1 m.
                    new_gamma += (lattice.slack * m[k] * m[k]).sum()
                beta[k] = new_gamma / gamma[k] if n > 0 else 0.0
                if n > 0:
                    betas[k, n - 1] = beta[k]
                gamma[k] = new_gamma
                m[k] += step[k]
                if not new_gamma > 0.0:
                    # Nothing left to do, or nothing left that rounding can tell.
                    active[k] = False
                    error[k] = rounding * travelled[k]
        _direct(lattice, cells, active, z, coarse_w, u, step, step_early, m, beta, p, q, dots, norms)
        for k in range(channels):
            if active[k]:
                curvature = dots[k].sum()
                if not curvature > 0.0:
                    active[k] = False
                    continue
                alpha[k] = gamma[k] / curvature
                alphas[k, n] = alpha[k]
                iterations[k] = n + 1
                length = alpha[k] * np.sqrt(norms[k].sum()) / root
                travelled[k] = np.sqrt(travelled[k] ** 2 + length**2)
                slowest[k] = min(slowest[k], smallest_ritz_value(alphas[k], betas[k], n + 1))
                error[k] = error_after(length, last_length[k], slowest[k], safety)
                if length <= rounding * (travelled[k] if relative else 1.0):
                    # The step is lost in the rounding of x: no later one can matter more.
                    error[k] = length
                last_length[k] = length
    return iterations, error
