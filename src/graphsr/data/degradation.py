"""From the true map to a source as a real sensor would give it."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from scipy import ndimage

from graphsr.data.footprints import average, downsample
from graphsr.errors import InputError
from graphsr.footprints import check_footprint
from graphsr.settings import build

# A source pixel is at an edge if it differs from a neighbour by more than this part of the source's range.
_EDGE_STEP = 0.08
# Outliers lie up to this part of the source's range outside of it.
_OUTLIER_MARGIN = 0.2


@dataclass(frozen=True)
class Degradation:
    """Say what is wrong with a source, each imperfection with its exact strength. The default is nothing.

    "Of the range" means: as a part of the difference between the largest and the smallest value of the source without
    any imperfection.

    Attributes:
        footprint: what a source pixel measures of the target: "box", "bicubic", "gaussian:SIGMA" or "point", see
            `graphsr.data.footprints`.
        shift: how far the source lies off the guide, in target pixels, in a random direction.
        warp: how much larger or smaller the source is than the guide says, and how far it is rotated, in radians.
        flying: part of the source pixels at edges that lie anywhere between front and back.
        noise: standard deviation of Gaussian noise, of the range.
        noise_grows: whether the noise grows with the square of the value, as that of triangulating sensors does, and
            is `noise` at the largest.
        outliers: part of the source pixels that are anything, up to a fifth of the range outside of it.
        quantisation: step that the values are rounded to, of the range.
        missing_at_edges: part of the source pixels at edges that are missing.
        missing: part of all source pixels that are missing.
    """

    footprint: str = "box"
    shift: float = 0.0
    warp: float = 0.0
    flying: float = 0.0
    noise: float = 0.0
    noise_grows: bool = False
    outliers: float = 0.0
    quantisation: float = 0.0
    missing_at_edges: float = 0.0
    missing: float = 0.0

    def __post_init__(self) -> None:
        check_footprint(self.footprint)
        _check_strengths(self, ("flying", "outliers", "missing_at_edges", "missing"))

    @classmethod
    def parse(cls, text: str) -> Degradation:
        """Read what is written as "noise=0.03,outliers=0.05,footprint=bicubic".

        Args:
            text: names of attributes with their values, separated by commas.

        Returns:
            The degradation; what is not named is not wrong.

        Example:
            >>> Degradation.parse("noise=0.03,shift=2").noise
            0.03
        """
        table: dict[str, object] = {}
        for part in filter(None, (part.strip() for part in text.split(","))):
            name, equals, value = (piece.strip() for piece in part.partition("="))
            if not equals or not value:
                raise InputError(f"degradation {text!r}: say NAME=VALUE, separated by commas, not {part!r}")
            table[name] = _parse_value(value)
        return build(cls, table, f"degradation {text!r}")

    def __str__(self) -> str:
        """Return what `parse` reads; "" for nothing."""
        values = [(one.name, getattr(self, one.name), one.default) for one in fields(self)]
        return ",".join(f"{name}={_written(value)}" for name, value, default in values if value != default)


@dataclass(frozen=True)
class RandomDegradation:
    """Say how a training draws what is wrong with each source. The default draws nothing.

    Attributes:
        clean: probability that a source has no imperfection at all.
        often: probability of each imperfection in the other sources.
        noise, outliers, flying, shift, warp, quantisation, missing_at_edges, missing: the largest strength of each
            imperfection, as in `Degradation`; strengths are drawn evenly from 0 to it, but a shift is never more than
            half a source pixel, and noise is weak more often than strong. Noise grows with the square of the value in
            every other case.
        footprints: probability of a footprint other than the box, in a source that is not left clean: of three in five
            cases bicubic, of one each a Gaussian or a point.
        stated: probability that the footprint of a step's sources is bicubic and that the model is told so.
    """

    clean: float = 0.0
    often: float = 1.0
    noise: float = 0.0
    outliers: float = 0.0
    flying: float = 0.0
    shift: float = 0.0
    warp: float = 0.0
    footprints: float = 0.0
    quantisation: float = 0.0
    missing_at_edges: float = 0.0
    missing: float = 0.0
    stated: float = 0.0

    def __post_init__(self) -> None:
        parts = ("clean", "often", "footprints", "stated", "flying", "outliers", "missing_at_edges", "missing")
        _check_strengths(self, parts)

    def draw_stated(self, rng: np.random.Generator) -> str:
        """Draw the footprint that a model is told."""
        return "bicubic" if self.stated and rng.random() < self.stated else "box"

    def draw(self, rng: np.random.Generator, factor: float, stated: str = "box") -> Degradation:
        """Draw what is wrong with one source, whose pixels are `factor` target pixels wide.

        Args:
            rng: where it is drawn from.
            factor: between target and source.
            stated: the footprint that the model is told, which a clean source has.
        """
        if rng.random() < self.clean:
            return Degradation(footprint=stated)
        names = ("shift", "warp", "flying", "noise", "outliers", "quantisation", "missing_at_edges", "missing")
        # A source that lies a whole pixel aside says so little of edges that it teaches soft ones.
        most = {name: getattr(self, name) for name in names} | {"shift": min(self.shift, 0.5 * factor)}
        strengths = {name: self._strength(most[name], rng) for name in names}
        strengths["noise"] *= rng.random()
        footprint = _draw_footprint(rng) if rng.random() < self.footprints else stated
        noise_grows = strengths["noise"] > 0 and bool(rng.random() < 0.5)
        return Degradation(footprint=footprint, noise_grows=noise_grows, **strengths)

    def _strength(self, most: float, rng: np.random.Generator) -> float:
        return float(rng.uniform(0, most)) if most > 0 and rng.random() < self.often else 0.0


def degrade(target: np.ndarray, source_size: tuple[int, int], how: Degradation, rng: np.random.Generator) -> np.ndarray:
    """Return the source that an imperfect sensor gives of a target.

    Args:
        target: (H, W), NaN = unknown.
        source_size: (h, w).
        how: what is wrong with the source.
        rng: where directions, noise and places are drawn from.

    Returns:
        (h, w) float32, NaN = missing. A source of which nothing would be left is returned without imperfections.
    """
    clean = average(target, source_size)
    known = clean[np.isfinite(clean)]
    if how == Degradation() or not known.size:
        return clean
    low, high = float(known.min()), float(known.max())
    extent = (high - low) or 1.0
    if how.shift or how.warp:
        target = _misaligned(target, how, rng)
    source = downsample(target, source_size, how.footprint)
    at_edge = np.isfinite(source) & (_largest_jump(source) > _EDGE_STEP * extent)
    if how.flying:
        front, back = _of_neighbours(source, np.fmin), _of_neighbours(source, np.fmax)
        between = front + (back - front) * rng.random(source.shape)
        source = np.where(at_edge & (rng.random(source.shape) < how.flying), between, source)
    if how.noise:
        source = source + how.noise * extent * _noise_profile(source, how) * rng.standard_normal(source.shape)
    if how.outliers:
        anything = rng.uniform(low - _OUTLIER_MARGIN * extent, high + _OUTLIER_MARGIN * extent, source.shape)
        source = np.where(np.isfinite(source) & (rng.random(source.shape) < how.outliers), anything, source)
    if how.quantisation:
        step = how.quantisation * extent
        first = rng.uniform(0, step)
        source = np.round((source - first) / step) * step + first
    holes = at_edge & (rng.random(source.shape) < how.missing_at_edges)
    holes |= rng.random(source.shape) < how.missing
    source = np.where(holes, np.nan, source).astype(np.float32)
    return source if np.isfinite(source).any() else clean


def _noise_profile(source: np.ndarray, how: Degradation) -> np.ndarray:
    """Return (h, w): the strength of the noise in each pixel, at most 1."""
    if not how.noise_grows:
        return np.ones_like(source)
    largest = float(np.nanmax(np.abs(source))) if np.isfinite(source).any() else 0.0
    return np.asarray((np.nan_to_num(source) / (largest or 1.0)) ** 2)


def _misaligned(target: np.ndarray, how: Degradation, rng: np.random.Generator) -> np.ndarray:
    """Return the target (H, W) as a sensor sees it that is shifted, and scaled and rotated about the middle.

    Values are interpolated linearly, which is what shifted areas average; unknown pixels do not count.
    """
    direction = rng.uniform(0, 2 * math.pi)
    scale, turn = how.warp * rng.choice([-1.0, 1.0], 2)
    matrix = (1 + scale) * np.array([[math.cos(turn), -math.sin(turn)], [math.sin(turn), math.cos(turn)]])
    middle = (np.array(target.shape) - 1) / 2
    offset = middle - matrix @ middle + how.shift * np.array([math.sin(direction), math.cos(direction)])
    known = np.isfinite(target)
    values = ndimage.affine_transform(np.where(known, target, 0.0), matrix, offset, order=1, mode="nearest")
    if known.all():
        return np.asarray(values)
    share = ndimage.affine_transform(known.astype(np.float64), matrix, offset, order=1, mode="nearest")
    return np.asarray(np.where(share > 0.5, values / np.maximum(share, 0.5), np.nan))


def _largest_jump(source: np.ndarray) -> np.ndarray:
    """Return (h, w): the largest difference within the 3 x 3 pixels about each; 0 where nothing is known."""
    return np.asarray(np.nan_to_num(_of_neighbours(source, np.fmax) - _of_neighbours(source, np.fmin)))


def _of_neighbours(source: np.ndarray, choose: np.ufunc) -> np.ndarray:
    """Return (h, w): the smallest (np.fmin) or largest (np.fmax) of the 3 x 3 pixels about each; NaN does not count."""
    padded = np.pad(source, 1, mode="edge")
    rows = choose.reduce([padded[i : i + source.shape[0]] for i in range(3)])
    return np.asarray(choose.reduce([rows[:, j : j + source.shape[1]] for j in range(3)]))


def _draw_footprint(rng: np.random.Generator) -> str:
    kind = rng.choice(["bicubic", "gaussian", "point"], p=[0.6, 0.2, 0.2])
    return f"gaussian:{rng.uniform(0.25, 0.7):.3f}" if kind == "gaussian" else str(kind)


def _check_strengths(how: Degradation | RandomDegradation, parts: tuple[str, ...]) -> None:
    for one in fields(how):
        value = getattr(how, one.name)
        if isinstance(value, float | int) and not (0 <= value < math.inf and (value <= 1 or one.name not in parts)):
            range_ = "between 0 and 1" if one.name in parts else "0 or above"
            raise InputError(f"{one.name} must be {range_}, not {value:g}")


def _written(value: bool | float | str) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return value if isinstance(value, str) else f"{value:g}"


def _parse_value(text: str) -> object:
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text)
    except ValueError:
        return text
