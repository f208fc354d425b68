"""Conjugate gradients on one image, all its channels together, preconditioned by one relaxation.

In the form of Chronopoulos and Gear: the products r . z and z . A z of one sweep give both coefficients, so that an
iteration is two sweeps over the image (three where pixels straddle cells) instead of one for every vector operation.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange

from graphsr.solver import sweeps
from graphsr.solver.estimate import error_after, smallest_ritz_value

# The first coefficients say too little to trust an estimate made from them.
_FIRST_LOOK = 3
# A slow mode may show itself late, after steps have become small: an estimate has to hold for so many iterations.
_HOLDS = 4


@njit(cache=True, nogil=True, parallel=True)
def iterate(lattice, cells, x, r, tolerance, relative, most, rounding, slowest, iterations, error, travelled):  # type: ignore[no-untyped-def]
    """Move x (K, H, W) from zero until the RMS error of every channel is below its tolerance (K,), or lost in rounding.

    r (K, H, W) is the residual and is used up. With `relative` the tolerance is a part of the distance travelled.
    The other vectors are (K,) too: slowest bounds the smallest eigenvalue known of the preconditioned matrix and is
    improved; iterations, error (RMS, estimated) and travelled (RMS of x) are filled in.
    """
    channels, height, width = x.shape
    kind = x.dtype.type
    rows, columns = lattice.gain.shape
    strips = cells.strips.size - 1
    root = np.sqrt(float(height * width))
    w, p, q = np.zeros_like(x), np.zeros_like(x), np.zeros_like(x)
    m = np.zeros((channels, rows, columns), x.dtype)
    # The multipliers of this residual and of the next, in turn.
    spread = np.zeros((2, channels, rows, width), x.dtype)
    early = np.zeros((2, channels, rows if cells.straddling else 0, width), x.dtype)
    norms, slacks = np.zeros((channels, strips)), np.zeros((channels, strips))
    gammas, deltas = np.zeros((channels, strips)), np.zeros((channels, strips))
    alphas, betas = np.empty((channels, most)), np.empty((channels, most))
    alpha, beta, gamma = np.zeros(channels), np.zeros(channels), np.zeros(channels)
    length = np.zeros(channels)
    held = np.zeros(channels, np.int64)
    active = np.ones(channels, np.bool_)
    iterations[:] = 0
    error[:] = np.inf
    travelled[:] = 0
    for n in range(-1, most):
        now, then = n & 1, (n + 1) & 1
        if n >= 0:
            for strip in prange(strips):
                s = np.int64(strip)
                for k in range(channels):
                    if active[k]:
                        gammas[k, s], deltas[k, s] = sweeps.product(
                            s, lattice, cells, spread[now, k], early[now, k], r[k], w[k]
                        )
            for k in range(channels):
                if not active[k]:
                    continue
                slack = slacks[k].sum()
                new_gamma, delta = gammas[k].sum() + slack, deltas[k].sum() + slack
                if not (new_gamma > 0 and delta > 0):
                    # Nothing is left to do, or nothing that rounding can tell: the last estimate stands.
                    active[k] = False
                    if n == 0 and new_gamma == new_gamma and delta == delta:
                        error[k] = 0.0
                    continue
                beta[k] = new_gamma / gamma[k] if n > 0 else 0.0
                curvature = delta - beta[k] * new_gamma / alpha[k] if n > 0 else delta
                if not curvature > 0:
                    beta[k], curvature = 0.0, delta  # rounding has spoilt the direction: begin anew from here
                gamma[k] = new_gamma
                alpha[k] = new_gamma / curvature
                alphas[k, n] = alpha[k]
                if n > 0:
                    betas[k, n - 1] = beta[k]
        if not active.any():
            break
        for strip in prange(strips):
            s = np.int64(strip)
            for k in range(channels):
                if active[k]:
                    norms[k, s], slacks[k, s] = sweeps.advance(
                        s, lattice, cells, kind(alpha[k]), kind(beta[k]), spread[now, k], early[now, k],
                        w[k], p[k], q[k], x[k], r[k], m[k], early[then, k] if cells.straddling else spread[then, k],
                    )  # fmt: skip
        if cells.straddling:
            for strip in prange(strips):
                s = np.int64(strip)
                for k in range(channels):
                    if active[k]:
                        slacks[k, s] = sweeps.straddle(s, lattice, cells, early[then, k], r[k], m[k], spread[then, k])
        if n < 0:
            continue
        for k in range(channels):
            if not active[k]:
                continue
            last_length, length[k] = length[k], alpha[k] * np.sqrt(norms[k].sum()) / root
            travelled[k] = np.hypot(travelled[k], length[k])
            scale = travelled[k] if relative else 1.0
            iterations[k] = n + 1
            error[k] = error_after(length[k], last_length, slowest[k])
            if n + 1 >= _FIRST_LOOK and error[k] <= tolerance[k] * scale:
                # Worth a closer look. Between looks `slowest` is too large, and with it the estimate too small.
                slowest[k] = min(slowest[k], smallest_ritz_value(alphas[k], betas[k], n + 1))
                error[k] = error_after(length[k], last_length, slowest[k])
            held[k] = held[k] + 1 if n + 1 >= _FIRST_LOOK and error[k] <= tolerance[k] * scale else 0
            lost = length[k] <= rounding * travelled[k]
            active[k] = n + 1 < _FIRST_LOOK or not (lost or held[k] >= _HOLDS)
