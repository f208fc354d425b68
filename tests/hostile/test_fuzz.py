"""Damaged files of every kind, by seeds: a value or one line, in a short time.

`make fuzz` runs each kind for a minute or for SECONDS; the seed that failed is in the message.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image as PillowImage

import graphsr
from graphsr import GraphSRError
from graphsr.files import read_image, write_image
from graphsr.files.points import read_points
from graphsr.files.registry import FORMATS
from graphsr.raster.pair import open_pair
from graphsr.training import checkpoint as checkpoints
from graphsr.training.checkpoint import Checkpoint
from graphsr.training.config import read_config
from tests.hostile.mutation import damaged
from tests.raster.made_rasters import pair_of_files

SECONDS = float(os.environ.get("GRAPHSR_FUZZ_SECONDS", "0"))
QUICK, MORE = 12, 600  # seeds of each kind
LONGEST = 20.0  # seconds that one file may take, on a machine with much else to do

RNG = np.random.default_rng(0)
GREY = RNG.integers(0, 255, (12, 17)).astype(np.uint8)
COLOUR = RNG.integers(0, 255, (12, 17, 3)).astype(np.uint8)


def fuzz(original: bytes, path: Path, read: Callable[[Path], Any], first: int, count: int) -> None:
    """Read a file with the damages of so many seeds, or for SECONDS if they are set."""
    began, seed = time.monotonic(), first
    while seed < first + count or time.monotonic() - began < SECONDS:
        path.write_bytes(damaged(original, seed))
        started = time.monotonic()
        attempt(seed, read, path)
        assert time.monotonic() - started < LONGEST, f"seed {seed}"
        seed += 1


def attempt(seed: int, action: Callable[..., Any], *arguments: Any, **options: Any) -> Any:
    """Return what an action returns; None if it ends in an error of ours, which has to be one line."""
    try:
        return action(*arguments, **options)
    except GraphSRError as error:
        message = str(error)
    except Exception as error:
        raise AssertionError(f"seed {seed}: {type(error).__name__}: {error}") from error
    assert message, f"seed {seed}"
    assert "\n" not in message, f"seed {seed}: {message}"
    return None


def originals() -> dict[str, Callable[[Path], object]]:
    """How a small file of each kind is written, by its name."""
    floats = (GREY / 7).astype(np.float32)
    found: dict[str, Callable[[Path], object]] = {}
    for entry in FORMATS:
        suffix = entry.suffixes[0]
        if entry.write is None:
            continue
        whole = "uint8" in entry.types
        for name, array in (("grey", GREY), ("colour", COLOUR)) if whole else (("floats", floats),):
            found[f"{name}{suffix}"] = partial(write_image, array=array)
    found["deep.png"] = lambda path: write_image(path, COLOUR.astype(np.uint16) * 257)
    found["floats.tif"] = lambda path: write_image(path, floats)
    found["lzw.tif"] = lambda path: PillowImage.fromarray(GREY).save(path, compression="tiff_lzw")
    found["picture.webp"] = lambda path: PillowImage.fromarray(COLOUR).save(path)
    found["picture.bmp"] = lambda path: PillowImage.fromarray(COLOUR).save(path)
    found["binary.pgm"] = lambda path: path.write_bytes(b"P5 17 12 255\n" + GREY.tobytes())
    found["text.ppm"] = lambda path: path.write_text("P3 4 3 9\n" + 36 * "7 ")
    return found


IMAGES = originals()


@pytest.mark.parametrize("name", IMAGES)
def test_images(tmp_path, name):
    if name.endswith(".exr"):
        pytest.importorskip("OpenEXR")
    IMAGES[name](tmp_path / name)
    original = (tmp_path / name).read_bytes()
    fuzz(original, tmp_path / name, read_image, 0, QUICK)


@pytest.mark.slow
@pytest.mark.parametrize("name", IMAGES)
def test_more_images(tmp_path, name):
    IMAGES[name](tmp_path / name)
    original = (tmp_path / name).read_bytes()
    fuzz(original, tmp_path / name, read_image, QUICK, MORE)


def test_models(tmp_path):
    path = tmp_path / "mine.safetensors"
    graphsr.save(graphsr.GraphSR(graphsr.Architecture(extractor="colour")), path)
    fuzz(path.read_bytes(), path, graphsr.load, 0, 4 * QUICK)


def test_checkpoints(tmp_path):
    path = tmp_path / "last.ckpt"
    state = Checkpoint(1, {"a": torch.ones(3, 3)}, {}, {"state": {}}, best=0.5, config={"model": {"features": 8}})
    checkpoints.write(path, state)
    fuzz(path.read_bytes(), path, checkpoints.read, 0, 4 * QUICK)
    fuzz(path.read_bytes(), tmp_path / "foreign.pth", graphsr.load, 0, QUICK)


def test_configurations(tmp_path):
    path = tmp_path / "mine.toml"
    text = '[data]\nsize = 64\nsets = [{kind = "synthetic"}]\n[model]\nextractor = "unet-lite0"\nfloor = 0.01\n'
    fuzz(text.encode(), path, lambda path: read_config(str(path)), 0, 4 * QUICK)


def test_points(tmp_path):
    path = tmp_path / "points.csv"
    fuzz(b"x,y,value\n0.5,1.5,3.25\n4,2.5,-1e-3\n7;8;9,5\n", path, read_points, 0, 4 * QUICK)


def test_rasters(tmp_path):
    guide, source = pair_of_files(tmp_path, size=(24, 30), source_size=(3, 4))

    def read(path: Path) -> None:
        pair = open_pair(guide, path)
        pair.source(pair.grid.covered)

    fuzz(source.read_bytes(), source, read, 0, 2 * QUICK)


TYPES = (np.uint8, np.int16, np.float16, np.float32, np.float64, np.int64, bool, np.complex64, object)
VALUES = (np.nan, np.inf, -np.inf, 1e300, -1e30, 1e-300, 0.0, 2.0**53)


def a_call(seed: int) -> dict[str, Any]:
    """Arguments of `graphsr.upsample`, right and wrong."""
    rng = np.random.default_rng(seed)

    def array(sides: tuple[int, int]) -> np.ndarray:
        shape = tuple(int(n) for n in rng.integers(*sides, rng.choice([2, 2, 2, 3, 3, 1])))
        values = rng.standard_normal(shape) * 10.0 ** rng.integers(-5, 6) + 10.0 ** rng.integers(0, 12)
        with np.errstate(all="ignore"):
            for _ in range(rng.integers(0, 3)):
                values[rng.random(shape) < 0.2] = rng.choice(VALUES)
            return values.astype([np.float64, np.float32, TYPES[rng.integers(len(TYPES))]][rng.integers(3)])

    confidence = [None, None, 1.0 * (rng.random((4, 5)) < 0.5), array((0, 6))][rng.integers(4)]
    return {
        "guide": array((4, 20)),
        "source": array((0, 6)),
        "confidence": confidence,
        "exact": bool(rng.integers(2)),
        "model": ["colour", "colour", "bicubic", "guided-filter"][rng.integers(4)],
    }


@pytest.mark.filterwarnings("ignore:invalid value")
def test_calls():
    done, began, seed = 0, time.monotonic(), 0
    while seed < 10 * QUICK or time.monotonic() - began < SECONDS:
        arguments = a_call(seed)
        result = attempt(seed, graphsr.upsample, **arguments)
        if result is not None:
            assert result.target.shape[:2] == np.shape(arguments["guide"])[:2], f"seed {seed}"
            assert np.isfinite(result.target).all(), f"seed {seed}"
            done += 1
        seed += 1
    assert done > 5
