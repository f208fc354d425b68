"""The preconditioner where source pixels share target pixels (wide footprints, factors between 1 and 2).

There D E^-1 D^T is not diagonal, and solving with it would be a second iteration in every step of the first. D D^T
without E is the Kronecker product of two banded matrices and solved in two sweeps (gram.py). With it R = D^T (D D^T)^-1
is a right inverse of D, P = I - R D the projection on the targets whose averages are 0, and

    M^-1 = P E^-1 P^T + R G R^T,    G = 1 / (C + diagonal of R^T E R)

relaxes the averages (R G R^T: as firm as the confidence) and all that leaves them alone (P E^-1 P^T) apart from each
other. With exact fidelity G is 0 at known source pixels, so that no step changes their averages.

P knows nothing of E: what a loose pixel would do is paid for by the firm ones around it. So E is the geometric mean of
the diagonal and its surroundings there: neither loose pixels nor their neighbours then lose more than a root of the
contrast (fewer iterations than the diagonal itself takes, at best a third; docs/evidence/solver.md).
"""

from __future__ import annotations

import math

import numpy as np
import torch

from graphsr.footprints import footprint_reach
from graphsr.sampling import Sampling
from graphsr.solver.backends.gram import gram, gram_inverse


def evened_diagonal(sampling: Sampling, diagonal: torch.Tensor) -> torch.Tensor:
    """Return E (B, 1, H, W): a diagonal, raised where it is below its mean over what a source pixel averages."""
    around = diagonal
    for n, step in enumerate(sampling.factor):
        reach = math.ceil(footprint_reach(sampling.footprint) * step)
        around = _moving_mean(around, reach, n - 2)
    return (diagonal * torch.maximum(diagonal, around)).sqrt()


def _moving_mean(values: torch.Tensor, reach: int, axis: int) -> torch.Tensor:
    """Return the mean over `reach` values to both sides along an axis, fewer at its ends."""
    size = values.shape[axis]
    place = torch.arange(size, device=values.device)
    begin, end = (place - reach).clamp_min(0), (place + reach + 1).clamp_max(size)
    sums = torch.cat([torch.zeros_like(values.narrow(axis, 0, 1)), values.cumsum(axis)], axis)
    total = sums.index_select(axis, end) - sums.index_select(axis, begin)
    shape = (-1, 1) if axis == -2 else (-1,)
    return total / (end - begin).reshape(shape)


def average_gain(
    sampling: Sampling, diagonal: torch.Tensor, confidence: torch.Tensor, known: torch.Tensor, exact: bool
) -> torch.Tensor:
    """Return G (B, 1 or K, h, w).

    Args:
        sampling: D.
        diagonal: E (B, 1, H, W), as `evened_diagonal` returns it.
        confidence: C (B, 1 or K, h, w).
        known: Which source pixels have data, 0 or 1, shaped like the confidence.
        exact: Whether their averages are given.
    """
    boxes = Sampling(sampling.size, sampling.source_size, origin=sampling.origin, step=sampling.factor)
    norms = np.outer(gram(sampling.rows).inverse_diagonal, gram(sampling.columns).inverse_diagonal)
    firmness = boxes(diagonal) * torch.as_tensor(norms, dtype=diagonal.dtype, device=diagonal.device)
    visible = torch.as_tensor(sampling.visible > 0, device=diagonal.device)
    free = visible & ~((known > 0) & exact)
    total = firmness + (torch.zeros_like(confidence) if exact else confidence)
    return torch.where(free & (total > 0), 1 / total, torch.zeros_like(total))


class Projection:
    """M^-1 in plain torch, with the methods of `torch_backend.Relaxation`; fields are (B, 1 or K, ...)."""

    def __init__(
        self, sampling: Sampling, diagonal: torch.Tensor, confidence: torch.Tensor, known: torch.Tensor, exact: bool
    ) -> None:
        self.sampling, self.exact, self.known = sampling, exact, known
        diagonal = evened_diagonal(sampling, diagonal)
        self.inverse = 1 / diagonal
        self.confidence = torch.zeros_like(confidence) if exact else confidence
        self.gain = average_gain(sampling, diagonal, confidence, known, exact)
        self.rows, self.columns = (
            torch.as_tensor(gram_inverse(along), dtype=diagonal.dtype, device=diagonal.device)
            for along in (sampling.rows, sampling.columns)
        )

    def __call__(self, r: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return z = M^-1 r (B, K, H, W), what of r only moves averages, and the part of z . A z in the data (B, K).

        The second is D^T C D z, or with exact fidelity the multipliers of the known source pixels, widened.
        """
        m = self._solve(self.sampling(r))
        averages = self.gain * m
        z = self.inverse * (r - self.sampling.adjoint(m))
        z = z + self.sampling.adjoint(self._solve(averages - self.sampling(z)))
        pushed = self.known * m if self.exact else self.confidence * averages
        data = (self.confidence * averages * averages).sum((-2, -1), dtype=torch.float64)
        return z, self.sampling.adjoint(pushed), data

    def fit(self, shortfall: torch.Tensor) -> torch.Tensor:
        """Return the change of the target that lifts its averages by `shortfall` (B, K, h, w), as far as they count."""
        counts = self.known if self.exact else self.gain * self.confidence
        return self.sampling.adjoint(self._solve(counts * shortfall))

    def recover(self, rest: torch.Tensor) -> torch.Tensor:
        """Return the m (B, K, h, w) of D^T m = rest, on the known source pixels."""
        return self.known * self._solve(self.sampling(rest))

    def _solve(self, averages: torch.Tensor) -> torch.Tensor:
        """Return (D D^T)^-1 averages."""
        return self.rows @ averages @ self.columns


# What the largest eigenvalue is taken to be before the iteration has shown more (`stopping.see_largest`): the
# preconditioner has two parts of about 1 each.
LARGEST = 2.0
# Slow modes show later here than with a relaxation, so that the error is estimated 2.8 times as large, by a bound eight
# times as high as what was seen (measured: up to 1.5 times too small without, 1.1 times with four).
MARGIN = 8.0
