"""How much memory a computation takes at its peak, beyond its inputs; on Linux only.

It is measured in a process of its own: the inputs are loaded from a file, so that nothing but them is in memory, and a
small computation of the same kind goes first, so that compiled code is there already.
"""

from __future__ import annotations

import ctypes
import math
import pickle
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import torch

from graphsr.graph import Edges
from graphsr.models.base import Model
from graphsr.solver import Problem, solve
from graphsr.upsampling import upsample

_STATUS = Path("/proc/self/status")
_RESET = Path("/proc/self/clear_refs")
_RESET_PEAK = "5"
# Source pixels on a side of the small computation.
_SMALL_SIDE = 4


def method_megabytes(model: Model, guide: np.ndarray, source: np.ndarray) -> float | None:
    """Measure an upsampling of guide (H, W, C) and source (h, w); None where the system does not say."""
    size = _measure_in_own_process("method", model, guide, source)
    return None if size is None else size / 1e6


def solver_bytes_per_pixel(problem: Problem) -> float | None:
    """Measure a solve, less its target, for each pixel of the target; None where the system does not say."""
    edges = problem.edges
    size = _measure_in_own_process("solver", edges.down.numpy(), edges.right.numpy(), problem.source.numpy())
    return None if size is None else size / math.prod(edges.size)


def _measure_in_own_process(what: str, *arguments: object) -> int | None:
    """Return the bytes that `_MEASURED[what]` measures of the arguments in another process."""
    if sys.platform != "linux":
        return None
    with TemporaryDirectory() as folder:
        file = Path(folder, "arguments.pickle")
        file.write_bytes(pickle.dumps(arguments))
        command = [sys.executable, "-m", "graphsr.experiments.benchmarks.memory", what, str(file)]
        return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _measure_method(model: Model, guide: np.ndarray, source: np.ndarray) -> int:
    side = _SMALL_SIDE * (guide.shape[0] // source.shape[0])
    upsample(guide[:side, :side], source[:_SMALL_SIDE, :_SMALL_SIDE], model=model)
    return growth_at_peak(lambda: upsample(guide, source, model=model))


def _measure_solver(down: np.ndarray, right: np.ndarray, source: np.ndarray) -> int:
    edges, values = Edges(torch.from_numpy(down), torch.from_numpy(right)), torch.from_numpy(source)
    side = _SMALL_SIDE * (edges.size[0] // source.shape[-2])
    small = Edges(edges.down[:, : side - 1, :side], edges.right[:, :side, : side - 1])
    solve(small, values[..., :_SMALL_SIDE, :_SMALL_SIDE], (side, side), backend="numba")
    found: list[torch.Tensor] = []
    growth = growth_at_peak(lambda: found.append(solve(edges, values, edges.size, backend="numba")))
    return growth - found[0].numel() * found[0].element_size()


_MEASURED: dict[str, Callable[..., int]] = {"method": _measure_method, "solver": _measure_solver}


def growth_at_peak(compute: Callable[[], Any]) -> int:
    """Return the bytes by which the peak of resident memory (VmHWM) exceeds resident memory before."""
    _release_freed_memory()
    _RESET.write_text(_RESET_PEAK)
    before = _status_bytes("VmRSS")
    compute()
    return _status_bytes("VmHWM") - before


def _release_freed_memory() -> None:
    """Return to the system what was freed: it would serve the computation otherwise, and not be seen."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # of the GNU C library
    if trim is not None:
        trim(0)


def _status_bytes(entry: str) -> int:
    found = re.search(rf"^{entry}:\s+(\d+) kB$", _STATUS.read_text(), re.MULTILINE)
    if found is None:
        raise OSError(f"{_STATUS} has no {entry}")
    return int(found[1]) * 1024


if __name__ == "__main__":
    # The arguments are our own, written just now.
    print(_MEASURED[sys.argv[1]](*pickle.loads(Path(sys.argv[2]).read_bytes())))
