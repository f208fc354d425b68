"""Forward time by factor, and memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import torch

from graphsr.data.footprints import average
from graphsr.errors import InputError
from graphsr.evaluation.tables import Table
from graphsr.experiments.benchmarks.memory import method_megabytes
from graphsr.experiments.benchmarks.stopwatch import best_seconds
from graphsr.experiments.experiment_run import ExperimentRun
from graphsr.experiments.options import Options
from graphsr.experiments.participants import Participant, select_participants
from graphsr.experiments.published import UNKNOWN, published_times, shown
from graphsr.experiments.report import Report, counted, unique
from graphsr.experiments.trained_weights import MissingModel
from graphsr.models.base import Model
from graphsr.scenes import scene
from graphsr.upsampling import upsample

FACTORS, SIZES = (4, 8, 16), (256,)
_SEED = 7
_REPEATS = 3
_LONG_SECONDS = 2.0  # runs that take longer are measured once
_WARM_UP_SIDE = 64


@dataclass(frozen=True)
class Timing:
    """Forward time of one method; `megabytes` are beyond program, images and weights, None: not measured."""

    method: str
    weights: str
    size: int
    factor: int
    seconds: float
    megabytes: float | None


def run(options: Options) -> Report:
    """Measure the forward time of every method, with the weights there are or random ones."""
    experiment = ExperimentRun(options, "timing")
    sizes, factors = _divisible_sizes(options), options.factors or FACTORS
    participants, left_out = select_participants(options.methods)
    found = [_time(experiment, who, size, factor) for size in sizes for who in participants for factor in factors]
    timings = [one for one in found if one is not None]
    tables = tuple(_table(size, [one for one in timings if one.size == size]) for size in sizes) if timings else ()
    records = tuple(vars(one) for one in timings)
    skipped = unique([*left_out, *experiment.skipped])
    return Report("timing", "Forward time by factor", tables, _conditions(), skipped, records)


def _conditions() -> tuple[str, ...]:
    return (
        "Data: one rendered scene for each size; the source is its mean over source pixels",
        f"Protocol: the best of {_REPEATS} runs, or one if it takes over {_LONG_SECONDS:g} s; guide and source are "
        "in memory, the model is loaded, its kernels are compiled",
        f"Machine: torch on {counted(torch.get_num_threads(), 'thread')}, our kernels on {numba.get_num_threads()}",
        "Budget: none, nothing is trained for this",
        "Weights: as the table says; random ones take as long as others, except that solves depend on the graph",
        "Memory: the peak beyond program, images and weights, in a process of its own; '-' is not measured",
        published_times(),
    )


def _divisible_sizes(options: Options) -> list[int]:
    """Return the sides asked for, reduced to multiples of all factors."""
    common = math.lcm(*(options.factors or FACTORS))
    asked = options.sizes or SIZES
    if min(asked) < common:
        raise InputError(f"--sizes {min(asked)}: is less than {common}, which the --factors have in common")
    return [size // common * common for size in asked]


def _time(experiment: ExperimentRun, who: Participant, size: int, factor: int) -> Timing | None:
    model = experiment.weights.find_or_random(who, factor)
    if isinstance(model, MissingModel):
        experiment.skipped.append(model.reason)
        return None
    options = experiment.options
    settings = {
        "timing of": who.name, "weights": model.key, "size": size, "factor": factor,
        "threads": [torch.get_num_threads(), numba.get_num_threads()], "memory": options.memory,
    }  # fmt: skip
    figures = experiment.cache.get(settings)
    if figures is None:
        options.progress(f"timing {who.name} at x{factor}, {size} x {size}")
        figures = _measure(model.load(), size, factor, options.memory)
        experiment.cache.put(settings, figures)
    return Timing(who.name, model.weights, size, factor, figures["seconds"], figures["megabytes"])


def _measure(model: Model, size: int, factor: int, memory: bool) -> dict[str, Any]:
    small, large = _pair(math.ceil(_WARM_UP_SIDE / factor) * factor, factor), _pair(size, factor)
    upsample(*small, model=model)
    (seconds,) = best_seconds(1, lambda: upsample(*large, model=model))
    if seconds < _LONG_SECONDS:
        seconds = min(seconds, *best_seconds(_REPEATS - 1, lambda: upsample(*large, model=model)))
    return {"seconds": seconds, "megabytes": method_megabytes(model, *large) if memory else None}


def _pair(size: int, factor: int) -> tuple[np.ndarray, np.ndarray]:
    """Render a guide (H, W, 3) and a source (h, w); the factor divides the size."""
    rendered = scene(_SEED, (size, size))
    return rendered.guide, average(rendered.depth, (size // factor, size // factor))


def _table(size: int, timings: Sequence[Timing]) -> Table:
    factors = sorted({one.factor for one in timings})
    headings = ("method", "weights", *(f"x{factor} ms" for factor in factors), *(f"x{factor} MB" for factor in factors))
    rows = []
    for method in unique(one.method for one in timings):
        own = {one.factor: one for one in timings if one.method == method}
        weights = ", ".join(unique(one.weights for one in own.values()))
        times = (f"{1e3 * own[factor].seconds:.0f}" if factor in own else UNKNOWN for factor in factors)
        memory = (shown(own[factor].megabytes) if factor in own else UNKNOWN for factor in factors)
        rows.append((method, weights, *times, *memory))
    return Table(f"{size} x {size} pixels", headings, tuple(rows), text_columns=2)
