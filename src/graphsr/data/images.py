"""Reading the image files of data sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from graphsr.errors import InputError
from graphsr.features.channels import three_channels, unit_range
from graphsr.files import Image, mark_missing, read_image


def read_guide(path: Path) -> np.ndarray:
    """Read a picture of any type that graphsr.files knows as 8-bit RGB.

    Args:
        path: the file; grey values are repeated, of more than three channels the first three are taken.

    Returns:
        (H, W, 3) uint8.
    """
    image = read_image(path)
    if image.dtype == np.uint8 and image.channels >= 3:  # nothing to convert, and by far the most common
        return np.ascontiguousarray(image.array[..., :3])
    planes = torch.from_numpy(image.array.reshape(*image.size, -1).astype(np.float32)).permute(2, 0, 1)[None]
    if not bool(torch.isfinite(planes).all()):
        raise InputError(f"{path}: holds values that are not finite; a guide must not")
    if image.dtype != np.uint8:
        planes = 255 * unit_range(planes)
    return three_channels(planes)[0].permute(1, 2, 0).round().to(torch.uint8).contiguous().numpy()


def read_map(path: Path, missing: float | None = None) -> np.ndarray:
    """Read a map of one channel.

    Args:
        path: the file; a grey map may be stored as RGB.
        missing: the value that means "unknown", instead of the one that the file declares, if any.

    Returns:
        (H, W) float32; NaN where it is unknown or not finite.
    """
    return as_map(read_image(path), missing)


def as_map(image: Image, missing: float | None) -> np.ndarray:
    """Return the one channel of an image as `read_map` does."""
    values = mark_missing(image.array, image.missing if missing is None else missing)[0].reshape(*image.size, -1)
    if not all(np.array_equal(values[..., 0], values[..., c], equal_nan=True) for c in range(1, image.channels)):
        raise InputError(f"{image.path}: has {image.channels} different channels; a map of one channel was expected")
    return np.ascontiguousarray(values[..., 0], dtype=np.float32)


def require_folder(path: Path, expected: str) -> Path:
    """Return the path of a folder, or raise an error that says what was expected there."""
    if not path.is_dir():
        raise InputError(f"{path}: no such folder; expected {expected}")
    return path
