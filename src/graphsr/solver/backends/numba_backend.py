"""The CPU backend: fused kernels, image by image, all channels of an image together."""

from __future__ import annotations

import numpy as np
import torch

from graphsr.solver.backends.direct import can_factorise, is_direct
from graphsr.solver.backends.projection_numba import ProjectedImage, prepare_projected
from graphsr.solver.backends.relaxation_numba import RelaxedImage, prepare_relaxed
from graphsr.solver.iteration import minimise
from graphsr.solver.problem import Problem
from graphsr.solver.progress import part
from graphsr.threads import running_kernels

# Channels of together so many pixels are iterated side by side: what an iteration reads of them fits into a cache.
_PIXELS_AT_ONCE = 3 * 2**18


class NumbaMatrix:
    """The matrix of a problem, set up for the CPU. Channels share a set-up where they share their confidence."""

    def __init__(self, problem: Problem) -> None:
        pixels = problem.sampling.size[0] * problem.sampling.size[1]
        # Of all channels that are iterated side by side.
        self._swept = pixels * min(problem.source.shape[1], max(1, _PIXELS_AT_ONCE // pixels))
        with running_kernels(self._swept):
            self._set_up(problem)

    def _set_up(self, problem: Problem) -> None:
        down, right = (e.detach().contiguous().numpy() for e in (problem.edges.down, problem.edges.right))
        prior_weight = problem.prior_weight.detach().contiguous().numpy()
        confidence = problem.confidence.detach().contiguous().numpy()
        shared = confidence.shape[1] == 1
        prepare = prepare_projected if problem.sampling.couples_cells else prepare_relaxed
        self._sampling = problem.sampling
        self._images: list[tuple[int, slice, RelaxedImage | ProjectedImage]] = []
        self._slowest: dict[int, float] = {}  # of each image, see `graphsr.solver.iteration.System`
        for image in range(down.shape[0]):
            for k in range(1 if shared else confidence.shape[1]):
                chosen = slice(None) if shared else slice(k, k + 1)
                weights = down[image], right[image], prior_weight[image], confidence[image, k]
                one = prepare(*weights, exact=problem.exact, sampling=problem.sampling)
                self._images.append((image, chosen, one))

    def is_direct(self, channels: int) -> bool:
        """See `graphsr.solver.matrix.Matrix.is_direct`."""
        return is_direct(self._sampling, channels)

    def minimise(
        self, source: torch.Tensor, rhs: torch.Tensor, start: torch.Tensor, *, tolerance: float, relative: bool
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """See `graphsr.solver.matrix.Matrix.minimise`."""
        with running_kernels(self._swept):
            return self._minimise(source, rhs, start, tolerance, relative)

    def _minimise(
        self, source: torch.Tensor, rhs: torch.Tensor, start: torch.Tensor, tolerance: float, relative: bool
    ) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        target = start.detach().contiguous()
        iterations = torch.zeros(target.shape[:2], dtype=torch.int64)
        error = torch.zeros(target.shape[:2], dtype=torch.float64)
        sources, sides = source.detach().double().contiguous().numpy(), rhs.detach().contiguous().numpy()
        for number, (image, channels, one) in enumerate(self._images):
            side = sides[image, channels] if sides.size else np.empty((0, 0, 0), sides.dtype)
            x = target[image, channels].numpy()
            if one.is_given:
                x[:] = sources[image, channels]
                continue
            if one.source_weight.size:
                side = (one.source_weight * sources[image, channels] + (side if side.size else 0)).astype(x.dtype)
            done, estimate = iterations[image, channels].numpy(), error[image, channels].numpy()
            if is_direct(self._sampling, x.shape[0]):
                found = one.solve_directly(sources[image, channels], side, x, tolerance, relative)
                if found is not None:
                    done[:], estimate[:] = 1, found
                    continue
            at_once = max(1, _PIXELS_AT_ONCE // (x.shape[1] * x.shape[2]))
            count, images = x.shape[0], len(self._images)
            for first in range(0, count, at_once):
                some = slice(first, min(first + at_once, count))
                system = one.system(sources[image, channels][some], side[some], x[some])
                system.slowest = self._slowest.get(number, one.slowest)
                with part((number + some.start / count) / images, (number + some.stop / count) / images):
                    done[some], estimate[some] = minimise(system, tolerance, relative)
                self._slowest[number] = system.slowest
                x[some] = system.x
            failed = x.dtype == np.float64 and not bool((estimate <= tolerance).all())
            if failed and can_factorise(self._sampling):
                # As exact fidelity does at some factors where edge weights span 1e5.
                found = one.solve_directly(sources[image, channels], side, x, tolerance, relative)
                estimate[:] = estimate if found is None else found
        return target, iterations, error
