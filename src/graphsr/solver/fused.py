"""The CPU path, image by image: set up a preconditioner, then iterate until the answer is good enough."""

from __future__ import annotations

from dataclasses import dataclass

import numba
import numpy as np

from graphsr.sampling import Sampling
from graphsr.solver import lattice as fine
from graphsr.solver.coarsening import Graph
from graphsr.solver.conjugate import conjugate_gradients
from graphsr.solver.cycle import Levels, build

# Strips: at least two a thread to even out the work, each small enough to stay in a shared cache, and tall enough
# that aggregates across cells find partners.
_STRIP_PIXELS = 1 << 18
_STRIP_CELLS = 4
# Where the firmest and the loosest pixel differ by more than this, the residual that conjugate gradients carry along
# drifts from the true one by more than a tolerance may allow: it is then computed anew and the answer checked.
_DELICATE = {np.dtype(np.float32): 1e3, np.dtype(np.float64): 1e10}
_ROUNDS = 6


@dataclass(frozen=True)
class Prepared:
    """Everything about one matrix that does not depend on the right-hand side."""

    lattice: fine.Lattice
    cells: fine.Cells
    levels: Levels


def _cells(sampling: Sampling, dtype: np.dtype) -> fine.Cells:
    rows, columns = sampling.rows, sampling.columns
    pixels = rows.size * columns.size
    strips = max(2 * numba.get_num_threads(), -(-pixels // _STRIP_PIXELS))
    strips = max(1, min(strips, rows.cells // _STRIP_CELLS))
    cell_strips = np.linspace(0, rows.cells, strips + 1).round().astype(np.int64)
    return fine.Cells(
        *(rows.first, rows.count, rows.taps.astype(dtype), rows.owners, rows.shares.astype(dtype)),
        *(
            columns.first,
            columns.count,
            columns.taps.astype(dtype),
            columns.owners,
            columns.shares.astype(dtype),
        ),
        straddling=bool(rows.straddles.any() or columns.straddles.any()),
        strips=np.searchsorted(rows.home, cell_strips),
        cell_strips=cell_strips,
    )


def prepare(
    down: np.ndarray,
    right: np.ndarray,
    ground: np.ndarray,
    slack: np.ndarray,
    known: np.ndarray,
    sampling: Sampling,
) -> Prepared:
    """Set up the preconditioner of one image.

    down (H-1, W), right (H, W-1) ties; ground (H, W) or (1, 1) prior weights; slack (h, w) C^-1 (0: exact);
    known (h, w) which source pixels have data.
    """
    dtype = right.dtype
    cells = _cells(sampling, dtype)
    height, width = sampling.size
    inverse = np.empty((height, width), dtype)
    gain = np.empty(slack.shape, dtype)
    fine.prepare(down, right, ground, slack, known, cells, inverse, gain)
    if cells.straddling:
        fine.load_straddling(cells, gain, inverse)

    home_rows, home_columns = sampling.rows.home, sampling.columns.home
    cell = (home_rows[:, None] * slack.shape[1] + home_columns[None, :]).astype(np.int32)
    share = np.outer(
        1 / np.bincount(home_rows, minlength=slack.shape[0])[home_rows],
        1 / np.bincount(home_columns, minlength=slack.shape[1])[home_columns],
    ).astype(dtype)
    nothing, no_nodes = np.empty(0, dtype), np.empty(0, np.int32)
    graph = Graph(
        *(width, down.ravel(), right.ravel()),
        *(no_nodes, no_nodes, nothing),
        strips=cells.strips * width,
        cell=cell.ravel(),
        share=share.ravel(),
        ground=np.broadcast_to(ground, (height, width)).ravel(),
    )
    levels, parent = build(
        graph,
        cells.cell_strips * slack.shape[1],
        slack.ravel().astype(np.float64),
        known.ravel(),
    )
    if not parent.size:
        # Too small to coarsen: one coarse node that nothing ever moves keeps the cycle free of special cases.
        levels, parent = _no_levels(cells, slack, dtype), np.zeros(height * width, np.int32)
    lattice = fine.Lattice(down, right, ground, inverse, gain, slack, parent.reshape(height, width))
    return Prepared(lattice, cells, levels)


def _no_levels(cells: fine.Cells, slack: np.ndarray, dtype: np.dtype) -> Levels:
    strips = np.ones((1, cells.strips.size), np.int64)
    strips[0, 0] = 0
    return Levels(
        strips=strips,
        start=np.zeros(2, np.int32),
        others=np.empty(0, np.int32),
        ties=np.empty(0, dtype),
        parent=np.empty(0, np.int32),
        ground=np.zeros(1, dtype),
        inverse=np.zeros(1, dtype),
        cell=np.zeros(1, np.int32),
        share=np.zeros(1, dtype),
        gain=np.zeros((1, slack.size), dtype),
        has_cells=np.zeros(1, np.bool_),
        cell_strips=cells.cell_strips * slack.shape[1],
    )


def minimise(
    prepared: Prepared,
    source: np.ndarray,
    push: np.ndarray,
    x: np.ndarray,
    *,
    tolerance: float,
    relative: bool,
    most: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Improve x (K, H, W) in place to the minimiser for source (K, h, w) and the extra right-hand side push (K, H, W).

    Stops when the RMS error of each channel is below `tolerance`, or that part of its RMS if `relative`. push may be
    empty. Returns per channel the iterations done and the RMS error estimated (both (K,)).
    """
    lattice, cells, levels = prepared.lattice, prepared.cells, prepared.levels
    channels = x.shape[0]
    exact = not lattice.slack.any()
    known = lattice.gain > 0
    fitting = known.astype(np.float64)
    weight = np.zeros_like(fitting)
    np.divide(1.0, lattice.slack, out=weight, where=known & (lattice.slack > 0))
    pull = np.zeros(lattice.gain.shape)
    r = np.empty_like(x)
    iterations, error = np.zeros(channels, np.int64), np.full(channels, np.inf)
    if exact and known.shape == x.shape[1:] and known.all():
        x[:] = source  # factor 1: nothing is free
        return iterations, np.zeros(channels)
    slowest = np.ones(channels)
    delicate = _delicate(lattice)
    before = np.ones(channels)
    bound = tolerance
    for turn in range(_ROUNDS):
        for k in range(channels):
            # Beginning on the data keeps single precision honest: what the data term still pulls with is then as small
            # as the ties, and not the difference of two numbers of order 1.
            if exact or turn == 0:
                fine.data_pull(cells, fitting, source[k], x[k], pull)
                fine.fit(lattice, cells, lattice.gain * pull, x[k])
                pull[:] = 0
            if not exact:
                fine.data_pull(cells, weight, source[k], x[k], pull)
            fine.residual(lattice, cells, pull, push[k] if push.size else push.reshape(0, 0), x[k], r[k])
        outcome = conjugate_gradients(
            lattice, cells, levels, x, r, tolerance=bound, relative=relative and turn == 0,
            most=most - int(iterations.max()), slowest=slowest,
        )  # fmt: skip
        iterations += outcome.iterations
        error = outcome.error if turn == 0 else np.maximum(np.minimum(error, bound), outcome.error)
        if relative and turn == 0:
            bound = tolerance * max(float(np.sqrt(np.mean(np.square(x)))), np.finfo(x.dtype).tiny)
        # The drift is a part of the distance travelled, and this turn tells which part of the last one's it was.
        travelled = outcome.travelled
        drift = travelled if turn == 0 else travelled * travelled / np.maximum(before, np.finfo(np.float64).tiny)
        before = travelled
        if not delicate or iterations.max() >= most or (drift <= bound).all():
            break
    if exact:
        for k in range(channels):
            fine.data_pull(cells, fitting, source[k], x[k], pull)
            fine.fit(lattice, cells, lattice.gain * pull, x[k])
    return iterations, error


def _delicate(lattice: fine.Lattice) -> bool:
    firmness = np.abs(lattice.inverse)
    return float(firmness.max()) > _DELICATE[firmness.dtype] * float(firmness.min())
