"""A training step: the loss of a batch, made of all that the network predicts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import torch

import graphsr
from graphsr.errors import InputError
from graphsr.models.architecture import Architecture
from graphsr.models.base import whole
from graphsr.models.graphsr import GraphSR
from graphsr.models.restoration import Restored
from graphsr.sampling import Sampling
from graphsr.training.config import Config
from graphsr.training.loss import noise_loss, target_loss
from graphsr.training.network import freeze, initial_network, set_training
from graphsr.training.scene_scale import SceneScale
from graphsr.training.sections import Data, DataSet, Optimisation
from graphsr.training.state import TrainingState
from graphsr.training.step import TrainingStep

TINY = Architecture(extractor="unet-lite0", features=4, decoder_channels=(8, 8, 8, 8, 8), first_lambda=1e-3)
TINY_WITH_NOISE = replace(TINY, confidence=True)
DATA = Data(sets=(DataSet("synthetic"),))


def batch(size: int = 32, factor: int = 4):
    generator = torch.Generator().manual_seed(0)
    shapes = ((2, 3, size, size), (2, 1, size // factor, size // factor), (2, 1, size, size))
    return tuple(torch.rand(shape, generator=generator) for shape in shapes)


def without_gradient(step: TrainingStep, *inputs: torch.Tensor | str) -> list[str]:
    step.train()
    step(*inputs).backward()
    return [name for name, parameter in step.named_parameters() if parameter.grad is None]


@pytest.mark.parametrize("frozen", [False, True])
def test_frozen_statistics_are_those_that_the_network_is_used_with(frozen):
    network = GraphSR(TINY)
    set_training(network, Optimisation(frozen_statistics=frozen))
    before = {name: value.clone() for name, value in network.state_dict().items() if "running" in name}
    TrainingStep(network, Optimisation())(*batch())
    kept = all(torch.equal(value, network.state_dict()[name]) for name, value in before.items())
    assert network.training
    assert kept == frozen


def test_the_network_is_told_the_footprint():
    guide, _, target = batch()
    source = Sampling((32, 32), (8, 8), footprint="bicubic")(target)
    network = GraphSR(TINY).eval()
    window = whole(guide, source, None, Sampling((32, 32), (8, 8), footprint="bicubic"))
    loss = TrainingStep(network, Optimisation())(guide, source, target, "bicubic")
    assert loss.item() == target_loss(network.run(guide, source, window=window).target, target, source, "l1").item()


def test_frozen_parameters_keep_their_values(tmp_path):
    frozen = ("noise_network", "feature_extractor.encoder")
    state = TrainingState(
        Config(model=TINY_WITH_NOISE, pretrained=False, data=DATA, optimisation=Optimisation(frozen=frozen)), tmp_path
    )
    before = {name: value.clone() for name, value in state.network.named_parameters()}
    TrainingStep(state.network, Optimisation())(*batch()).backward()
    state.optimiser.step()
    changed = {name for name, value in state.network.named_parameters() if not torch.equal(value, before[name])}
    assert changed == {name for name in before if not name.startswith(frozen)}


def test_what_is_frozen_has_to_be_there():
    with pytest.raises(
        InputError, match=r"frozen: no parameter's name begins with 'noise'; known are feature_extractor, log"
    ):
        freeze(GraphSR(TINY), ("noise",))


def test_a_model_without_reweighting_may_be_trained_on_with_it(tmp_path):
    graphsr.save(GraphSR(TINY), tmp_path / "plain.safetensors")
    start = str(tmp_path / "plain.safetensors")
    network = initial_network(Config(start=start, model=replace(TINY, reweighting=4), data=DATA))
    plain = graphsr.load(start).state_dict()
    assert all(torch.equal(network.state_dict()[name], value) for name, value in plain.items())


def test_without_predicted_noise_it_is_the_loss_of_the_target():
    guide, source, target = batch()
    network = GraphSR(TINY).eval()
    loss = TrainingStep(network, Optimisation(loss="both", noise_loss=1.0))(guide, source, target)
    assert loss.item() == target_loss(network(guide, source), target, source, "both").item()


def test_predicted_noise_adds_its_loss():
    network = GraphSR(replace(TINY, confidence=True)).eval()
    without, once, twice = (
        TrainingStep(network, Optimisation(noise_loss=weight))(*batch()).item() for weight in (0.0, 0.1, 0.2)
    )
    assert once != without
    assert twice - without == pytest.approx(2 * (once - without), rel=1e-4)


def test_noise_is_compared_in_the_scale_that_the_network_sees():
    """In samples that are standardised like parts of images with a deviation of 10."""
    guide, source, target = batch()
    network = GraphSR(TINY_WITH_NOISE).eval()
    scene = SceneScale(*(torch.full((2, 1, 1, 1), value) for value in (0.5, 10.0, 1.0, 1.0)))
    own = replace(whole(guide, source, None), scale=scene.applied_to(whole(guide, source, None).scale))
    result = network.run(guide, source, window=own)
    expected = noise_loss(Restored(source.clone(), result.noise), target, source, std=torch.full((2, 1, 1, 1), 10.0))
    without, with_noise = (
        TrainingStep(network, Optimisation(noise_loss=weight))(guide, source, target, "box", scene)
        for weight in (0.0, 1.0)
    )
    assert (with_noise - without).item() == pytest.approx(expected.item(), rel=1e-4)


def test_a_model_without_statistics_of_the_noise_may_be_trained_on_with_them(tmp_path):
    start = str(tmp_path / "plain.safetensors")
    graphsr.save(GraphSR(TINY_WITH_NOISE), start)
    how = replace(TINY_WITH_NOISE, noise_statistics=True)
    network = initial_network(Config(start=start, model=how, data=DATA))
    plain = graphsr.load(start).state_dict()
    assert all(torch.equal(network.state_dict()[name], value) for name, value in plain.items())


@pytest.mark.parametrize("footprint", ["box", "bicubic"])
def test_the_noise_can_be_trained_alone(footprint):
    network = GraphSR(replace(TINY, confidence=True))
    idle = without_gradient(TrainingStep(network, Optimisation(loss="noise")), *batch(), footprint)
    assert all(not name.startswith("network.noise_network") for name in idle)
    assert any(name.startswith("network.feature_extractor") for name in idle)


def test_the_restoration_of_a_known_noise_can_be_trained_alone(tmp_path):
    start = str(tmp_path / "plain.safetensors")
    graphsr.save(GraphSR(TINY_WITH_NOISE), start)
    network = initial_network(Config(start=start, model=replace(TINY_WITH_NOISE, restoration=4), data=DATA))
    freeze(network, ("noise_network",))
    last: Any = network.restoration.last
    torch.nn.init.normal_(last.weight)  # 0 at first: what is before it gets no gradient
    idle = without_gradient(TrainingStep(network, Optimisation(loss="noise")), *batch())
    assert all(not name.startswith("network.restoration") for name in idle)
    assert any(name.startswith("network.noise_network") for name in idle)


@pytest.mark.parametrize("noise_loss", [0.0, 0.1])
@pytest.mark.parametrize("confidence", [False, True])
def test_every_parameter_of_the_graph_model_gets_a_gradient(noise_loss, confidence):
    network = GraphSR(replace(TINY, confidence=confidence, detail=True, floors=True, floor=5e-3, offsets=True))
    assert without_gradient(TrainingStep(network, Optimisation(noise_loss=noise_loss)), *batch()) == []
