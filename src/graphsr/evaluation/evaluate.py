"""Models on data sets: every figure with what made it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from graphsr.baselines.weights import find
from graphsr.data.degradation import Degradation
from graphsr.data.pair import Pair
from graphsr.errors import InputError
from graphsr.evaluation.metrics import Figures, mean, measure, published_means, shown_unit
from graphsr.evaluation.options import NO_OPTIONS, Options
from graphsr.evaluation.protocols import CLEAN, Case, Protocol, cases
from graphsr.models.base import Model
from graphsr.models.bicubic import Bicubic
from graphsr.upsampling import Upsampled, upsample_with


@dataclass(frozen=True)
class Evaluation:
    """Hold the figures of one model on one data set at one factor.

    Attributes:
        model, data, protocol, factor: what was measured.
        degradation: what was wrong with the sources, as `Degradation.parse` reads it; "": nothing.
        unit: of the errors.
        patches: how many patches or images were measured.
        figures: means over them.
        rmse_against_bicubic: RMSE as a part of that of bicubic interpolation; None if that was not measured.
        mse_batches_of_8, mae_batches_of_8: as the reference implementation averages.
        peak_memory_mb: of the whole process so far.
    """

    model: str
    data: str
    protocol: str
    degradation: str
    factor: float
    unit: str
    patches: int
    figures: Figures
    rmse_against_bicubic: float | None
    mse_batches_of_8: float
    mae_batches_of_8: float
    peak_memory_mb: float


@dataclass(frozen=True, eq=False)
class Example:
    """Hold what a picture sheet shows of one case.

    Attributes:
        case: what was upsampled.
        target: (H, W), the result.
        edges: (H, W), mean of the edge weights around each pixel; None for models without a graph.
    """

    case: Case
    target: np.ndarray
    edges: np.ndarray | None


def labels(names: Sequence[str]) -> list[str]:
    """Return what models are called in tables.

    Args:
        names: what `graphsr.load` takes.

    Returns:
        The name, method or file of each, in full where that would not tell them apart.
    """
    heads = [name.partition(":")[0] for name in names]
    short = [head if find(head)[0] else Path(name).stem for head, name in zip(heads, names, strict=True)]
    found = [brief if short.count(brief) == 1 else name for brief, name in zip(short, names, strict=True)]
    if len(set(found)) < len(found):
        raise InputError("--model: the same model is named twice")
    return found


def evaluate(
    models: Sequence[tuple[str, Model]],
    data: str,
    pairs: Sequence[Pair],
    how: Protocol,
    factors: Sequence[float],
    *,
    degradation: Degradation = CLEAN,
    options: Options = NO_OPTIONS,
    most: int | None = None,
    progress: Callable[[str], None] = lambda _: None,
    note: Callable[[str], None] = lambda _: None,
    keep: Callable[[str, Example], None] = lambda *_: None,
) -> Iterator[Evaluation]:
    """Measure all models on the same cases.

    Args:
        models: names and models.
        data: the name of the data set.
        pairs: the data set.
        how: the protocol.
        factors: those to measure at; a protocol with sources of its own measures at theirs instead.
        degradation: what is wrong with the sources.
        options: what models are told of them.
        most: take at most so many pairs.
        progress: called with what is being done.
        note: called with the first thing that the pairs' files have to say, if any.
        keep: called with the name of the model and every result.

    Yields:
        One evaluation for each model and factor.
    """
    noted = False
    for factor in (1.0,) if how.own_sources else factors:
        measured: dict[float, dict[str, list[Figures]]] = {}
        unit = ""
        for number, case in enumerate(cases(pairs, how, factor, most, degradation)):
            unit = case.pair.unit
            if case.pair.notes and not noted:
                note(case.pair.notes[0])
                noted = True
            at = round(case.factor, 2) if how.own_sources else factor
            figures = measured.setdefault(at, {name: [] for name, _ in models})
            for name, model in models:
                progress(f"{data} x{at:g}: {case.pair.name}, {number + 1}, {name}")
                began = time.perf_counter()
                result = upsample_with(options.for_model(model), case.pair.guide, case.source, model)
                figures[name].append(measure(case, result.target, time.perf_counter() - began))
                keep(name, example_of(case, result))
        if not measured:
            raise InputError(f"{data}: no image is large enough for the protocol {how.name!r}")
        for at in sorted(measured):
            yield from _evaluations(models, data, how, degradation, at, shown_unit(unit)[1], measured[at])


def _evaluations(
    models: Sequence[tuple[str, Model]],
    data: str,
    how: Protocol,
    degradation: Degradation,
    factor: float,
    unit: str,
    measured: dict[str, list[Figures]],
) -> Iterator[Evaluation]:
    bicubic = next((mean(measured[name]).rmse for name, model in models if isinstance(model, Bicubic)), None)
    for name, figures in measured.items():
        means = mean(figures)
        mse, mae = published_means(figures)
        yield Evaluation(
            model=name,
            data=data,
            protocol=how.name,
            degradation=str(degradation),
            factor=factor,
            unit=unit,
            patches=len(figures),
            figures=means,
            rmse_against_bicubic=means.rmse / bicubic if bicubic else None,
            mse_batches_of_8=mse,
            mae_batches_of_8=mae,
            peak_memory_mb=_peak_memory_mb(),
        )


def example_of(case: Case, result: Upsampled) -> Example:
    """Return what a picture sheet shows of a result."""
    edges = None if result.edges is None else _mean_edge_weights(result.edges.down, result.edges.right)
    return Example(case, result.target, edges)


def _mean_edge_weights(down: object, right: object) -> np.ndarray:
    """Return (H, W): the mean weight of the edges of each pixel, from (H-1, W) and (H, W-1)."""
    down, right = np.asarray(down), np.asarray(right)
    total = np.zeros((right.shape[0], down.shape[1]))
    count = np.zeros_like(total)
    for pixels, edges in (
        ((slice(None, -1), slice(None)), down), ((slice(1, None), slice(None)), down),
        ((slice(None), slice(None, -1)), right), ((slice(None), slice(1, None)), right),
    ):  # fmt: skip
        total[pixels] += edges
        count[pixels] += 1
    return np.asarray(total / np.maximum(count, 1))


def _peak_memory_mb() -> float:
    try:
        import resource
    except ImportError:  # Windows does not say
        return float("nan")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1e6 if sys.platform == "darwin" else 1e3)
