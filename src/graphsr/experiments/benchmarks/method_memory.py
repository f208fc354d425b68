"""How much memory an upsampling takes beyond program, images and weights, measured in a process of its own."""

from __future__ import annotations

import pickle
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from graphsr.experiments.benchmarks.resident_memory import growth_at_peak
from graphsr.models.base import Model
from graphsr.upsampling import upsample

# Cells on a side of the source that compiles and warms up everything first.
_SMALL = 4


def peak_megabytes(model: Model, guide: np.ndarray, source: np.ndarray) -> float | None:
    """guide (H, W, C), source (h, w); None where the system does not tell."""
    if sys.platform != "linux":
        return None
    with TemporaryDirectory() as folder:
        Path(folder, "model.pickle").write_bytes(pickle.dumps(model))
        np.save(Path(folder, "guide.npy"), guide)
        np.save(Path(folder, "source.npy"), source)
        command = [sys.executable, "-m", "graphsr.experiments.benchmarks.method_memory", folder]
        answer = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    return int(answer) / 1e6


def _measure(folder: str) -> int:
    model = pickle.loads(Path(folder, "model.pickle").read_bytes())  # our own, written just now
    guide, source = np.load(Path(folder, "guide.npy")), np.load(Path(folder, "source.npy"))
    side = _SMALL * (guide.shape[0] // source.shape[0])
    upsample(guide[:side, :side], source[:_SMALL, :_SMALL], model=model)
    return growth_at_peak(lambda: upsample(guide, source, model=model))


if __name__ == "__main__":
    print(_measure(sys.argv[1]))
