"""Cutting training patches out of pairs. Every function takes the random generator it draws from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import ndimage

from graphsr.checked_cache import check_caches
from graphsr.data import staircase
from graphsr.data.camera_simulation import simulate_colour, simulate_depth
from graphsr.data.pair import Pair
from graphsr.data.staircase import undo_staircase
from graphsr.errors import InputError

check_caches(staircase)
# Smoothing a staircase needs some pixels around the patch.
_MARGIN = 24
_MOST_TRIES = 32
# Of the maps under a guide as a camera would give it. The others stay exact, as a blurred guide does not always mean a
# soft map: there is motion blur.
_MEASURED_MAPS = 2 / 3


@dataclass(frozen=True)
class Augmentation:
    """Say what may happen to a patch; the defaults do nothing but crop.

    Attributes:
        flip: probability that it is mirrored left to right.
        turn: probability that its axes are swapped.
        rotate: it is rotated by up to so many degrees either way.
        half: probability that it is taken from four times the area at half the resolution, where the image is large
            enough.
        colour: brightness, contrast, gamma and tint of the guide change by up to so much.
        grey: probability of a guide without colour.
        guide_noise: standard deviation of noise on the guide, at most, where white is 1.
        camera: probability that the guide is as a camera would give it, and in two of three cases the map as a depth
            camera would. What that would measure is then the truth: a source that has it is clean.
        scene_scale: probability that a patch is standardised, in training, like a part of the image it is cut from.
        least_known: a patch of which a smaller part is known is drawn again.
    """

    flip: float = 0.0
    turn: float = 0.0
    rotate: float = 0.0
    half: float = 0.0
    colour: float = 0.0
    grey: float = 0.0
    guide_noise: float = 0.0
    camera: float = 0.0
    scene_scale: float = 0.0
    least_known: float = 0.8


def draw_patch(pair: Pair, size: tuple[int, int], how: Augmentation, rng: np.random.Generator) -> Pair:
    """Draw a random patch of a pair, its staircase undone.

    Args:
        pair: at least as large as the patch.
        size: (H, W) of the patch.
        how: what may happen to it.
        rng: where everything is drawn from.

    Returns:
        A pair of `size` whose target has no step.
    """
    best, most = None, 0.0
    for _ in range(_MOST_TRIES):
        patch = _draw(pair, size, how, rng)
        known = float(np.isfinite(patch.target).mean())
        if known >= how.least_known:
            return patch
        if known > most:
            best, most = patch, known
    if best is not None:  # one pair with many holes must not end a training
        return best
    raise InputError(
        f"{pair.name}: {_MOST_TRIES} patches of {size[0]} x {size[1]} had less than {how.least_known:.0%} known pixels"
    )


def centre_patch(pair: Pair, size: tuple[int, int]) -> Pair:
    """Return the middle of a pair, of `size` (H, W), its staircase undone."""
    _check(pair, size)
    top, left = (pair.size[0] - size[0]) // 2, (pair.size[1] - size[1]) // 2
    return _cut(pair, top, left, size)


def _check(pair: Pair, size: tuple[int, int]) -> None:
    if pair.size[0] < size[0] or pair.size[1] < size[1]:
        raise InputError(
            f"{pair.name}: {pair.size[1]} x {pair.size[0]} pixels, too small for patches of {size[1]} x {size[0]}"
        )


def _draw(pair: Pair, size: tuple[int, int], how: Augmentation, rng: np.random.Generator) -> Pair:
    _check(pair, size)
    wanted = (size[1], size[0]) if rng.random() < how.turn else size
    if pair.size[0] < wanted[0] or pair.size[1] < wanted[1]:
        wanted = size
    halved = rng.random() < how.half and pair.size[0] >= 2 * wanted[0] and pair.size[1] >= 2 * wanted[1]
    side = (2 * wanted[0], 2 * wanted[1]) if halved else wanted
    if how.rotate > 0:
        pair = rotated(pair, float(rng.uniform(-how.rotate, how.rotate)))
    top = int(rng.integers(pair.size[0] - side[0] + 1))
    left = int(rng.integers(pair.size[1] - side[1] + 1))
    patch = _cut(pair, top, left, side)
    guide, target = patch.guide, patch.target
    if halved:
        guide = guide.reshape(wanted[0], 2, wanted[1], 2, -1).mean((1, 3)).round().astype(np.uint8)
        # A mean would invent depths between front and back; any one of the four pixels will do.
        target = target[int(rng.integers(2)) :: 2, int(rng.integers(2)) :: 2]
    if wanted != size or (size[0] == size[1] and rng.random() < how.turn):
        guide, target = np.swapaxes(guide, 0, 1), target.T
    if rng.random() < how.flip:
        guide, target = guide[:, ::-1], target[:, ::-1]
    if how.camera > 0 and rng.random() < how.camera:
        guide = simulate_colour(guide, rng)
        if rng.random() < _MEASURED_MAPS:
            target = simulate_depth(target, rng)
    guide = _recoloured(guide, how, rng)
    return Pair(pair.name, np.ascontiguousarray(guide), np.ascontiguousarray(target), pair.unit)


def _cut(pair: Pair, top: int, left: int, size: tuple[int, int]) -> Pair:
    low, first = max(top - _MARGIN, 0), max(left - _MARGIN, 0)
    around = pair.target[low : top + size[0] + _MARGIN, first : left + size[1] + _MARGIN]
    smooth = undo_staircase(around, pair.step)
    target = smooth[top - low : top - low + size[0], left - first : left - first + size[1]]
    return Pair(pair.name, pair.guide[top : top + size[0], left : left + size[1]], target, pair.unit)


def rotated(pair: Pair, degrees: float) -> Pair:
    """Return the pair turned about its middle on the same canvas, its staircase undone.

    A target pixel is known only where all it was interpolated from is known: blending with the fill value would leave
    false depths along the border.
    """
    unknown = ~np.isfinite(pair.target)
    # A staircase is undone before: interpolated steps are no steps any more.
    filled = np.where(unknown, 0.0, undo_staircase(pair.target, pair.step)).astype(np.float32)
    target = ndimage.rotate(filled, degrees, reshape=False, order=1, mode="nearest")
    part = ndimage.rotate(unknown.astype(np.float32), degrees, reshape=False, order=1, mode="constant", cval=1.0)
    target[part > 0] = np.nan
    guide = np.stack(
        [
            ndimage.rotate(pair.guide[..., c], degrees, reshape=False, order=1, mode="nearest")
            for c in range(pair.guide.shape[2])
        ],
        2,
    )
    return Pair(pair.name, guide, target, pair.unit)


def _recoloured(guide: np.ndarray, how: Augmentation, rng: np.random.Generator) -> np.ndarray:
    if how.colour == how.grey == how.guide_noise == 0:
        return guide
    image = guide.astype(np.float32) / 255
    if rng.random() < how.grey:
        image = np.repeat(image @ np.array([[0.299], [0.587], [0.114]], np.float32), image.shape[2], 2)
    if how.colour > 0:
        gamma, gain = np.exp(rng.uniform(-how.colour, how.colour, 2))
        tint = np.exp(rng.uniform(-0.5 * how.colour, 0.5 * how.colour, image.shape[2])).astype(np.float32)
        image = np.power(image, np.float32(gamma)) * np.float32(gain) * tint + np.float32(
            rng.uniform(-0.3, 0.3) * how.colour
        )
    if how.guide_noise > 0:
        image += np.float32(rng.uniform(0, how.guide_noise)) * rng.standard_normal(image.shape, np.float32)
    return (np.clip(image, 0, 1) * 255).round().astype(np.uint8)
