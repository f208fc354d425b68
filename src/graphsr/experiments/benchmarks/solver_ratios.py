"""What the solver costs as the problem changes: each figure a ratio of two measurements taken in turns."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

import torch

from graphsr.data.pair import Pair
from graphsr.experiments.benchmarks.solver_comparison import DEFAULT_RTOL, run_solve
from graphsr.experiments.benchmarks.solver_problems import MU, make_problem, tiled
from graphsr.experiments.benchmarks.stopwatch import best_seconds
from graphsr.graph import Edges
from graphsr.solver import Problem, solve
from graphsr.threads import on_threads

# A graph like that of the colour model.
COLOUR_MU = 0.3
COLOUR_LAMBDA = 3e-4
FACTOR = 8


@dataclass(frozen=True)
class Ratio:
    """value = seconds / base_seconds; for times a pixel, the same after division by the pixels."""

    name: str
    case: str
    seconds: float
    base_seconds: float
    value: float


def colour_problem(pair: Pair, factor: float = FACTOR) -> Problem:
    """Make a problem with a graph like that of the colour model."""
    return make_problem(pair, factor, COLOUR_MU, COLOUR_LAMBDA, graph_factor=FACTOR)


def of_factors(pair: Pair, graph: str, weight: float, factors: tuple[float, float], repeats: int) -> Ratio:
    """Compare the first factor with the second, on one graph."""
    problems = [make_problem(pair, factor, MU[graph], weight, graph_factor=FACTOR) for factor in factors]
    seconds, base = best_seconds(repeats, *((lambda p=p: run_solve(p)) for p in problems))
    return Ratio(
        f"x{factors[0]:g} against x{factors[1]:g}", f"{graph}, lambda {weight:g}", seconds, base, seconds / base
    )


def of_sizes(pair: Pair, times: int, repeats: int) -> Ratio:
    """Compare the time a pixel of the pair tiled `times` x `times` with that of the pair."""
    large = tiled(pair, times)
    large_problem, small_problem = colour_problem(large), colour_problem(pair)
    (base,) = best_seconds(repeats, lambda: run_solve(small_problem))
    (seconds,) = best_seconds(min(2, repeats), lambda: run_solve(large_problem))
    base = min(base, *best_seconds(repeats, lambda: run_solve(small_problem)))
    sides = f"{large.size[0]} against {pair.size[0]} pixels a side"
    pixels = math.prod(large.size) / math.prod(pair.size)
    return Ratio("time a pixel", sides, seconds, base, seconds / base / pixels)


def of_gradient(pair: Pair, graph: str, weight: float, repeats: int) -> Ratio:
    """Compare the gradient pass with the forward solve, with gradients of edges and source."""
    problem = make_problem(pair, FACTOR, MU[graph], weight)
    edges = Edges(problem.edges.down.requires_grad_(), problem.edges.right.requires_grad_())
    source = problem.source.requires_grad_()
    slope = torch.randn(1, 1, *pair.size, generator=torch.Generator().manual_seed(0))
    forward = backward = math.inf
    for _ in range(repeats):
        began = time.perf_counter()
        target = solve(edges, source, pair.size, rtol=DEFAULT_RTOL, backend="numba")
        between = time.perf_counter()
        torch.autograd.backward(target, slope)
        ended = time.perf_counter()
        forward, backward = min(forward, between - began), min(backward, ended - between)
    return Ratio("gradient pass", f"{graph}, lambda {weight:g}", backward, forward, backward / forward)


def of_threads(pair: Pair, threads: int, repeats: int) -> Ratio:
    """Compare one thread with `threads`: above 1 where more threads help."""
    problem = colour_problem(pair)

    def on(count: int) -> None:
        with on_threads(count):
            run_solve(problem)

    on(1)
    one, many = best_seconds(repeats, lambda: on(1), lambda: on(threads))
    return Ratio(f"one thread against {threads}", f"{pair.size[0]} pixels a side", one, many, one / many)
