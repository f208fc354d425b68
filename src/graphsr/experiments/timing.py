"""Forward times by factor, and memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
import torch

from graphsr.data.degradation import average
from graphsr.errors import InputError
from graphsr.experiments.benchmarks.method_memory import peak_megabytes
from graphsr.experiments.benchmarks.stopwatch import best_seconds
from graphsr.experiments.cells import Bench
from graphsr.experiments.contenders import METHODS_AND_MODELS, Contender, chosen
from graphsr.experiments.plan import Plan
from graphsr.experiments.published import UNKNOWN, shown
from graphsr.experiments.report import Report, Table, all_of, counted
from graphsr.experiments.workshop import Absent
from graphsr.models.base import Model
from graphsr.scenes import scene
from graphsr.upsampling import upsample

FACTORS, SIZES = (4, 8, 16), (256,)
_SEED = 7
_REPEATS = 3
_LONG_SECONDS = 2.0  # runs that take longer are measured once
_WARM_UP = 64


@dataclass(frozen=True)
class Timed:
    """`megabytes` beyond program, images and weights; None: not measured."""

    method: str
    weights: str
    size: int
    factor: int
    seconds: float
    megabytes: float | None


def run(plan: Plan) -> Report:
    bench = Bench(plan, "timing")
    timed, left_out = measured(bench)
    tables = tuple(_table(size, [one for one in timed if one.size == size]) for size in _sizes(plan))
    records = tuple(vars(one) for one in timed)
    title = "Forward time by factor"
    return Report("timing", title, tables if timed else (), made_by(), all_of([*left_out, *bench.skipped]), records)


def made_by() -> tuple[str, ...]:
    return (
        "Data: one rendered scene for each size; the source is its mean over cells",
        f"Protocol: the best of {_REPEATS} runs, or one if it takes over {_LONG_SECONDS:g} s; guide and source are "
        "in memory, the model is loaded, its kernels are compiled",
        f"Machine: torch on {counted(torch.get_num_threads(), 'thread')}, our kernels on {numba.get_num_threads()}",
        "Budget: none, nothing is trained for this",
        "Weights: as the table says; random ones take as long as others, except that solves depend on the graph",
        "Memory: the peak beyond program, images and weights, in a process of its own; '-' is not measured",
        "Published: no times of the paper are recorded here",
    )


def measured(bench: Bench) -> tuple[list[Timed], list[str]]:
    factors = bench.plan.factors or FACTORS
    sizes = _sizes(bench.plan)
    methods, left_out = chosen(bench.plan.methods, METHODS_AND_MODELS)
    found = [_timed(bench, who, size, factor) for size in sizes for who in methods for factor in factors]
    return [one for one in found if one is not None], left_out


def _sizes(plan: Plan) -> list[int]:
    """Sides of images, those asked for as far as all factors divide them."""
    common = math.lcm(*(plan.factors or FACTORS))
    asked = plan.sizes or SIZES
    if min(asked) < common:
        raise InputError(f"--sizes {min(asked)}: is less than {common}, which the --factors have in common")
    return [size // common * common for size in asked]


def _timed(bench: Bench, who: Contender, size: int, factor: int) -> Timed | None:
    promise = bench.workshop.untrained(who, factor)
    if isinstance(promise, Absent):
        bench.skipped.append(promise.reason)
        return None
    made = {
        "timing of": who.name, "weights": promise.key, "size": size, "factor": factor,
        "threads": [torch.get_num_threads(), numba.get_num_threads()], "memory": bench.plan.memory,
    }  # fmt: skip
    figures = bench.store.get(made)
    if figures is None:
        bench.plan.tell(f"timing {who.name} at x{factor}, {size} x {size}")
        figures = _measure(promise.make(), size, factor, bench.plan.memory)
        bench.store.put(made, figures)
    return Timed(who.name, promise.weights, size, factor, figures["seconds"], figures["megabytes"])


def _measure(model: Model, size: int, factor: int, memory: bool) -> dict[str, Any]:
    small, large = _pair(math.ceil(_WARM_UP / factor) * factor, factor), _pair(size, factor)
    upsample(*small, model=model)
    (seconds,) = best_seconds(1, lambda: upsample(*large, model=model))
    if seconds < _LONG_SECONDS:
        seconds = min(seconds, *best_seconds(_REPEATS - 1, lambda: upsample(*large, model=model)))
    megabytes = peak_megabytes(model, *large) if memory else None
    return {"seconds": seconds, "megabytes": megabytes}


def _pair(size: int, factor: int) -> tuple[np.ndarray, np.ndarray]:
    """A guide and a source; the factor divides the size."""
    drawn = scene(_SEED, (size, size))
    return drawn.guide, average(drawn.depth, (size // factor, size // factor))


def _table(size: int, timed: Sequence[Timed]) -> Table:
    factors = sorted({one.factor for one in timed})
    headings = ("method", "weights", *(f"x{factor} ms" for factor in factors), *(f"x{factor} MB" for factor in factors))
    rows = []
    for method in all_of([one.method for one in timed]):
        own = {one.factor: one for one in timed if one.method == method}
        weights = ", ".join(all_of([one.weights for one in own.values()]))
        times = (f"{1e3 * own[factor].seconds:.0f}" if factor in own else UNKNOWN for factor in factors)
        memory = (shown(own[factor].megabytes) if factor in own else UNKNOWN for factor in factors)
        rows.append((method, weights, *times, *memory))
    return Table(f"{size} x {size} pixels", headings, tuple(rows), words=2)
