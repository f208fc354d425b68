"""How much memory a solve takes beyond what goes in and what comes out.

Measured in a process of its own: it loads the inputs from files, so that nothing but them is in memory, and has solved
a small problem before, so that compiled code is there already. What the resident memory grows by during the solve, less
the target, is what the solve took.
"""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch

from graphsr.experiments.benchmarks.resident_memory import growth_at_peak
from graphsr.experiments.benchmarks.solver_problems import SolverProblem
from graphsr.graph import Edges
from graphsr.solver import solve

_SMALL = 128
_FACTOR = 8


def bytes_beyond_arguments(problem: SolverProblem) -> float | None:
    """Bytes a pixel of the target, or None where the system does not tell."""
    if sys.platform != "linux":
        return None
    with TemporaryDirectory() as folder:
        np.save(Path(folder, "down.npy"), problem.edges.down.numpy())
        np.save(Path(folder, "right.npy"), problem.edges.right.numpy())
        np.save(Path(folder, "source.npy"), problem.source.numpy())
        command = [sys.executable, "-m", "graphsr.experiments.benchmarks.solver_memory", folder]
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return int(answer) / math.prod(problem.edges.size)


def _measure(folder: str) -> int:
    torch.manual_seed(0)
    small = Edges(torch.rand(1, _SMALL - 1, _SMALL) + 0.1, torch.rand(1, _SMALL, _SMALL - 1) + 0.1)
    cells = _SMALL // _FACTOR
    solve(small, torch.randn(1, 1, cells, cells), (_SMALL, _SMALL), path="fused")
    names = ("down", "right", "source")
    down, right, source = (torch.from_numpy(np.load(Path(folder, f"{name}.npy"))) for name in names)
    edges = Edges(down, right)
    found: list[torch.Tensor] = []
    grown = growth_at_peak(lambda: found.append(solve(edges, source, edges.size, path="fused")))
    return grown - found[0].numel() * found[0].element_size()


if __name__ == "__main__":
    print(_measure(sys.argv[1]))
