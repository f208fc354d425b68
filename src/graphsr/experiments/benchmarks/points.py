"""Measure completion: points drawn from true maps, against SciPy's linear interpolation between them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import LinearNDInterpolator, NearestNDInterpolator

from graphsr.completion import complete
from graphsr.data import Pair
from graphsr.models.base import Model


@dataclass(frozen=True)
class Row:
    """The errors of one model with one number of points, over the pairs of a data set.

    Attributes:
        points: On each pair.
        rmse: Over all pixels of all pairs, in units of the maps.
        linear_rmse: That of linear interpolation.
        ratio: The mean over pairs of the one by the other.
        spots: Mean size of the second difference at the points, relative to that everywhere; 1: points do not show.
        seconds: The median of a completion.
        iterations: The median of its solve.
    """

    points: int
    pairs: int
    rmse: float
    linear_rmse: float
    ratio: float
    spots: float
    seconds: float
    iterations: float


def measure(
    model: Model, pairs: Sequence[Pair], counts: Sequence[int], progress: Callable[[str], None]
) -> Iterator[Row]:
    """Yield a row for every number of points; the points of a pair are drawn with its number as the seed."""
    for count in counts:
        figures = []
        for number, pair in enumerate(pairs):
            progress(f"{count} points: {pair.name}")
            points = draw(pair.target, count, seed=number)
            known = np.isfinite(pair.target)
            began = time.perf_counter()
            result = complete(pair.guide, points, model=model)
            seconds = time.perf_counter() - began
            errors = (result.target - pair.target)[known], (linear(points, pair.size) - pair.target)[known]
            squares = [float(np.mean(np.square(error, dtype=np.float64))) for error in errors]
            figures.append((*squares, _spots(result.target, points), seconds, result.report.iterations))
        ours, theirs, spots, times, iterations = np.array(figures).T
        yield Row(
            points=count,
            pairs=len(figures),
            rmse=float(np.sqrt(ours.mean())),
            linear_rmse=float(np.sqrt(theirs.mean())),
            ratio=float(np.sqrt(ours / theirs).mean()),
            spots=float(spots.mean()),
            seconds=float(np.median(times)),
            iterations=float(np.median(iterations)),
        )


def draw(target: NDArray[np.floating], count: int, seed: int) -> NDArray[np.float64]:
    """Return (count, 3) points in pixels of a map (H, W) that are known, each in another pixel."""
    rows, columns = np.nonzero(np.isfinite(target))
    chosen = np.random.default_rng(seed).choice(len(rows), min(count, len(rows)), replace=False)
    rows, columns = rows[chosen], columns[chosen]
    return np.stack([columns + 0.5, rows + 0.5, target[rows, columns]], 1)


def linear(points: NDArray[np.float64], size: tuple[int, int]) -> NDArray[np.float64]:
    """Interpolate linearly between points (N, 3); outside of their triangles by the nearest: (H, W)."""
    y, x = np.indices(size) + 0.5
    found = np.asarray(LinearNDInterpolator(points[:, :2], points[:, 2])(x, y))
    outside = np.isnan(found)
    found[outside] = NearestNDInterpolator(points[:, :2], points[:, 2])(x[outside], y[outside])
    return found


def _spots(target: NDArray[np.float32], points: NDArray[np.float64]) -> float:
    bend = np.abs(target[1:-1, :-2] + target[1:-1, 2:] - 2 * target[1:-1, 1:-1])
    rows, columns = points[:, 1].astype(int) - 1, points[:, 0].astype(int) - 1
    inside = (rows >= 0) & (columns >= 0) & (rows < bend.shape[0]) & (columns < bend.shape[1])
    return float(bend[rows[inside], columns[inside]].mean() / max(float(bend.mean()), 1e-30))
