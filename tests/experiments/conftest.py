"""A small folder of data sets, and a way to run `graphsr reproduce` on it."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from graphsr.cli import app
from graphsr.files import write_image
from graphsr.scenes import scene

SIDE = 256


@pytest.fixture(scope="session")
def data(tmp_path_factory) -> Path:
    """Two data sets of two scenes each, one to train on and one to measure: HCI, and frames of NYUv2."""
    root = tmp_path_factory.mktemp("data")
    for seed, name in enumerate(("cotton", "boardgames")):
        drawn = scene(seed, (SIDE, SIDE))
        (root / "hci" / name).mkdir(parents=True)
        write_image(root / "hci" / name / "color.png", drawn.guide)
        write_image(root / "hci" / name / "disparity.pfm", 1 / drawn.depth)
    for part in ("rgb", "depth8"):
        (root / "nyuv2" / part).mkdir(parents=True)
    for seed in (0, 1):
        drawn = scene(2 + seed, (SIDE, SIDE))
        Image.fromarray(drawn.guide).save(root / "nyuv2" / "rgb" / f"{seed}.jpg")
        stored = np.clip(drawn.depth * 25.5, 0, 255).astype(np.uint8)
        Image.fromarray(stored).save(root / "nyuv2" / "depth8" / f"{seed}.png")
    (root / "nyuv2" / "split.json").write_text(json.dumps({"train": [0], "val": [1]}))
    return root


@pytest.fixture(scope="session")
def labelled(tmp_path_factory) -> Path:
    """The labelled file of NYUv2, of three frames; the last one is the test split."""
    root = tmp_path_factory.mktemp("labelled")
    folder = root / "NYUv2"
    folder.mkdir()
    drawn = [scene(seed, (SIDE, SIDE)) for seed in range(3)]
    with h5py.File(folder / "nyu_depth_v2_labeled.mat", "w") as file:
        file["images"] = np.stack([one.guide.transpose(2, 1, 0) for one in drawn])
        file["depths"] = np.stack([one.depth.T for one in drawn])
    (folder / "split_idc.json").write_text(json.dumps({"train": [0], "val": [1], "test": [2]}))
    return root


@pytest.fixture
def reproduce(monkeypatch):
    """Runs the command; returns its exit code and all it printed."""
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: object) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["reproduce", *map(str, arguments)])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.exit_code, done.output

    return run
