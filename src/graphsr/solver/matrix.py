"""The matrix of a problem, set up once and solved for as many right-hand sides as needed, on either backend."""

from __future__ import annotations

from typing import Literal, Protocol

import torch

from graphsr.errors import InputError
from graphsr.solver.problem import Problem

Backend = Literal["auto", "numba", "torch"]


class Matrix(Protocol):
    """A = L + D^T C D + T of a problem: its edges, sampling, confidence, prior weight and `exact`."""

    def is_direct(self, channels: int) -> bool:
        """Return whether so many channels are solved by a factorisation, to rounding and all alike."""

    def minimise(
        self, source: torch.Tensor, rhs: torch.Tensor, start: torch.Tensor, *, tolerance: float, relative: bool
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Solve A y = D^T C source + rhs.

        Args:
            source: (B, K, h, w), 0 where missing.
            rhs: (B, K, H, W), or empty for none.
            start: (B, K, H, W), which may be overwritten.
            tolerance: RMS error allowed, or that part of the RMS of y if `relative`.
            relative: What the tolerance is of.

        Returns:
            y (B, K, H, W), the iterations done and the RMS errors estimated, both (B, K).
        """


def set_up(problem: Problem, backend: Backend = "auto") -> Matrix:
    """Set up the matrix of a problem, to be kept for other right-hand sides (`solve_problem(..., matrix=)`).

    Args:
        problem: Its source, prior, offsets and start are not used.
        backend: "numba" (CPU kernels), "torch" (any device) or "auto".
    """
    # Imported here: each backend loads a library that takes a second.
    if uses_numba(problem, backend):
        from graphsr.solver.backends.numba_backend import NumbaMatrix

        return NumbaMatrix(problem)
    from graphsr.solver.backends.torch_backend import TorchMatrix

    return TorchMatrix(problem)


def uses_numba(problem: Problem, backend: Backend) -> bool:
    """Return whether a problem runs in CPU kernels."""
    if backend not in ("auto", "numba", "torch"):
        raise InputError(f"solve: backend must be 'auto', 'numba' or 'torch', not {backend!r}")
    device = problem.source.device
    if backend == "numba" and device.type != "cpu":
        raise InputError(f"solve: backend 'numba' runs on the CPU, but the source is on {device}")
    from graphsr.solver.backends.diagonal import measures_twice

    return backend != "torch" and device.type == "cpu" and not measures_twice(problem.sampling)
