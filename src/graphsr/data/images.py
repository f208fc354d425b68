"""Reading the image files of data sets."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from graphsr.errors import InputError
from graphsr.files import read_image


def read_guide(path: Path) -> np.ndarray:
    """(H, W, 3) uint8"""
    try:
        with Image.open(path) as image:
            return np.asarray(image.convert("RGB"))
    except FileNotFoundError:
        raise InputError(f"{path}: no such file; a colour image was expected here") from None
    except OSError as error:
        raise InputError(f"{path}: cannot be read as an image: {error}") from error


def read_map(path: Path) -> np.ndarray:
    """(H, W) float32, as stored"""
    image = read_image(path)
    values = np.asarray(image.array, dtype=np.float32).reshape(*image.size, -1)
    if values.shape[2] > 1 and not (values == values[..., :1]).all():  # some grey maps are stored as RGB
        raise InputError(f"{path}: has {image.channels} different channels; a map of one channel was expected")
    return np.ascontiguousarray(values[..., 0])


def folder(path: Path, expected: str) -> Path:
    if not path.is_dir():
        raise InputError(f"{path}: no such folder; expected {expected}")
    return path
