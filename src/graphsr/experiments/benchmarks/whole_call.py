"""The time of a whole call of `graphsr.upsample`, arrays in and arrays out."""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphsr.data.footprints import average
from graphsr.models.base import Model
from graphsr.models.registry import load
from graphsr.scenes import scene
from graphsr.solver import solve_problem
from graphsr.upsampling import upsample

_SEED = 7
# Seconds of one call that are the goal, for a model and a side in pixels at x8 on two cores of a free machine.
GOALS = {("default", 256): 0.060, ("default", 1024): 0.9, ("colour", 256): 0.012, ("colour", 1024): 0.140}
FIRST_CALL_GOAL = 15.0
Pair = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class CallRow:
    """The time of one kind of call."""

    model: str
    side: int
    factor: int
    seconds: float  # the median
    least: float
    cpu_seconds: float  # the median, of all threads together
    solve_seconds: float  # the median of the solve alone, done again
    iterations: int
    goal: float | None


@dataclass(frozen=True)
class FirstCallRow:
    """The time of the command `graphsr upsample` when no kernel has been compiled yet, and again when all have."""

    model: str
    seconds: float
    again_seconds: float

    @property
    def compiling(self) -> float:
        """Seconds that the compilation took."""
        return self.seconds - self.again_seconds


def make_pair(side: int, factor: int) -> Pair:
    """Render a guide (H, W, 3) and a source (h, w)."""
    rendered = scene(_SEED, (side, side))
    return rendered.guide, average(rendered.depth, (side // factor, side // factor))


def call_seconds(pair: Pair, model: Model) -> float:
    """Return the seconds that one call takes."""
    began = time.perf_counter()
    upsample(*pair, model=model)
    return time.perf_counter() - began


def measure(
    models: Sequence[str], sides: Sequence[int], factor: int, repeats: int, progress: Callable[[str], None]
) -> list[CallRow]:
    """Measure whole calls on rendered scenes; all kinds take turns, so that other load slows all of them.

    Args:
        models: Their names or files.
        sides: Of the guide, in pixels.
        factor: How many target pixels a source pixel is wide.
        repeats: Of which the median is returned.
        progress: Called with what is done.
    """
    pairs = {side: make_pair(side, factor) for side in sides}
    loaded = {name: load(name) for name in models}
    cases = [(name, side) for name in models for side in sides]
    figures: dict[tuple[str, int], list[tuple[float, float, float, int]]] = {case: [] for case in cases}
    for turn in range(repeats + 1):
        progress(f"turn {turn} of {repeats}" if turn else "compiling kernels, if need be")
        for name, side in cases:
            began, cpu = time.perf_counter(), time.process_time()
            result = upsample(*pairs[side], model=loaded[name])
            seconds, cpu = time.perf_counter() - began, time.process_time() - cpu
            solve = 0.0 if result.problem is None else solve_problem(result.problem, rtol=loaded[name].rtol).seconds
            if turn:  # the first one loads and compiles
                figures[name, side].append((seconds, cpu, solve, result.report.iterations))
    return [_row(name, side, factor, figures[name, side]) for name, side in cases]


def _row(name: str, side: int, factor: int, figures: list[tuple[float, float, float, int]]) -> CallRow:
    seconds, cpu, solve, iterations = zip(*figures, strict=True)
    goal = GOALS.get((name, side)) if factor == 8 else None
    return CallRow(
        name, side, factor, statistics.median(seconds), min(seconds), statistics.median(cpu),
        statistics.median(solve), iterations[0], goal,
    )  # fmt: skip


def measure_first_call(model: str, side: int = 256) -> FirstCallRow:
    """Run `graphsr upsample` on files twice, with a folder for compiled kernels that is empty the first time."""
    guide, source = make_pair(side, 8)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder, "guide.npy"), guide)
        np.save(Path(folder, "source.npy"), source)
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(Path(folder, "kernels"))}
        command = [sys.executable, "-m", "graphsr", "upsample", "guide.npy", "source.npy", "-o", "target.npy"]
        command += ["--model", model, "--overwrite"]
        seconds = []
        for _ in range(2):
            began = time.perf_counter()
            subprocess.run(command, cwd=folder, env=environment, capture_output=True, check=True)
            seconds.append(time.perf_counter() - began)
    return FirstCallRow(model, *seconds)
