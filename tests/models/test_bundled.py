"""The models that come with the package: small, with a card, and better than what needs no training."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import numpy as np
import pytest
import torch

import graphsr
from graphsr.data.degradation import Degradation, degrade
from graphsr.data.footprints import average
from graphsr.models.files import read_metadata
from graphsr.scenes import scene

# Training draws seeds below a million.
SEEDS = range(1_000_000, 1_000_008)
RNG = np.random.default_rng(0)
BUNDLED = ("default", "open")
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


@pytest.mark.parametrize(
    ("name", "words"),
    [("default", ("Middlebury", "HCI", "NYUv2", "steps", "bad at")), ("open", ("CC BY 4.0", "steps", "bad at"))],
)
def test_is_in_the_package_with_its_card(name, words):
    assert len((WEIGHTS / f"{name}.safetensors").read_bytes()) <= 25e6
    assert name in graphsr.models()
    card = (WEIGHTS / f"{name}.md").read_text()
    assert [word for word in words if word not in card] == []


def test_the_open_model_was_trained_on_nothing_else():
    assert read_metadata(Path(str(WEIGHTS / "open.safetensors")))["data"] == "gso, tartanair, synthetic"


@pytest.mark.slow
@pytest.mark.parametrize("factor", [4, 8, 16])
@pytest.mark.parametrize("name", BUNDLED)
def test_is_better_than_the_colour_model_on_scenes_it_never_saw(scenes, name, factor):
    learned, colour = errors(scenes, factor, graphsr.load(name)), errors(scenes, factor, graphsr.load("colour"))
    assert learned[0] < colour[0]
    assert learned[1] < colour[1]


@pytest.mark.parametrize("factor", [2, 5.5, 8, 32])
@pytest.mark.parametrize("name", BUNDLED)
def test_averages_back_to_the_source_at_every_factor(scenes, name, factor):
    side = round(256 / factor)
    source = average(scenes[0].depth, (side, side))
    result = graphsr.upsample(scenes[0].guide, source, model=name)
    assert result.report.fidelity**2 < 1e-5 * scenes[0].depth.var()


@pytest.mark.parametrize(("name", "most"), [("default", 0.5), ("open", 0.53)])
def test_a_noisy_source_is_restored_and_a_clean_one_is_kept(scenes, name, most):
    model = graphsr.load(name).eval()
    assert isinstance(model, graphsr.GraphSR)
    rng, parts = np.random.default_rng(0), []
    for drawn in scenes:
        clean, noisy = (
            torch.from_numpy(degrade(drawn.depth, (32, 32), Degradation(noise=noise), rng))[None, None]
            for noise in (0.0, 0.03)
        )
        guide = torch.tensor(drawn.guide).permute(2, 0, 1)[None].float()
        with torch.no_grad():
            kept, left = (model.restored(guide, each).source - clean for each in (clean, noisy))
        assert kept.square().mean() < 1e-6 * clean.var()
        parts.append(float(left.square().mean() / (noisy - clean).square().mean()))
    # Of the squared error; measured 0.475 and 0.514, in the mean of all scenes 0.38 and 0.43. The restoration of `open`
    # was trained for the target, which is better with a little more noise left (docs/evidence/predicted-noise.md).
    assert max(parts[:4]) < most
    assert np.mean(parts) < 0.48


def test_point_samples_are_doubted_at_edges_and_means_are_not(scenes):
    model = graphsr.load("default")
    if not model.architecture.noise_statistics:
        pytest.skip("these weights do not see how a source was sampled")
    for drawn in scenes[:4]:
        sources = [degrade(drawn.depth, (32, 32), Degradation(footprint=kind), RNG) for kind in ("box", "point")]
        means, points = (
            graphsr.upsample(drawn.guide, each, model=model).problem.confidence[0, 0].numpy() for each in sources
        )
        wrong = np.abs(sources[1] - sources[0]) > 0.1 * sources[0].std()
        assert np.median(points[wrong]) < 0.1
        assert np.median(means[wrong]) > 0.5


@pytest.mark.parametrize("name", BUNDLED)
def test_has_a_calibration_of_its_own(name):
    model = graphsr.load(name)
    assert model.calibration.digest == model.digest()


def test_is_a_module_that_can_be_trained_on():
    model = graphsr.load("default")
    assert isinstance(model, graphsr.GraphSR)
    drawn = scene(SEEDS[0], (64, 64))
    guide = torch.tensor(drawn.guide).permute(2, 0, 1)[None].float()
    target = model.train()(guide, torch.from_numpy(average(drawn.depth, (8, 8)))[None, None])
    (target - torch.tensor(drawn.depth)).abs().mean().backward()
    assert all(float(p.grad.abs().sum()) > 0 for name, p in model.named_parameters() if "decoder" in name)
