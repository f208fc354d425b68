"""What many channels, wide footprints and holes cost: each a ratio of two measurements taken in turns."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch

from graphsr.models.base import Model
from graphsr.sampling import Sampling
from graphsr.scenes import scene
from graphsr.solver import Problem, solve_problem
from graphsr.upsampling import upsample


@dataclass(frozen=True)
class Cost:
    """A case beside its base, in processor seconds: those that other programs take do not count.

    Attributes:
        case: What was measured.
        seconds: The least of several runs.
        base_seconds: The same of what it is compared with.
        iterations: Of the solve.
        base_iterations: The same of what it is compared with.
    """

    case: str
    seconds: float
    base_seconds: float
    iterations: int
    base_iterations: int

    @property
    def ratio(self) -> float:
        """Return how many times the base it takes."""
        return self.seconds / self.base_seconds


def of_channels(model: Model, counts: tuple[int, ...], size: tuple[int, int], factor: int, repeats: int) -> list[Cost]:
    """Compare the whole call for sources of so many channels with that for the first channel alone.

    The channels are random filters of a rendered scene, such as the features of a network.
    """
    guide, features = _features(size, max(counts))
    source = _averages(features, factor)

    def run(count: int) -> int:
        return upsample(guide, source[..., :count], model=model).report.iterations

    base, *others = _measure(repeats, *((lambda count=count: run(count)) for count in (1, *counts)))
    return [Cost(f"{count} channels", *_beside(each, base)) for count, each in zip(counts, others, strict=True)]


def of_footprints(
    model: Model, footprints: tuple[str, ...], side: int, factors: tuple[int, ...], repeats: int
) -> Iterator[Cost]:
    """Compare the solves for wide footprints with that for the box."""
    made = scene(0, (side, side))
    for factor in factors:
        problems = []
        for footprint in ("box", *footprints):
            sampling = Sampling((side, side), (side // factor, side // factor), footprint=footprint)
            source = sampling(torch.from_numpy(made.depth).double()).numpy()
            problems.append(_problem(model, made.guide, source, footprint))
        base, *others = _measure(repeats, *((lambda p=p: _solve(p)) for p in problems))
        for footprint, each in zip(footprints, others, strict=True):
            yield Cost(f"{footprint}, x{factor}", *_beside(each, base))


def of_holes(model: Model, holes: tuple[int, ...], size: tuple[int, int], factor: int, repeats: int) -> list[Cost]:
    """Compare solves of sources with a square hole of so many target pixels with that of the whole source."""
    made = scene(0, size)
    source = _averages(made.depth, factor)
    problems = [_problem(model, made.guide, source, "box")]
    for hole in holes:
        holed = source.copy()
        top, left = ((n - hole // factor) // 2 for n in source.shape)
        holed[max(top, 0) : top + hole // factor, max(left, 0) : left + hole // factor] = np.nan
        problems.append(_problem(model, made.guide, holed, "box"))
    base, *others = _measure(repeats, *((lambda p=p: _solve(p)) for p in problems))
    return [Cost(f"a hole of {hole} pixels", *_beside(each, base)) for hole, each in zip(holes, others, strict=True)]


def _features(size: tuple[int, int], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Return a rendered guide (H, W, 3), and (H, W, count) two layers of random filters on it and its depth."""
    made = scene(3, size)
    depth = (made.depth - made.depth.mean()) / made.depth.std()
    seen = np.concatenate([made.guide.astype(np.float32) / 255, depth[..., None].astype(np.float32)], 2)
    random = torch.Generator().manual_seed(0)
    first, second = torch.randn(32, 4, 7, 7, generator=random), torch.randn(count, 32, 5, 5, generator=random)
    layer = torch.conv2d(torch.from_numpy(np.moveaxis(seen, 2, 0)[None].copy()), 0.1 * first, padding=3).tanh()
    features = torch.conv2d(layer, 0.1 * second, padding=2)
    return made.guide, np.moveaxis(features[0].numpy(), 0, 2)


def _averages(values: np.ndarray, factor: int) -> np.ndarray:
    """Average (H, W[, K]) over squares of factor x factor pixels."""
    height, width = (n // factor for n in values.shape[:2])
    squares = values[: height * factor, : width * factor].reshape(height, factor, width, factor, *values.shape[2:])
    return np.asarray(squares.mean((1, 3)))


def _problem(model: Model, guide: np.ndarray, source: np.ndarray, footprint: str) -> Problem:
    problem = upsample(guide, source, model=model, footprint=footprint).problem
    assert problem is not None
    return problem


def _solve(problem: Problem) -> int:
    return solve_problem(problem).iterations


def _measure(repeats: int, *computations: Callable[[], int]) -> list[tuple[float, int]]:
    """Return the least processor seconds of each and what it returned; they take turns."""
    best, returned = [float("inf")] * len(computations), [0] * len(computations)
    for turn in range(repeats + 1):
        for n, compute in enumerate(computations):
            began = time.process_time()
            returned[n] = compute()
            if turn > 0:  # the first one compiles kernels
                best[n] = min(best[n], time.process_time() - began)
    return list(zip(best, returned, strict=True))


def _beside(one: tuple[float, int], base: tuple[float, int]) -> tuple[float, float, int, int]:
    return one[0], base[0], one[1], base[1]
