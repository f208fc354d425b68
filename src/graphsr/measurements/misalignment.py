"""Tell whether a source that was said to lie edge to edge on its guide seems to lie elsewhere."""

from __future__ import annotations

import math

import numpy as np

from graphsr.measurements.alignment import find_alignment

# Shifts from which on it is worth a word, in guide pixels and in source pixels: edges of the target are visibly off.
_LEAST_SHIFT, _LEAST_SHARE = 1.0, 0.15
# A shift has to be so many times its standard error.
_LEAST_RATIO = 3.0
# Larger guides are not looked at: it would take seconds, and as much memory again.
_MOST_PIXELS = 2**22


def suspected_misalignment(guide: np.ndarray, source: np.ndarray) -> str:
    """Look for a shift between guide and source.

    Args:
        guide: (H, W, C).
        source: (K, h, w); NaN is missing.

    Returns:
        How the source seems to lie, in words; "" if edge to edge, or if the pair does not tell.
    """
    if guide.shape[0] * guide.shape[1] > _MOST_PIXELS:
        return ""
    found = find_alignment(guide, source, "shift")
    if found.matrix is None:
        return ""
    factor = math.sqrt(np.linalg.det(found.matrix[:, :2]))
    least = max(_LEAST_SHIFT, _LEAST_SHARE * factor, _LEAST_RATIO * found.error)
    return found.words if np.hypot(*found.matrix[:, 2]) >= least else ""
