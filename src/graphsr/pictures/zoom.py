"""The part of two maps to look at closely: where they differ most."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw
from scipy.ndimage import uniform_filter

from graphsr.pictures.palette import Picture

Part = tuple[slice, slice]

_SHARE = 4  # the part's sides, as parts of the image's
_ALIKE = 1e-5  # of the range: rounding
_SMALLEST, _LARGEST = 24, 160  # pixels on its longer side


def most_different(first: NDArray[Any], second: NDArray[Any]) -> Part | None:
    """Return the part of two maps in which they differ most in the mean.

    Args:
        first: (H, W) or (H, W, K).
        second: The same; what is not finite in either counts as alike.

    Returns:
        Rows and columns, at most a quarter of the height and of the width where that leaves enough to see; None if the
        maps are alike, or too small.
    """
    height, width = first.shape[:2]
    longest = int(np.clip(max(height, width) / _SHARE, _SMALLEST, _LARGEST))
    if max(height, width) <= longest:
        return None
    rows, columns = (max(1, round(side * longest / max(height, width))) for side in (height, width))
    difference = np.abs(first.astype(np.float32) - second.astype(np.float32)).reshape(height, width, -1).sum(2)
    difference = np.where(np.isfinite(difference), difference, 0)
    known = second[np.isfinite(second)]
    if not known.size or difference.max() <= _ALIKE * (float(known.max()) - float(known.min())):
        return None
    mean = uniform_filter(difference, (rows, columns), mode="constant")
    # Of an even window, the filter's origin is the pixel right of the middle.
    inside = mean[rows // 2 : height - rows + rows // 2 + 1, columns // 2 : width - columns + columns // 2 + 1]
    top, left = (int(place) for place in np.unravel_index(np.argmax(inside), inside.shape))
    return slice(top, top + rows), slice(left, left + columns)


def outlined(picture: Picture, part: Part, size: tuple[int, int]) -> Picture:
    """Return a picture with a frame around a part.

    Args:
        picture: (rows, columns, 3), of an image at any scale.
        part: In pixels of the image.
        size: (H, W) of the image.
    """
    canvas = Image.fromarray(picture)
    down, right = picture.shape[0] / size[0], picture.shape[1] / size[1]
    top, bottom = (round(end * down) for end in (part[0].start, part[0].stop))
    left, end = (round(side * right) for side in (part[1].start, part[1].stop))
    pen = ImageDraw.Draw(canvas)
    # White between black lines is seen on every ground.
    for margin, colour in ((2, (0, 0, 0)), (1, (255, 255, 255)), (0, (255, 255, 255)), (-1, (0, 0, 0))):
        pen.rectangle((left - margin, top - margin, end - 1 + margin, bottom - 1 + margin), outline=colour)
    return np.asarray(canvas)
