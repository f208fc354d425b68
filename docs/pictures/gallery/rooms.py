"""Examples in rendered rooms: what phones, Kinects and thermal cameras measure, features and label scores."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

import numpy as np
from example import Example, Made, average, in_colours_of, rmse
from scipy.ndimage import gaussian_filter, shift

from graphsr.data.degradation import Degradation, degrade
from graphsr.files import write_image
from graphsr.scenes import scene

sys.path.append(str(Path(__file__).parents[3] / "examples"))
from label_scores import MOST_LABELS, coloured, label_parts, mean_iou

_FEATURES = 16


def _phone(folder: Path, flying: float = 0.05, footprint: str = "box") -> Made:
    room = scene(21, (720, 960))
    truth = 1000 * room.depth.astype(np.float64)
    how = Degradation(noise=0.006, noise_grows=True, flying=flying, footprint=footprint)
    source = np.rint(degrade(truth, (96, 128), how, np.random.default_rng(1)))
    write_image(folder / "photo.png", room.guide)
    write_image(folder / "lidar.png", source.astype(np.uint16))
    return Made(room.guide, source, truth, in_colours_of(truth))


def _kinect(folder: Path) -> Made:
    room = scene(3, (600, 800))
    depth = room.depth.astype(np.float64)
    source = degrade(depth, (240, 320), Degradation(missing=0.01, missing_at_edges=0.3), np.random.default_rng(2))
    # The projector stands 7.5 cm beside the camera: what lies in its shadow is not measured. In steps of disparity.
    pixels = 580 / 640 * 320
    seen_by_projector = np.arange(320) + pixels * 0.075 / np.nan_to_num(source, nan=10.0)
    source[seen_by_projector < np.maximum.accumulate(seen_by_projector, axis=1) - 0.5] = np.nan
    disparity = np.rint(8 * pixels * 0.075 / source) / 8
    source = np.rint(1000 * pixels * 0.075 / disparity)
    write_image(folder / "colour.png", room.guide)
    write_image(folder / "kinect.png", np.nan_to_num(source).astype(np.uint16))
    return Made(room.guide, source, 1000 * depth, in_colours_of(1000 * depth))


def _thermal(folder: Path) -> Made:
    room = scene(12, (480, 640))
    rng = np.random.default_rng(3)
    parts = label_parts(room.depth)
    drift = gaussian_filter(rng.normal(size=parts.shape), 60)
    truth = rng.uniform(18, 34, MOST_LABELS)[parts] + 0.4 * drift / drift.std()
    aside = shift(truth, (2, -3), order=1, mode="nearest")  # the thermal camera looks a little aside
    source = average(gaussian_filter(aside, 2), (120, 160)) + rng.normal(0, 0.05, (120, 160))
    write_image(folder / "photo.png", room.guide)
    write_image(folder / "thermal.tif", source.astype(np.float32))
    return Made(room.guide, source, truth, in_colours_of(truth))


def _features(folder: Path) -> Made:
    room = scene(105, (384, 512))
    rng = np.random.default_rng(4)
    own = rng.normal(size=(MOST_LABELS, _FEATURES))[label_parts(room.depth)]
    rows, columns = np.mgrid[:1:384j, :1:512j]
    place = np.stack([rows, columns, np.log(room.depth)], -1) @ rng.normal(size=(3, _FEATURES))
    truth = own + 0.5 * place
    source = average(truth, (24, 32)) + rng.normal(0, 0.05, (24, 32, _FEATURES))
    write_image(folder / "photo.png", room.guide)
    write_image(folder / "features.npy", source.astype(np.float32))
    return Made(room.guide, source, truth, _principal_colours(truth))


def _principal_colours(truth: np.ndarray):  # type: ignore[no-untyped-def]
    """Return the function that shows the first three principal components of features as red, green and blue."""
    flat = truth.reshape(-1, truth.shape[2])
    mean = flat.mean(0)
    axes = np.linalg.eigh(np.cov(flat.T))[1][:, :-4:-1]
    ends = np.percentile((flat - mean) @ axes, (1, 99), axis=0)

    def show(values: np.ndarray) -> np.ndarray:
        share = ((values - mean) @ axes - ends[0]) / (ends[1] - ends[0])
        return np.rint(255 * np.clip(share, 0, 1)).astype(np.uint8)

    return show


def _labels(folder: Path) -> Made:
    room = scene(101, (384, 512))
    truth = np.eye(MOST_LABELS, dtype=np.float32)[label_parts(room.depth)]
    source = average(truth, (48, 64))
    write_image(folder / "photo.png", room.guide)
    write_image(folder / "scores.npy", source)
    return Made(room.guide, source, truth, lambda scores: coloured(scores.argmax(2)))


EXAMPLES = (
    Example(
        name="phone",
        title="Depth from a phone",
        text="A rendered room, 960 x 720, and its depth as a phone's time-of-flight sensor would give it: 128 x 96 "
        "(a factor of 7.5), with noise that grows with the distance, and at edges every twentieth pixel somewhere "
        "between front and back. Sensor and room are simulated.",
        command="graphsr upsample photo.png lidar.png -o depth.png --noise auto --robust",
        make=_phone,
        output="depth.png",
        score=rmse,
        words="RMSE, mm",
    ),
    Example(
        name="poor-phone",
        title="Depth from a poor phone",
        text="The same, but for three pixels in ten at edges between front and back, and a lens that blurs by 0.4 "
        "source pixels. The command says nothing of all this: the model finds what is wrong with the source.",
        command="graphsr upsample photo.png lidar.png -o depth.png",
        make=partial(_phone, flying=0.3, footprint="gaussian:0.4"),
        output="depth.png",
        score=rmse,
        words="RMSE, mm",
    ),
    Example(
        name="kinect",
        title="Kinect depth with holes",
        text="A rendered room, 800 x 600, and its depth as a Kinect would give it: 320 x 240, in steps of disparity, "
        "nothing where the projector's light does not reach (the shadow beside each thing), and gaps at edges. "
        "Sensor and room are simulated. The error of bicubic interpolation is that with holes filled smoothly.",
        command="graphsr upsample colour.png kinect.png -o depth.png --missing 0",
        make=_kinect,
        output="depth.png",
        score=rmse,
        words="RMSE, mm",
    ),
    Example(
        name="thermal",
        title="Temperatures under a photograph",
        text="A rendered room, 640 x 480, and a thermal image of 160 x 120, blurred by its lens, with noise of 0.05 "
        "degrees and 3.6 pixels of the photograph aside. The temperatures are made up: one for each thing, with a slow "
        "drift. The command says what is known of the camera; bicubic interpolation knows neither blur nor shift.",
        command="graphsr upsample photo.png thermal.tif -o fine.tif --align shift --footprint gaussian:0.6 "
        "--noise 0.05",
        make=_thermal,
        output="fine.tif",
        score=rmse,
        words="RMSE, degrees",
        digits=2,
    ),
    Example(
        name="features",
        title="Features of a network",
        text="A rendered room, 512 x 384, and 16 features for every patch of 16 x 16 pixels, as a vision transformer "
        "has them. They are made up: a vector of each thing, its place, and noise. Shown are their first three "
        "principal components as colours.",
        command="graphsr upsample photo.png features.npy -o fine.npy",
        make=_features,
        output="fine.npy",
        score=rmse,
        words="RMSE",
        digits=3,
    ),
    Example(
        name="labels",
        title="Label scores",
        text="A rendered room, 512 x 384, and for every block of 8 x 8 pixels the shares of eight labels, which are "
        "the things that jumps of the depth divide. The labels are true; a network's scores would be less so.",
        command="graphsr upsample photo.png scores.npy -o fine.npy --kind probabilities",
        make=_labels,
        output="fine.npy",
        score=lambda found, truth: mean_iou(found.argmax(2), truth.argmax(2)),
        words="mean IoU, more is better",
        digits=3,
    ),
)
