"""Measure films: what beginning at the frame before saves, and what averaging does to still and moving parts."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.ndimage import binary_dilation

from graphsr.frames import upsample_frames
from graphsr.models.base import Model
from graphsr.sampling import Sampling
from graphsr.scenes import Scene
from graphsr.scenes.film import film
from graphsr.upsampling import Upsampled, upsample

FACTOR = 8
_FIRST = 3  # frames before this one are not measured
_MOVED = 0.05  # metres: a depth that changed by more has moved
_AROUND = 4  # pixels around such a change that are measured too


@dataclass(frozen=True)
class Row:
    """The figures of one way to upsample one film.

    Attributes:
        film: What moves.
        way: How it was upsampled.
        iterations: The mean over frames.
        frames_per_second: Of the whole.
        flicker: Standard deviation in time where nothing moves, in metres.
        still_error: RMSE there, in metres.
        moving_error: RMSE where depth changed since the frame before, and around, in metres.
    """

    film: str
    way: str
    iterations: float
    frames_per_second: float
    flicker: float
    still_error: float
    moving_error: float


def measure(
    model: Model,
    *,
    seed: int,
    frames: int,
    size: tuple[int, int],
    noise: float,
    progress: Callable[[str], None],
) -> Iterator[Row]:
    """Yield rows for a still film, one in which a thing moves, and one in which the camera does.

    Sources are x8, with normal noise of `noise` metres.
    """
    motions = {"nothing": (0.0, 0.0), "a thing": (0.04, 0.0), "the camera": (0.0, 0.03)}
    for name, (thing, camera) in motions.items():
        progress(f"rendering: {name} moves")
        scenes = list(film(seed, frames, size, thing=thing, camera=camera))
        sources = _sources(scenes, noise)
        for way in ("alone", "following", "steady"):
            progress(f"{name} moves: {way}")
            began = time.perf_counter()
            results = list(_upsampled(way, model, scenes, sources))
            seconds = time.perf_counter() - began
            yield _row(name, way, scenes, results, seconds)


def _sources(scenes: list[Scene], noise: float) -> list[NDArray[np.float32]]:
    rng = np.random.default_rng(0)
    size = scenes[0].depth.shape
    sampling = Sampling((size[0], size[1]), (size[0] // FACTOR, size[1] // FACTOR))
    means = (sampling(torch.from_numpy(each.depth)).numpy() for each in scenes)
    return [mean + noise * rng.standard_normal(mean.shape).astype(np.float32) for mean in means]


def _upsampled(way: str, model: Model, scenes: list[Scene], sources: list[NDArray[np.float32]]) -> Iterator[Upsampled]:
    pairs = [(one.guide, source) for one, source in zip(scenes, sources, strict=True)]
    if way == "alone":
        return (upsample(guide, source, model=model) for guide, source in pairs)
    return upsample_frames(pairs, model=model, steady=way == "steady")


def _row(name: str, way: str, scenes: list[Scene], results: list[Upsampled], seconds: float) -> Row:
    depth, target = np.array([one.depth for one in scenes]), np.array([one.target for one in results])
    changed = np.abs(np.diff(depth, axis=0)) > _MOVED
    around = np.ones((1, 2 * _AROUND + 1, 2 * _AROUND + 1), bool)
    moving = binary_dilation(changed, around)[_FIRST - 1 :]
    still = ~moving.any(0)
    squares = np.square(target[_FIRST:] - depth[_FIRST:], dtype=np.float64)
    return Row(
        film=name,
        way=way,
        iterations=float(np.mean([one.report.iterations for one in results])),
        frames_per_second=len(results) / seconds,
        flicker=float((target - depth)[_FIRST:, still].std(0).mean()) if still.any() else float("nan"),
        still_error=float(np.sqrt(squares[:, still].mean())) if still.any() else float("nan"),
        moving_error=float(np.sqrt(squares[moving].mean())) if moving.any() else float("nan"),
    )
