"""A direct solve of one image for many channels: one factorisation, and two passes over it for all of them.

A factorisation costs as much as the iterations of a few channels, and then a channel a small part of them. It is that
of nested dissection (dissection.py): blocks in kernels, the lines between them in dense matrices.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Any

import numba
import numpy as np
import torch

from graphsr.graph import Edges
from graphsr.sampling import Sampling
from graphsr.solver.backends import block_elimination, block_solves
from graphsr.solver.backends.dissection import Joins, dissection
from graphsr.solver.backends.lattice import Cells, Lattice
from graphsr.solver.backends.torch_backend import laplacian

# So many channels are worth a factorisation.
_MANY = 12
# The factors of a larger image take gigabytes.
_MOST_PIXELS = 1 << 22
# Channels of together so many pixels are solved at once, which bounds the memory.
_VALUES_AT_ONCE = 1 << 23
# Rounding may be larger for another right-hand side than for the one it is measured with.
_MARGIN = 1000.0
# Blocks are shared out in so many ranges for each thread, as one may be kept waiting by other programs.
_RANGES_PER_THREAD = 4


def is_direct(sampling: Sampling, channels: int) -> bool:
    """Return whether so many channels of one image are solved by a factorisation."""
    return channels >= _MANY and can_factorise(sampling)


def can_factorise(sampling: Sampling) -> bool:
    """Return whether there is a factorisation: source pixels share no target pixels, and nothing is too large."""
    if sampling.couples_cells or sampling.size[0] * sampling.size[1] > _MOST_PIXELS:
        return False
    return dissection(sampling.rows, sampling.columns) is not None


class Direct:
    """The factorised matrix of one image, in double precision.

    Args:
        lattice: The matrix.
        cells: D as kernels read it.
        sampling: D.

    Attributes:
        error: Of a solution, as a part of its RMS, at most.
    """

    def __init__(self, lattice: Lattice, cells: Cells, sampling: Sampling) -> None:
        order = dissection(sampling.rows, sampling.columns)
        assert order is not None
        self.lattice = Lattice(*(each.astype(np.float64) if each.dtype.kind == "f" else each for each in lattice))
        rows, columns = sampling.rows, sampling.columns
        self.cells = cells._replace(
            row_taps=rows.taps, row_shares=rows.shares, column_taps=columns.taps, column_shares=columns.shares
        )
        self.order = order
        blocks = order.blocks
        inside = np.diff(blocks.inside[:, :2], axis=1)[:, 0], np.diff(blocks.inside[:, 2:], axis=1)[:, 0]
        own = np.diff(blocks.cells[:, :2], axis=1)[:, 0] * np.diff(blocks.cells[:, 2:], axis=1)[:, 0]
        lines = np.diff(blocks.line_first)
        sizes = inside[0] * inside[1] * (inside[1] + 1), own * (lines + own), lines * lines, own
        self.places = np.zeros((lines.size + 1, 4), np.int64)
        self.places[1:] = np.cumsum(np.stack(sizes, 1), axis=0)
        self.bands, self.multipliers, matrices = (np.empty(int(size)) for size in self.places[-1, :3])
        self._on_blocks(block_elimination.eliminate_blocks, self.places, self.bands, self.multipliers, matrices)
        left: dict[int, np.ndarray] = {
            n: matrices[self.places[n, 2] : self.places[n + 1, 2]].reshape(count, count)
            for n, count in enumerate(lines)
        }
        self.joined = [self._join(joins, left) for joins in order.joins]
        self.error = self._measured_error(sampling)

    def _on_blocks(self, kernel: Callable[..., None], *arguments: Any) -> None:
        """Run a kernel of a range of blocks on all of them, on as many threads as numba has.

        Blocks are independent of each other. Loops that numba runs in parallel take three times as long to compile.
        """
        blocks = self.order.blocks
        given = self.lattice, self.cells, blocks, *arguments
        count, threads = blocks.inside.shape[0], numba.get_num_threads()
        if threads == 1:
            kernel(0, count, *given)
            return
        ends = np.linspace(0, count, min(count, threads * _RANGES_PER_THREAD) + 1).round().astype(int).tolist()
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda span: kernel(*span, *given), pairwise(ends)))

    def _join(self, joins: Joins, left: dict[int, np.ndarray]) -> tuple[torch.Tensor, torch.Tensor]:
        """Eliminate what is between pairs of regions; `left` are the matrices on the line pixels around regions.

        Returns:
            The Cholesky factors F of what is eliminated (N, e, e), and F^-1 times the rest of its rows (N, e, rest).
        """
        (count, size), own = joins.pixels.shape, joins.eliminated
        fronts = np.zeros((count, size, size))
        block_elimination.add_lines(self.lattice, self.order.line_pixels, joins.pixels, own, fronts)
        for front, regions in zip(fronts, joins.regions.tolist(), strict=True):
            for region, places in zip(regions, joins.maps, strict=True):
                block_elimination.add_matrix(left.pop(region), places, front)
        whole = torch.from_numpy(fronts)
        # Without raising an error: what rounding has spoilt shows in the error that is measured.
        factor = torch.linalg.cholesky_ex(whole[:, :own, :own]).L
        coupling = torch.linalg.solve_triangular(factor, whole[:, :own, own:], upper=False)
        rest = whole[:, own:, own:] - coupling.mT @ coupling
        left.update(zip(joins.joined.tolist(), rest.numpy(), strict=True))
        return factor, coupling

    def _measured_error(self, sampling: Sampling) -> float:
        """Solve for a target that is known, and return the error with a margin; infinite if there is no solution."""
        known = torch.randn((1, 1, *sampling.size), dtype=torch.float64, generator=torch.Generator().manual_seed(0))
        edges = Edges(*(torch.from_numpy(each)[None] for each in (self.lattice.down, self.lattice.right)))
        rhs = laplacian(edges, known) + torch.from_numpy(self.lattice.prior_weight) * known
        found = np.empty((1, *sampling.size))
        self.solve(sampling(known)[0].numpy(), rhs[0].numpy(), found)
        error = float(np.sqrt(np.mean(np.square(found - known[0].numpy()))))
        return _MARGIN * error if np.isfinite(error) else np.inf

    def solve(self, source: np.ndarray, rhs: np.ndarray, target: np.ndarray) -> None:
        """Fill target (K, H, W) with the solution for a source (K, h, w) and rhs (K, H, W), or an empty one."""
        at_once = max(1, _VALUES_AT_ONCE // (target.shape[1] * target.shape[2]))
        for first in range(0, target.shape[0], at_once):
            some = slice(first, first + at_once)
            # Kernels of one precision alone: compiling them takes ten seconds and more.
            side = np.ascontiguousarray(rhs[some], np.float64) if rhs.size else np.empty((0, 0, 0))
            target[some] = self._solved(np.ascontiguousarray(source[some], np.float64), side)

    def _solved(self, source: np.ndarray, rhs: np.ndarray) -> np.ndarray:
        """Return what `solve` fills in, for some channels and in double precision."""
        blocks, order, channels = self.order.blocks, self.order, source.shape[0]
        lines, own = np.empty((blocks.line_places.size, channels)), np.empty((int(self.places[-1, 3]), channels))
        factors = self.places, self.bands, self.multipliers
        self._on_blocks(block_solves.solve_up, *factors, source, rhs, lines, own)
        at = order.line_pixels
        values = rhs.reshape(channels, -1)[:, at].T.copy() if rhs.size else np.zeros((at.size, channels))
        self._solve_lines(lines, values)
        target = np.empty((channels, *self.lattice.inverse.shape))
        self._on_blocks(block_solves.solve_down, *factors, rhs, values, own, target)
        target.reshape(channels, -1)[:, at] = values.T
        return target

    def _solve_lines(self, lines: np.ndarray, values: np.ndarray) -> None:
        """Solve for the line pixels: values (P, K), their right-hand sides without `lines`, those left by blocks."""
        first, channels = self.order.blocks.line_first, values.shape[1]
        left = {n: lines[first[n] : first[n + 1]] for n in range(first.size - 1)}
        for joins, (factor, coupling) in zip(self.order.joins, self.joined, strict=True):
            own = joins.eliminated
            fronts = np.zeros((*joins.pixels.shape, channels))
            for front, regions in zip(fronts, joins.regions.tolist(), strict=True):
                for region, places in zip(regions, joins.maps, strict=True):
                    front[places] += left.pop(region)
            here = joins.pixels[:, :own]
            known = torch.from_numpy(values[here] + fronts[:, :own])
            known = torch.linalg.solve_triangular(factor, known, upper=False)
            values[here] = known.numpy()
            rest = torch.baddbmm(torch.from_numpy(fronts[:, own:]), coupling.mT, known, alpha=-1)
            left.update(zip(joins.joined.tolist(), rest.numpy(), strict=True))
        for joins, (factor, coupling) in zip(reversed(self.order.joins), reversed(self.joined), strict=True):
            here, around = joins.pixels[:, : joins.eliminated], joins.pixels[:, joins.eliminated :]
            known = torch.from_numpy(values[here]).baddbmm_(coupling, torch.from_numpy(values[around]), alpha=-1)
            values[here] = torch.linalg.solve_triangular(factor.mT, known, upper=True).numpy()
