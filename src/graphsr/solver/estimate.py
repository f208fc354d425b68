"""How far an iterate is from the answer, told from what conjugate gradients know anyway.

The step of iteration k has length s_k = alpha_k |p_k|, and the error before it is the sum of it and all steps to come.
Steps shrink like ((1 - t) / (1 + t))^k with t the root of the smallest eigenvalue of the preconditioned matrix (its
largest being at most 1), so the sum is about s_k (1 + t) / (2 t). That eigenvalue is read off the Lanczos matrix of the
coefficients. Measured against direct solves the truth is at most twice the estimate, hence the safety factor. (The
error *after* the step would be smaller by (1 - t) / (1 + t); tried, and too bold where a slow mode shows itself late.)
A residual would not do: at small lambda the data term hides what the Laplacian has not done yet.
"""

from __future__ import annotations

import numpy as np
from numba import njit

SAFETY = 2.0


@njit(cache=True, nogil=True)
def smallest_ritz_value(alphas, betas, count):  # type: ignore[no-untyped-def]
    """The smallest eigenvalue of the Lanczos matrix after `count` iterations, by bisection on Sturm counts."""
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


@njit(cache=True, nogil=True)
def error_after(step, previous_step, slowest):  # type: ignore[no-untyped-def]
    """An estimate of the length of the error from the last two steps and the smallest eigenvalue."""
    t = np.sqrt(min(max(slowest, 1e-30), 1.0))
    return SAFETY * max(step, previous_step) * 0.5 * (1.0 + t) / t
