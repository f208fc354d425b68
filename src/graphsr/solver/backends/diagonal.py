"""The preconditioner where some source pixels measure nearly the same, as at factor 1 and half a pixel off.

D D^T can then not be inverted, and projection.py does not apply. With soft fidelity the matrix itself can be, and is
relaxed by its diagonal.
"""

from __future__ import annotations

import torch

from graphsr.errors import InputError
from graphsr.sampling import Sampling
from graphsr.solver.backends.gram import gram

# D D^T is taken to be singular where its inverse has larger entries than this.
_LARGEST_INVERSE = 1e11


def measures_twice(sampling: Sampling) -> bool:
    """Return whether some source pixels that share target pixels measure nearly the same as others."""
    if not sampling.couples_cells:
        return False
    rows, columns = (gram(along).inverse_diagonal.max() for along in (sampling.rows, sampling.columns))
    return bool(rows * columns > _LARGEST_INVERSE)


class Diagonal:
    """z = r / (E + the row sums of D^T C D), with the methods of `torch_backend.Relaxation`."""

    def __init__(self, sampling: Sampling, diagonal: torch.Tensor, confidence: torch.Tensor, exact: bool) -> None:
        if exact:
            raise InputError(
                "exact: some source pixels measure nearly the same target pixels, so that no target may average back "
                "to all of them; leave exact out"
            )
        self.sampling, self.confidence = sampling, confidence
        everywhere = torch.ones(sampling.size, dtype=diagonal.dtype, device=diagonal.device)
        data = sampling.adjoint(confidence * sampling(everywhere)).amax(1, keepdim=True)
        self.inverse = 1 / (diagonal + data.clamp_min(0))

    def __call__(self, r: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Return z (B, K, H, W), D^T C D z, and the part of z . A z in the data (B, K)."""
        z = self.inverse * r
        averages = self.sampling(z)
        pushed = self.confidence * averages
        return z, self.sampling.adjoint(pushed), (pushed * averages).sum((-2, -1), dtype=torch.float64)

    def fit(self, shortfall: torch.Tensor) -> torch.Tensor:
        """Return the change of the target that lifts its averages by `shortfall` (B, K, h, w): none is known."""
        return torch.zeros_like(self.sampling.adjoint(shortfall))
