"""Colours for values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from graphsr.pictures.palette import VALUES, Palette, Picture

MISSING_COLOUR = (176, 176, 176)
_SAMPLES = 1_000_000


@dataclass(frozen=True)
class Scale:
    """Which colour stands for which value."""

    low: float
    high: float
    units: str = ""
    palette: Palette = VALUES


def robust_range(*arrays: NDArray[Any], percentiles: tuple[float, float] = (0.5, 99.5)) -> tuple[float, float]:
    """Return a range of values that a few outliers do not stretch.

    Args:
        arrays: Any shapes and types; what is not finite is left out.
        percentiles: Those of all values together that become the two ends.

    Returns:
        The low and the high end; never equal, even for constant or empty arrays.
    """
    samples = np.concatenate([_sampled(array) for array in arrays]) if arrays else np.empty(0)
    if samples.size == 0:
        return 0.0, 1.0
    low, high = (float(value) for value in np.percentile(samples, percentiles))
    if high - low <= 1e-6 * max(abs(low), abs(high)):
        margin = max(0.5 * abs(low), 0.5)
        return low - margin, high + margin
    return low, high


def _sampled(array: NDArray[Any]) -> NDArray[np.float64]:
    flat = array.reshape(-1)
    values = flat[:: max(1, flat.size // _SAMPLES)].astype(np.float64)
    return values[np.isfinite(values)]


def colourise(values: NDArray[Any], low: float, high: float, palette: Palette = VALUES) -> Picture:
    """Show values as colours.

    Args:
        values: (H, W).
        low: The value of the palette's first colour; what is below gets it too.
        high: The value of its last colour.
        palette: The colours.

    Returns:
        (H, W, 3), with NaN in neutral grey.
    """
    position = (values.astype(np.float32) - np.float32(low)) * np.float32(1.0 / (high - low))
    missing = np.isnan(position)
    last = len(palette.table) - 1
    index = np.rint(np.clip(np.where(missing, 0, position), 0, 1) * last).astype(np.uint8)
    picture: Picture = palette.table[index]
    picture[missing] = MISSING_COLOUR
    return picture


def as_picture(image: NDArray[Any]) -> Picture:
    """Show an image of any type: 8 bits as they are, others stretched to their range.

    Args:
        image: (H, W) or (H, W, C). Of more than three channels the first three are shown, of two the first.

    Returns:
        (H, W, 3).
    """
    channels = image if image.ndim == 3 else image[..., None]
    channels = channels[..., :3] if channels.shape[2] >= 3 else channels[..., :1]
    if channels.dtype != np.uint8:
        channels = _stretched(channels)
    return np.ascontiguousarray(np.broadcast_to(channels, (*channels.shape[:2], 3)))


def _stretched(channels: NDArray[Any]) -> NDArray[np.uint8]:
    low, high = robust_range(channels)
    position = np.clip((channels.astype(np.float32) - low) / (high - low), 0, 1)
    grey = np.rint(position * 255)
    return np.where(np.isnan(grey), MISSING_COLOUR[0], grey).astype(np.uint8)
