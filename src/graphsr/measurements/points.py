"""Sparse points: measurements at single places of the guide, brought into a map with holes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphsr.arrays import as_array
from graphsr.errors import InputError

_COLUMNS = "each row must be x, y, value, and a confidence if there is one"


def point_map(
    points: Any, size: tuple[int, int], confidence: Any = None, lines: Sequence[int] = ()
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return a map of points, and the confidence of its pixels.

    Points in the same pixel become one: their mean weighted by confidence, with the sum of their confidences, as least
    squares would have it, or 1 if that is larger.

    Args:
        points: (N, 3) rows of x, y, value, or (N, 4) with a confidence; x and y in pixels from the upper left corner of
            the image, so that the centre of the first pixel is 0.5, 0.5. Or a map (H, W) with NaN where there is none.
        size: (H, W) of the guide.
        confidence: One number, or one for each row (N,), or for each pixel of a map (H, W); 0 leaves a point out.
        lines: Those of a file that the rows stand in, by which messages name them.

    Returns:
        Values (H, W), NaN where there is no point, and confidences (H, W), 0 there.

    Raises:
        InputError: The points are no such array, lie outside the guide, or none is left.
    """
    array = as_array("points", points).astype(np.float64)
    if array.shape == tuple(size):
        return _known(array, _confidence(confidence, array.shape, "each pixel of the map"))
    _check_rows(array, size, lines)
    if array.shape[1] == 4 and confidence is not None:
        raise InputError("confidence: the points have their own in the fourth column; give one or the other")
    given = array[:, 3] if array.shape[1] == 4 else confidence
    weights = _confidence(given, (len(array),), "each point")
    height, width = size
    pixel = _pixels(array[:, 1], height) * width + _pixels(array[:, 0], width)
    total = np.bincount(pixel, weights, height * width).astype(np.float64)
    # About the mean: sums of large numbers would lose the digits in which points differ.
    centre = array[:, 2].mean()
    mean = np.full(height * width, np.nan)
    np.divide(np.bincount(pixel, weights * (array[:, 2] - centre), height * width), total, out=mean, where=total > 0)
    return _known((mean + centre).reshape(size), np.minimum(total, 1.0).reshape(size))


def _known(
    values: NDArray[np.float64], confidence: NDArray[np.floating]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    known = np.isfinite(values) & (confidence > 0)
    if np.isinf(values).any():
        raise InputError("points: the map holds infinity; mark pixels without a point with NaN")
    if not known.any():
        raise InputError("points: there is none; at least one must have a value and a confidence above 0")
    return np.where(known, values, np.nan), np.where(known, confidence, 0.0)


def _check_rows(array: NDArray[np.float64], size: tuple[int, int], lines: Sequence[int]) -> None:
    if array.size == 0:
        raise InputError("points: there is none; at least one is needed")
    if array.ndim != 2 or array.shape[1] > 4:
        raise InputError(
            f"points: must be (N, 3), x, y and value, (N, 4) with a confidence, or a map of the guide's size "
            f"{tuple(size)}, not {array.shape}"
        )
    if array.shape[1] < 3:
        raise InputError(f"points: have {array.shape[1]} columns; {_COLUMNS}")
    wrong = np.flatnonzero(~np.isfinite(array).all(1))
    if wrong.size:
        raise InputError(
            f"points: {wrong.size} of {len(array)} hold NaN or infinity, the first is {_name(wrong[0], lines)}; leave "
            "such points out"
        )
    _check_inside(array, size, lines)


def _check_inside(array: NDArray[np.float64], size: tuple[int, int], lines: Sequence[int]) -> None:
    height, width = size
    x, y = array[:, 0], array[:, 1]
    outside = np.flatnonzero((x < 0) | (x > width) | (y < 0) | (y > height))
    if not outside.size:
        return
    first = outside[0]
    swapped = bool((x >= 0).all() and (x <= height).all() and (y >= 0).all() and (y <= width).all())
    raise InputError(
        f"points: {outside.size} of {len(array)} lie outside the guide, the first is {_name(first, lines)} at "
        f"x = {x[first]:g}, y = {y[first]:g}; x must be from 0 to {width} and y from 0 to {height} "
        + ("(are the two swapped?)" if swapped else "pixels")
    )


def _name(row: int, lines: Sequence[int]) -> str:
    return f"line {lines[row]}" if lines else f"points[{row}]"


def _pixels(position: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Return the pixel that each position lies in; the far border belongs to the last one."""
    return np.minimum(position.astype(np.int64), size - 1)


def _confidence(confidence: Any, shape: tuple[int, ...], of: str) -> NDArray[np.float64]:
    array = np.ones(shape) if confidence is None else as_array("confidence", confidence).astype(np.float64)
    if array.shape not in ((), shape):
        raise InputError(f"confidence: must be one number, or one for {of}, {shape}, not {array.shape}")
    wrong = array[~((array >= 0) & (array <= 1))]
    if wrong.size:
        raise InputError(f"confidence: must lie between 0 (left out) and 1, but holds {wrong.flat[0]:g}")
    return np.array(np.broadcast_to(array, shape))
