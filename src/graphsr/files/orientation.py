"""The orientation tag of EXIF and TIFF: how the stored rows and columns have to be turned to be upright."""

from __future__ import annotations

import numpy as np

from graphsr.files.image import Array

ORIENTATION_TAG = 274

# Tag value -> (transpose first, then flip rows, then flip columns); TIFF 6.0, section 8.
_TURNS = {
    2: (False, False, True),
    3: (False, True, True),
    4: (False, True, False),
    5: (True, False, False),
    6: (True, False, True),
    7: (True, True, True),
    8: (True, True, False),
}


def upright(array: Array, orientation: int) -> tuple[Array, tuple[str, ...]]:
    """Turn an image (H, W) or (H, W, C) upright.

    Returns:
        The image, and a note if it was turned. Unknown values of the tag count as upright.
    """
    if orientation not in _TURNS:
        return array, ()
    transpose, flip_rows, flip_columns = _TURNS[orientation]
    if transpose:
        array = np.swapaxes(array, 0, 1)
    if flip_rows:
        array = array[::-1]
    if flip_columns:
        array = array[:, ::-1]
    return np.ascontiguousarray(array), (f"turned upright (orientation tag {orientation})",)
