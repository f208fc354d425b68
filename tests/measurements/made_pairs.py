"""Pairs whose truth is known: two slanted planes, and a guide that shows where they meet."""

from __future__ import annotations

import numpy as np

SIZE, FACTOR = (96, 96), 8


def two_planes(size: tuple[int, int] = SIZE) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return a guide (H, W, 3) of 8 bits, the source (h, w), means of 8 x 8 pixels, and the truth (H, W)."""
    rows, columns = np.mgrid[: size[0], : size[1]] / size[0]
    front = columns + 0.3 * rows > 0.6
    truth = np.where(front, 2 + 0.5 * rows, 4 + 0.5 * columns)
    rng = np.random.default_rng(7)
    colours = np.where(front[..., None], (180, 90, 60), (60, 110, 170))
    guide = (colours + rng.integers(-4, 5, (*size, 3))).astype(np.uint8)
    source = truth.reshape(size[0] // FACTOR, FACTOR, size[1] // FACTOR, FACTOR).mean((1, 3))
    return guide, source, truth


def noisy(source: np.ndarray, sigma: float) -> np.ndarray:
    return source + sigma * np.random.default_rng(11).standard_normal(source.shape)


def rmse(target: np.ndarray, truth: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(target - truth))))
