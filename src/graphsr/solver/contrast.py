"""How slow a mode of the graph may be that conjugate gradients do not show.

The relaxation measures every pixel by its own edges. Where most pixels have both strong and weak edges, as in stripes
of one pixel, there are many modes that only the weak edges hold: each has little energy for its size, and the iteration
shows them only after all others are done. The smallest eigenvalue is then weak / strong, and less for long stripes. A
graph with some sharp edges has few such modes, and those that matter for the RMS error show in time.
"""

from __future__ import annotations

import numpy as np

# Rows that are looked at.
_ROWS = 64
# Weights of the edges of one pixel differ by more than this, for half of the pixels: modes may hide.
_SHARP = 100.0
# How much smaller than weak / strong the eigenvalue may be; found on stripes of up to 24 pixels.
_LONG = 1000.0


def hidden_eigenvalue(down: np.ndarray, right: np.ndarray) -> float:
    """Return what the smallest eigenvalue of the preconditioned matrix may be although it does not show; 1: none hides.

    Args:
        down: Edge weights (H-1, W).
        right: Edge weights (H, W-1).
    """
    height, width = right.shape[0], down.shape[1]
    if height < 3 or width < 3:
        weights = [each for each in (down, right) if each.size]
        if not weights:
            return 1.0
        strong, weak = np.array([max(each.max() for each in weights)]), np.array([min(each.min() for each in weights)])
    else:
        every = -(-(height - 2) // _ROWS)
        above, below = down[: height - 2 : every, 1:-1], down[1 : height - 1 : every, 1:-1]
        left, beyond = right[1 : height - 1 : every, :-1], right[1 : height - 1 : every, 1:]
        strong = np.maximum(np.maximum(above, below), np.maximum(left, beyond))
        weak = np.minimum(np.minimum(above, below), np.minimum(left, beyond))
    sharp = strong > _SHARP * weak
    if 2 * np.count_nonzero(sharp) < sharp.size:
        return 1.0
    return float(1 / (_LONG * np.quantile(strong.astype(np.float64) / weak, 0.9)))
