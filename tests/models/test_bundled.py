"""The model that comes with the package: it is there, it is small, and it is better than what needs no training."""

from __future__ import annotations

from importlib import resources

import numpy as np
import pytest
import torch

import graphsr
from graphsr.data.footprints import average
from graphsr.scenes import scene

# Training draws seeds below a million.
SEEDS = range(1_000_000, 1_000_008)
WEIGHTS = resources.files("graphsr.models") / "weights"


@pytest.fixture(scope="module")
def scenes():
    return [scene(seed, (256, 256)) for seed in SEEDS]


def errors(scenes, factor: float, model) -> tuple[float, float]:
    """Mean squared and mean absolute error, in units of each scene's standard deviation."""
    squares, sizes = [], []
    for drawn in scenes:
        side = round(256 / factor)
        target = graphsr.upsample(drawn.guide, average(drawn.depth, (side, side)), model=model).target
        difference = (target - drawn.depth) / drawn.depth.std()
        squares.append(np.mean(difference**2))
        sizes.append(np.mean(np.abs(difference)))
    return float(np.mean(squares)), float(np.mean(sizes))


def test_is_in_the_package_with_its_card():
    file = WEIGHTS / "default.safetensors"
    assert len(file.read_bytes()) <= 25e6
    assert "default" in graphsr.models()
    card = (WEIGHTS / "default.md").read_text()
    for word in ("Middlebury", "HCI", "NYUv2", "steps", "bad at"):
        assert word in card


@pytest.mark.slow
@pytest.mark.parametrize("factor", [4, 8, 16])
def test_is_better_than_the_colour_model_on_scenes_it_never_saw(scenes, factor):
    learned, colour = errors(scenes, factor, graphsr.load("default")), errors(scenes, factor, graphsr.load("colour"))
    assert learned[0] < colour[0]
    assert learned[1] < colour[1]


@pytest.mark.parametrize("factor", [2, 5.5, 8, 32])
def test_averages_back_to_the_source_at_every_factor(scenes, factor):
    side = round(256 / factor)
    source = average(scenes[0].depth, (side, side))
    result = graphsr.upsample(scenes[0].guide, source)
    assert result.report.fidelity**2 < 1e-5 * scenes[0].depth.var()


def test_is_a_module_that_can_be_trained_on():
    model = graphsr.load("default")
    assert isinstance(model, graphsr.GraphSR)
    drawn = scene(SEEDS[0], (64, 64))
    guide = torch.tensor(drawn.guide).permute(2, 0, 1)[None].float()
    target = model.train()(guide, torch.from_numpy(average(drawn.depth, (8, 8)))[None, None])
    (target - torch.tensor(drawn.depth)).abs().mean().backward()
    assert all(float(p.grad.abs().sum()) > 0 for name, p in model.named_parameters() if "decoder" in name)
