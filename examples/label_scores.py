"""Upsample label scores under rendered scenes, and measure the mean IoU of the labels against bilinear interpolation.

    python examples/label_scores.py --scenes 8 -o label_scores.png

Labels are the parts of a scene that jumps of its depth divide: things and what is behind them. The source has, for
every label, its share of each source pixel.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch
from scipy.sparse import coo_matrix
from scipy.sparse.csgraph import connected_components
from torch.nn.functional import interpolate

import graphsr
from graphsr.files import write_image
from graphsr.pictures import Panel, panels
from graphsr.scenes import scene

METHODS = ("bilinear", "joint-bilateral", "colour", "default")
MOST_LABELS = 8
# Neighbours whose depths differ by more than this part of them belong to different things.
JUMP = 0.02
# Labels of a smaller part of the image are not measured.
SMALLEST = 0.003


def label_parts(depth: np.ndarray) -> np.ndarray:
    """Return labels (H, W) of the parts of a depth (H, W); the largest have their own, the rest shares the last."""
    index = np.arange(depth.size).reshape(depth.shape)
    logarithm = np.log(depth)
    down, right = (np.abs(np.diff(logarithm, axis=axis)) < JUMP for axis in (0, 1))
    first = np.concatenate([index[:-1][down], index[:, :-1][right]])
    second = np.concatenate([index[1:][down], index[:, 1:][right]])
    lattice = coo_matrix((np.ones(first.size), (first, second)), shape=(depth.size, depth.size))
    parts = connected_components(lattice, directed=False)[1]
    largest = np.argsort(-np.bincount(parts), kind="stable")[: MOST_LABELS - 1]
    labels = np.full(parts.max() + 1, len(largest))
    labels[largest] = np.arange(len(largest))
    return labels[parts].reshape(depth.shape)


def average(values: np.ndarray, factor: int) -> np.ndarray:
    """Return the means of (H, W, K) over blocks of factor x factor pixels."""
    height, width, channels = values.shape
    return values.reshape(height // factor, factor, width // factor, factor, channels).mean((1, 3))


def upsample_scores(method: str, guide: np.ndarray, scores: np.ndarray) -> np.ndarray:
    """Return the scores (H, W, K) that a method makes of a guide (H, W, 3) and scores (h, w, K)."""
    if method == "bilinear":
        source = torch.from_numpy(scores).permute(2, 0, 1)[None]
        return interpolate(source, size=guide.shape[:2], mode="bilinear")[0].permute(1, 2, 0).numpy()
    return graphsr.upsample(guide, scores, model=method, kind="probabilities").target


def mean_iou(found: np.ndarray, truth: np.ndarray) -> float:
    """Return the intersection over union of two label maps, averaged over the labels of the second that are large."""
    ratios = [
        np.count_nonzero((found == label) & (truth == label)) / np.count_nonzero((found == label) | (truth == label))
        for label in np.unique(truth)
        if (truth == label).mean() >= SMALLEST
    ]
    return float(np.mean(ratios))


def coloured(labels: np.ndarray) -> np.ndarray:
    """Return labels (H, W) as colours (H, W, 3)."""
    colours = np.random.default_rng(5).integers(40, 230, (MOST_LABELS, 3))
    return colours[labels].astype(np.uint8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scenes", type=int, default=8, help="how many rendered scenes")
    parser.add_argument("--size", type=int, nargs=2, default=(240, 320), metavar=("H", "W"))
    parser.add_argument("--factor", type=int, default=8, help="has to divide the size")
    parser.add_argument("-o", "--output", help="a picture of one scene")
    parser.add_argument("--shown", type=int, default=1, help="which scene is in the picture")
    options = parser.parse_args()

    scores: dict[str, list[float]] = {method: [] for method in METHODS}
    for seed in range(options.scenes):
        room = scene(100 + seed, tuple(options.size))
        truth = label_parts(room.depth)
        source = average(np.eye(MOST_LABELS, dtype=np.float32)[truth], options.factor)
        row = [Panel(room.guide, "guide"), Panel(coloured(truth), "labels")]
        for method in METHODS:
            found = upsample_scores(method, room.guide, source).argmax(2)
            scores[method].append(mean_iou(found, truth))
            row.append(Panel(coloured(found), f"{method}, IoU {scores[method][-1]:.3f}"))
        if seed == options.shown and options.output:
            write_image(options.output, panels(row))
    for method in METHODS:
        print(f"{method:16} mean IoU {np.mean(scores[method]):.3f}")


if __name__ == "__main__":
    main()
