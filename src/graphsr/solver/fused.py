"""The CPU path, image by image: set up the relaxation, then iterate until the answer is good enough."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numba
import numpy as np

from graphsr.sampling import Axis, Sampling
from graphsr.solver import lattice as fine
from graphsr.solver.conjugate import iterate

# Strips are what threads share out: one each for a small image, more for a large one, to even out the work.
_STRIP_PIXELS = 1 << 18
# Where the firmest and the loosest pixel differ by more than this, the residual that conjugate gradients carry along
# drifts from the true one by more than a tolerance may allow: it is then computed anew and the answer checked. So it
# is where the tolerance comes near the precision.
_DELICATE = {np.dtype(np.float32): 1e3, np.dtype(np.float64): 1e10}
_NEAR_ROUNDING = 100.0
_ROUNDS = 6


@dataclass(frozen=True)
class Prepared:
    """Everything about one matrix that does not depend on the right-hand side."""

    lattice: fine.Lattice
    cells: fine.Cells


@lru_cache(maxsize=64)
def _cells(rows: Axis, columns: Axis, dtype: np.dtype, threads: int) -> fine.Cells:
    pixels = rows.size * columns.size
    strips = threads * max(1, pixels // (threads * _STRIP_PIXELS))
    cell_strips = np.linspace(0, rows.cells, min(strips, rows.cells) + 1).round().astype(np.int64)
    inside = ~rows.straddles
    row_last = np.zeros(rows.cells, np.int64)
    row_last[rows.owners[inside, 0]] = np.flatnonzero(inside)  # the last one stays
    return fine.Cells(
        row_first=rows.first,
        row_count=rows.count,
        row_taps=rows.taps.astype(dtype),
        row_owners=rows.owners,
        row_shares=rows.shares.astype(dtype),
        row_last=row_last,
        column_first=columns.first,
        column_count=columns.count,
        column_taps=columns.taps.astype(dtype),
        column_owners=columns.owners,
        column_shares=columns.shares.astype(dtype),
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
    """Set up the relaxation of one image.

    down (H-1, W), right (H, W-1) ties; ground (H, W) or (1, 1) prior weights; slack (h, w) C^-1 (0: exact);
    known (h, w) which source pixels have data.
    """
    dtype = right.dtype
    cells = _cells(sampling.rows, sampling.columns, dtype, numba.get_num_threads())
    inverse = np.empty(sampling.size, dtype)
    gain = np.empty(slack.shape, dtype)
    fine.prepare(down, right, ground, slack, known, cells, inverse, gain)
    return Prepared(fine.Lattice(down, right, ground, inverse, gain, slack), cells)


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
    empty. Returns per channel the iterations done and the RMS error estimated (both (K,)), relative if asked so.
    """
    lattice, cells = prepared.lattice, prepared.cells
    channels = x.shape[0]
    exact = not lattice.slack.any()
    known = lattice.gain > 0
    if exact and known.shape == x.shape[1:] and known.all():
        x[:] = source  # factor 1: nothing is free
        return np.zeros(channels, np.int64), np.zeros(channels)
    weight = np.zeros(known.shape)
    np.divide(1.0, lattice.slack, out=weight, where=known & (lattice.slack > 0))
    misfit = np.zeros(known.shape)
    r, change = np.empty_like(x), np.empty_like(x)
    total, error = np.zeros(channels, np.int64), np.full(channels, np.inf)
    iterations, estimate, travelled = np.zeros(channels, np.int64), np.zeros(channels), np.zeros(channels)
    slowest, before = np.ones(channels), np.ones(channels)
    precision = np.finfo(x.dtype)
    delicate = _delicate(lattice) or tolerance < _NEAR_ROUNDING * precision.eps
    bound = np.full(channels, tolerance)
    for turn in range(_ROUNDS):
        for k in range(channels):
            # Beginning on the data keeps single precision honest: what the data term still pulls with is then as small
            # as the ties, and not the difference of two numbers of order 1.
            if exact or turn == 0:
                fine.misfit(cells, source[k], x[k], misfit)
                fine.fit(lattice, cells, lattice.gain * misfit, x[k])
            if not exact:
                fine.misfit(cells, source[k], x[k], misfit)
            fine.residual(lattice, cells, weight * misfit, push[k] if push.size else push.reshape(0, 0), x[k], r[k])
        # The change is sought from zero, so that small steps are not lost in the rounding of x.
        change[:] = 0
        iterate(
            lattice, cells, change, r, bound, relative and turn == 0, most - int(total.max()), precision.eps,
            slowest, iterations, estimate, travelled,
        )  # fmt: skip
        x += change
        total += iterations
        if relative and turn == 0:
            bound = tolerance * _rms(x)
        error = estimate.copy() if turn == 0 else np.maximum(np.minimum(error, bound), estimate)
        reached = bool((estimate <= bound).all())
        # The drift is a part of the distance travelled, and this turn tells which part of the last one's it was.
        drift = travelled if turn == 0 else travelled * travelled / np.maximum(before, precision.tiny)
        before = travelled.copy()
        settled = not delicate or bool((drift <= bound).all())
        if (reached and settled) or total.max() >= most:
            break
    if not settled:
        error = np.maximum(error, drift)
    if exact:
        for k in range(channels):
            fine.misfit(cells, source[k], x[k], misfit)
            fine.fit(lattice, cells, lattice.gain * misfit, x[k])
    error = np.maximum(error, 0.5 * precision.eps * _rms(x))
    if relative:
        error = np.divide(error, bound / tolerance, out=np.zeros(channels), where=bound > 0)
    return total, error


def _rms(x: np.ndarray) -> np.ndarray:
    return np.asarray(np.sqrt(np.mean(np.square(x), axis=(1, 2), dtype=np.float64)))


def _delicate(lattice: fine.Lattice) -> bool:
    firmness = np.abs(lattice.inverse)
    return float(firmness.max()) > _DELICATE[firmness.dtype] * float(firmness.min())
