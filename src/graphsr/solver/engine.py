"""One matrix, set up once and solved for as many right-hand sides as needed, on either path."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import torch

from graphsr.solver import fused, plain
from graphsr.solver.problem import Problem

# Far beyond what any graph with a sensible contrast needs; a solve that gets here has failed.
MOST_ITERATIONS = 20_000


class Engine(Protocol):
    def minimise(
        self,
        source: torch.Tensor,
        push: torch.Tensor,
        start: torch.Tensor,
        *,
        tolerance: float,
        relative: bool,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """Target (B, K, H, W), iterations and estimated RMS errors (B, K). push may be empty; start may be used up."""


class PlainEngine:
    def __init__(self, problem: Problem) -> None:
        self.problem = problem

    def minimise(
        self,
        source: torch.Tensor,
        push: torch.Tensor,
        start: torch.Tensor,
        *,
        tolerance: float,
        relative: bool,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        if not push.numel():
            push = torch.zeros_like(start)
        return plain.minimise(
            self.problem, source, push, start, tolerance=tolerance, relative=relative, most=MOST_ITERATIONS
        )


class FusedEngine:
    """Image by image. Channels share a set-up where they share their confidence."""

    def __init__(self, problem: Problem, channels: int) -> None:
        self.groups: list[tuple[int, slice, fused.Prepared]] = []
        down, right = (e.detach().contiguous().numpy() for e in (problem.edges.down, problem.edges.right))
        ground = problem.ground.detach().contiguous().numpy()
        confidence = problem.confidence.detach().contiguous().numpy()
        for image in range(down.shape[0]):
            shared = confidence.shape[1] == 1
            for k in range(1 if shared else channels):
                known = confidence[image, k] > 0
                slack = np.zeros(known.shape, right.dtype)
                if not problem.exact:
                    np.divide(1.0, confidence[image, k], out=slack, where=known)
                prepared = fused.prepare(down[image], right[image], ground[image], slack, known, problem.sampling)
                self.groups.append((image, slice(None) if shared else slice(k, k + 1), prepared))

    def minimise(
        self,
        source: torch.Tensor,
        push: torch.Tensor,
        start: torch.Tensor,
        *,
        tolerance: float,
        relative: bool,
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        target = start.detach().contiguous()
        iterations = torch.zeros(target.shape[:2], dtype=torch.int64)
        error = torch.zeros(target.shape[:2], dtype=torch.float64)
        sources = source.detach().double().contiguous().numpy()
        pushes = push.detach().contiguous().numpy()
        for image, channels, prepared in self.groups:
            pushed = pushes[image, channels] if pushes.size else np.empty((0, 0, 0), pushes.dtype)
            done, estimate = fused.minimise(
                prepared,
                sources[image, channels],
                pushed,
                target[image, channels].numpy(),
                tolerance=tolerance,
                relative=relative,
                most=MOST_ITERATIONS,
            )
            iterations[image, channels] = torch.from_numpy(done)
            error[image, channels] = torch.from_numpy(estimate)
        return target, iterations, error


def engine_for(problem: Problem, channels: int, on_cpu_kernels: bool) -> Engine:
    return FusedEngine(problem, channels) if on_cpu_kernels else PlainEngine(problem)
