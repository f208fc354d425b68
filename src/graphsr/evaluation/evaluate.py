"""Models on data sets: every figure with what made it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphsr.baselines.weights import find
from graphsr.data.pair import Pairs
from graphsr.errors import InputError
from graphsr.evaluation.metrics import Figures, mean, measure, published_means, shown_unit
from graphsr.evaluation.protocols import Case, Protocol, cases
from graphsr.models.base import Model
from graphsr.upsampling import Upsampled, upsample

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Evaluation:
    """One model on one data set at one factor."""

    model: str
    data: str
    protocol: str
    factor: float
    unit: str
    patches: int
    figures: Figures
    mse_batches_of_8: float
    mae_batches_of_8: float
    peak_memory_mb: float  # of the whole process so far


@dataclass(frozen=True, eq=False)
class Example:
    """What a picture sheet shows."""

    case: Case
    target: np.ndarray
    edges: np.ndarray | None  # (H, W) mean of the ties around each pixel


def labels(names: Sequence[str]) -> list[str]:
    """What models are called in tables: their name, method or file, in full where that would not tell them apart."""
    heads = [name.partition(":")[0] for name in names]
    short = [head if find(head)[0] else Path(name).stem for head, name in zip(heads, names, strict=True)]
    found = [brief if short.count(brief) == 1 else name for brief, name in zip(short, names, strict=True)]
    if len(set(found)) < len(found):
        raise InputError("--model: the same model is named twice")
    return found


def evaluate(
    models: Sequence[tuple[str, Model]],
    data: str,
    pairs: Pairs,
    how: Protocol,
    factors: Sequence[float],
    *,
    most: int | None = None,
    tell: Tell = lambda _: None,
    keep: Callable[[str, float, Example], None] = lambda *_: None,
) -> Iterator[Evaluation]:
    """All models on the same cases; `keep` is shown every result."""
    for factor in factors:
        found: dict[str, list[Figures]] = {name: [] for name, _ in models}
        unit = ""
        for number, case in enumerate(cases(pairs, how, factor, most)):
            unit = case.pair.unit
            for name, model in models:
                tell(f"{data} x{factor:g}: {case.pair.name}, patch {number + 1}, {name}")
                began = time.perf_counter()
                result = upsample(case.pair.guide, case.source, model=model)
                seconds = time.perf_counter() - began
                found[name].append(measure(case, result.target, seconds))
                keep(name, factor, example_of(case, result))
        for name, figures in found.items():
            if not figures:
                raise InputError(f"{data}: no image is large enough for the protocol {how.name!r}")
            yield Evaluation(
                name, data, how.name, factor, shown_unit(unit)[1], len(figures), mean(figures),
                *published_means(figures), peak_memory_mb=_peak_memory_mb(),
            )  # fmt: skip


def example_of(case: Case, result: Upsampled) -> Example:
    edges = None if result.edges is None else _mean_ties(result.edges.down, result.edges.right)
    return Example(case, result.target, edges)


def _mean_ties(down: object, right: object) -> np.ndarray:
    down, right = np.asarray(down), np.asarray(right)
    total = np.zeros((right.shape[0], down.shape[1]))
    count = np.zeros_like(total)
    for part, ties in (
        ((slice(None, -1), slice(None)), down), ((slice(1, None), slice(None)), down),
        ((slice(None), slice(None, -1)), right), ((slice(None), slice(1, None)), right),
    ):  # fmt: skip
        total[part] += ties
        count[part] += 1
    return total / np.maximum(count, 1)


def _peak_memory_mb() -> float:
    try:
        import resource
    except ImportError:  # not told on Windows
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)
