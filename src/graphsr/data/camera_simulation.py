"""Rendered pairs as a colour and a depth camera would give them.

Rendered images are sharp and their maps exact. A depth camera compares small windows, in which the nearer or the
farther surface wins: thin things are lost or widened, edges are ragged and soft, surfaces uneven, values quantised.
Both images change together, so that a network can tell from the guide which kind of map to expect
(docs/evidence/training-runs.md).
"""

from __future__ import annotations

import io

import numpy as np
from PIL import Image
from scipy import ndimage

# Of the guide: standard deviation of the blur in pixels, and quality of the JPEG compression.
_GUIDE_BLUR, _JPEG_QUALITY = (0.5, 1.2), (60, 95)
# Of the map: half the side of the windows in pixels, at most, and the rank of the value that wins in them.
_MOST_WINDOW, _RANK = 3, (0.3, 0.7)
# In pixels: how far edges are displaced (RMS), over what distance that changes, the standard deviation of their blur.
_DISPLACEMENT, _DISPLACED_OVER, _BLUR = (0.2, 1.6), (1.5, 10.0), (0.4, 1.2)
# The relief of surfaces in standard deviations of the map (NYUv2: 0.01 to 0.05), and over how many pixels it changes
# (NYUv2: some 5).
_RELIEF, _RELIEF_OVER = (0.002, 0.08), (1.5, 6.0)
# How many maps are quantised, and the step in standard deviations of the map.
_QUANTISED, _STEP = 0.5, (0.005, 0.08)


def simulate_colour(guide: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a guide (H, W, 3) of 8 bits, blurred and compressed as by a small camera."""
    sigma = rng.uniform(*_GUIDE_BLUR)
    blurred = ndimage.gaussian_filter(guide.astype(np.float32), (sigma, sigma, 0)).round().astype(np.uint8)
    quality = int(rng.integers(_JPEG_QUALITY[0], _JPEG_QUALITY[1] + 1))
    with io.BytesIO() as file:
        Image.fromarray(blurred).save(file, "JPEG", quality=quality)
        return np.asarray(Image.open(file))


def simulate_depth(target: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return a map (H, W) as a depth camera measures it, holes filled; what is unknown (NaN) stays so."""
    known = np.isfinite(target)
    if not known.any():
        return target
    std = float(target[known].std())
    nearest = ndimage.distance_transform_edt(~known, return_distances=False, return_indices=True)
    side = 2 * int(rng.integers(_MOST_WINDOW + 1)) + 1
    values = ndimage.percentile_filter(target[tuple(nearest)], 100 * rng.uniform(*_RANK), size=side)
    field = _smooth_noise((2, *target.shape), _log_uniform(_DISPLACED_OVER, rng), rng)
    places = np.indices(target.shape) + rng.uniform(*_DISPLACEMENT) * field
    values = ndimage.map_coordinates(values, places, order=0, mode="nearest")  # no depths between front and back
    values = ndimage.gaussian_filter(values, rng.uniform(*_BLUR), mode="nearest")
    values = values + std * _log_uniform(_RELIEF, rng) * _smooth_noise(target.shape, rng.uniform(*_RELIEF_OVER), rng)
    if std > 0 and rng.random() < _QUANTISED:
        step = std * _log_uniform(_STEP, rng)
        values = step * np.round(values / step)
    return np.where(known, values, np.nan).astype(np.float32)


def _smooth_noise(shape: tuple[int, ...], sigma: float, rng: np.random.Generator) -> np.ndarray:
    """Return noise (..., H, W) of standard deviation 1, blurred by a Gaussian of `sigma` pixels."""
    noise = ndimage.gaussian_filter(rng.standard_normal(shape), (*(0,) * (len(shape) - 2), sigma, sigma))
    return np.asarray(noise / max(float(noise.std()), 1e-9))


def _log_uniform(limits: tuple[float, float], rng: np.random.Generator) -> float:
    return float(np.exp(rng.uniform(*np.log(limits))))
