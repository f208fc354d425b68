"""When to stop: the coefficients of conjugate gradients, and the error of the answer estimated from them.

The step of iteration k has length s_k = alpha_k |p_k|, and the error before it is the sum of it and all steps to come.
Steps shrink like ((1 - t) / (1 + t))^k with t the root of the smallest eigenvalue of the preconditioned matrix (in
parts of the largest), so the sum is about s_k (1 + t) / (2 t). That eigenvalue is read off the Lanczos matrix of the
coefficients. Measured against direct solves the truth is at most twice the estimate, hence the safety factor. (The
error *after* the step would be smaller by (1 - t) / (1 + t); tried, and too bold where a slow mode shows itself late.)
A residual would not do: at small lambda the data term hides what the Laplacian has not done yet.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from graphsr.compiled import entry, inner

SAFETY = 2.0
# The first coefficients say too little to rely on an estimate made from them.
_FIRST_ESTIMATE = 3
# A slow mode may show itself late, after steps have become small: an estimate has to hold for so many iterations.
_HOLDS = 4


class Progress(NamedTuple):
    """How far the iteration of N systems is; every array is (N,) unless it says otherwise."""

    active: np.ndarray  # which systems still iterate
    alpha: np.ndarray  # the coefficients of the current iteration
    beta: np.ndarray
    gamma: np.ndarray  # r . z
    length: np.ndarray  # RMS of the last step
    held: np.ndarray  # for how many iterations the estimate has been good enough
    iterations: np.ndarray
    error: np.ndarray  # RMS, estimated
    travelled: np.ndarray  # RMS of all steps together
    slowest: np.ndarray  # smallest eigenvalue of the preconditioned matrix seen so far, in parts of the largest
    alphas: np.ndarray  # (N, most) all coefficients, the entries of the Lanczos matrix
    betas: np.ndarray  # (N, most)


def begin(systems: int, most: int) -> Progress:
    """Return the progress of `systems` systems before the first of at most `most` iterations."""
    return Progress(
        active=np.ones(systems, np.bool_),
        alpha=np.zeros(systems),
        beta=np.zeros(systems),
        gamma=np.zeros(systems),
        length=np.zeros(systems),
        held=np.zeros(systems, np.int64),
        iterations=np.zeros(systems, np.int64),
        error=np.full(systems, np.inf),
        travelled=np.zeros(systems),
        slowest=np.ones(systems),
        alphas=np.empty((systems, most)),
        betas=np.empty((systems, most)),
    )


@entry()
def set_coefficients(progress, n, gammas, deltas):  # type: ignore[no-untyped-def]
    """Set alpha and beta of iteration n from the parts (N, S) of r . z and z . A z; return whether any is active."""
    for k in range(gammas.shape[0]):
        if not progress.active[k]:
            continue
        gamma, delta = gammas[k].sum(), deltas[k].sum()
        if not (gamma > 0 and delta > 0):
            # Nothing is left to do, or nothing that rounding can tell: the last estimate stands.
            progress.active[k] = False
            if n == 0 and gamma == gamma and delta == delta:
                progress.error[k] = 0.0
            continue
        beta = gamma / progress.gamma[k] if n > 0 else 0.0
        curvature = delta - beta * gamma / progress.alpha[k] if n > 0 else delta
        if not curvature > 0:
            beta, curvature = 0.0, delta  # rounding has spoilt the direction: restart from here
        progress.gamma[k], progress.beta[k], progress.alpha[k] = gamma, beta, gamma / curvature
        progress.alphas[k, n] = progress.alpha[k]
        if n > 0:
            progress.betas[k, n - 1] = beta
    return is_any(progress.active)


@entry()
def see_largest(progress, n, seen):  # type: ignore[no-untyped-def]
    """Raise seen (1,) to what bounds the eigenvalues of the preconditioned matrix, as far as iteration n shows them.

    The eigenvalues of the Lanczos matrix are those of the preconditioned one, the largest first; none exceeds the
    largest sum of the absolute values in a row. Iteration n completes the row of the one before it.
    """
    if n == 0:
        return
    for k in range(progress.active.size):
        if not progress.active[k]:
            continue
        alpha, beta = progress.alphas[k], progress.betas[k]
        row = (1 + np.sqrt(beta[n - 1])) / alpha[n - 1]
        if n > 1:
            row += (beta[n - 2] + np.sqrt(beta[n - 2])) / alpha[n - 2]
        seen[0] = max(seen[0], row)


@inner()
def is_any(values):  # type: ignore[no-untyped-def]
    """Return whether any of values (N,) is true."""
    for value in values:  # noqa: SIM110  numba has no any()
        if value:
            return True
    return False


@entry()
def update_errors(progress, n, squares, pixels, largest, tolerance, relative, rounding):  # type: ignore[no-untyped-def]
    """Estimate the errors after iteration n from the parts (N, S) of p . p, and end what is good enough.

    largest bounds the eigenvalues of the preconditioned matrix; tolerance (N,) is an RMS error, or with `relative` a
    part of the distance travelled; below `rounding` of that distance a step does nothing any more.
    """
    for k in range(squares.shape[0]):
        if not progress.active[k]:
            continue
        previous = progress.length[k]
        length = progress.alpha[k] * np.sqrt(squares[k].sum() / pixels)
        progress.length[k] = length
        progress.travelled[k] = np.hypot(progress.travelled[k], length)
        progress.iterations[k] = n + 1
        bound = tolerance[k] * (progress.travelled[k] if relative else 1.0)
        error = estimate(length, previous, progress.slowest[k])
        early = n + 1 < _FIRST_ESTIMATE
        if not early and error <= bound:
            # The eigenvalue known is at least the true one, and the estimate at most: worth a closer look.
            seen = smallest_ritz_value(progress.alphas[k], progress.betas[k], n + 1) / largest
            progress.slowest[k] = min(progress.slowest[k], seen)
            error = estimate(length, previous, progress.slowest[k])
        progress.error[k] = error
        progress.held[k] = progress.held[k] + 1 if not early and error <= bound else 0
        lost = length <= rounding * progress.travelled[k]
        progress.active[k] = early or not (lost or progress.held[k] >= _HOLDS)


@entry()
def smallest_ritz_value(alphas, betas, count):  # type: ignore[no-untyped-def]
    """Return the smallest eigenvalue of the Lanczos matrix after `count` iterations, by bisection on Sturm counts."""
    low, high = 0.0, 1.0 / alphas[0]
    for _ in range(40):
        middle = 0.5 * (low + high)
        pivot = 1.0 / alphas[0] - middle
        below = pivot < 0
        for k in range(1, count):
            if below:
                break
            off = betas[k - 1] / (alphas[k - 1] * alphas[k - 1])
            pivot = 1.0 / alphas[k] + betas[k - 1] / alphas[k - 1] - middle - off / max(pivot, 1e-300)
            below = pivot < 0
        if below:
            high = middle
        else:
            low = middle
    return high


@entry()
def estimate(step, previous_step, slowest):  # type: ignore[no-untyped-def]
    """Estimate the RMS error from the last two steps and the smallest eigenvalue."""
    t = np.sqrt(min(max(slowest, 1e-30), 1.0))
    return SAFETY * max(step, previous_step) * 0.5 * (1.0 + t) / t
