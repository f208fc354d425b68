"""What the tests of this folder train: next to nothing, in seconds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from PIL import Image

from graphsr.scenes import scene
from graphsr.training import checkpoint
from graphsr.training.loop import Hardware, train

HERE = Hardware(accelerator="cpu", workers=0)
STEPS = 6
TOML = """
pretrained = false
[model]
extractor = "unet-lite0"
features = 4
decoder_channels = [8, 8, 8, 8, 8]
first_lambda = 1e-3
offsets = true
hints = true
[data]
size = 32
sets = [{ kind = "folder" }]
[factors]
least = 2.0
most = 8.0
whole = 0.5
[optimisation]
steps = 6
batch = 2
clip = 1.0
average = 0.9
rtol = 1e-3
[validation]
every = 2
pairs = 1
size = 32
factors = [4.0]
sets = [{ kind = "folder" }]
"""


def write_pairs(root: Path, seeds: list[int]) -> Path:
    """A folder of small pairs, one a seed."""
    for name in ("guides", "targets"):
        (root / name).mkdir(parents=True)
    for number, seed in enumerate(seeds):
        drawn = scene(seed, (40, 48))
        Image.fromarray(drawn.guide).save(root / "guides" / f"{number:02}.png")
        np.save(root / "targets" / f"{number:02}.npy", drawn.depth)
    return root


def written(path: Path, root: Path, *changes: tuple[str, str]) -> Path:
    """TOML as a file, of the pairs in `root`, with some of its text replaced."""
    text = TOML.replace("[data]", f'[data]\nroot = "{root}"')
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    path.write_text(text)
    return path


def run(config, folder, **more):
    """Train, and return the loss of every step."""
    reports = []
    train(config, folder, hardware=HERE, listen=reports.append, **more)
    return [progress.loss for progress in reports if progress.step > 0]


def same(one: Path, other: Path) -> bool:
    states = [checkpoint.read(folder / "last.ckpt") for folder in (one, other)]
    return all(
        torch.equal(value, getattr(states[1], part)[name])
        for part in ("model", "average")
        for name, value in getattr(states[0], part).items()
    )
