"""The baselines are trained by the same trainer, on the same samples."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

import graphsr
from graphsr import InputError
from graphsr.baselines import METHODS
from graphsr.models.architecture import Architecture
from graphsr.models.registry import load
from graphsr.training.config import at_factor
from graphsr.training.export import export
from graphsr.training.loop import train
from graphsr.training.network import build_network
from graphsr.training.optimiser import make_optimiser
from graphsr.training.sections import Diffusion, Validation
from tests.training.tiny_runs import HERE, run, same, write_pairs

# PMBANet at x2 is its smallest, and still 18 million numbers.
FACTORS = {"msg-net": 4, "pmbanet": 2}
LEARNED = [method.name for method in METHODS.values() if method.learned]


def baseline(config, name, steps=2, **more):
    """A tiny run of a method instead of the graph model."""
    changed = replace(
        at_factor(config, FACTORS.get(name, 4)),
        method=name,
        model=Architecture(),
        diffusion=Diffusion(8, 4) if name == "dada" else Diffusion(),
        optimisation=replace(config.optimisation, steps=steps, batch=1, average=0.0, **more),
        validation=Validation(),
    )
    return changed


@pytest.mark.slow
@pytest.mark.parametrize("name", LEARNED)
def test_every_learned_method_is_trained_exported_and_run_under_its_name(config, name, tmp_path):
    settings = baseline(config, name, steps=1)
    checkpoint = train(settings, tmp_path, hardware=HERE)
    called = export(checkpoint, tmp_path / "weights.safetensors", half=True)
    factor = FACTORS.get(name)
    assert called == f"{name}{'' if factor is None else f'-x{factor}'}:{tmp_path / 'weights.safetensors'}"
    model = load(called)
    before, after = build_network(settings).network.state_dict(), model.network.state_dict()
    assert before.keys() == after.keys()
    guide, source = torch.rand(1, 3, 16, 16), torch.rand(1, 1, 16 // (factor or 4), 16 // (factor or 4))
    with torch.no_grad():
        assert torch.isfinite(model(guide, source)).all()


def test_the_loss_falls(config, tmp_path):
    """Of FDSR on one pair, which is all there is; batches of one."""
    settings = baseline(config, "fdsr", steps=40, learning_rate=5e-4)
    root = write_pairs(tmp_path / "pairs", [3] * 4)
    losses = run(replace(settings, data=replace(settings.data, root=str(root), size=40)), tmp_path / "run")
    assert np.mean(losses[-5:]) < 0.7 * np.mean(losses[:3])


def test_a_run_stopped_and_started_again_is_as_if_it_never_was(config, tmp_path):
    settings = baseline(config, "fdkn", steps=2)
    whole = run(settings, tmp_path / "whole")
    parts = run(settings, tmp_path / "parts", stop_after=1) + run(settings, tmp_path / "parts")
    assert parts == whole
    assert same(tmp_path / "whole", tmp_path / "parts")


def test_a_checkpoint_of_another_method_or_factor_is_refused(config, tmp_path):
    run(baseline(config, "msg-net"), tmp_path, stop_after=1)
    with pytest.raises(InputError, match="method = 'msg-net', now 'fdsr'"):
        run(baseline(config, "fdsr"), tmp_path)
    with pytest.raises(InputError, match="factor = 4, now 8"):
        run(at_factor(baseline(config, "msg-net"), 8), tmp_path)


def test_biases_and_the_last_layer_of_msg_net_learn_at_a_tenth(config):
    settings = baseline(config, "msg-net", learning_rate=1.0)
    network = build_network(settings)
    rates = {
        id(p): group["initial_lr"]
        for group in make_optimiser(network, settings.optimisation).param_groups
        for p in group["params"]
    }
    found = {name: rates[id(p)] for name, p in network.named_parameters()}
    slow = {name for name, rate in found.items() if rate == pytest.approx(0.1)}
    assert slow == {name for name in found if name.endswith("bias") or name == "network.out.weight"}
    assert set(found.values()) == {1.0, 0.1}


def test_the_encoder_of_dada_may_learn_at_its_own_rate(config):
    settings = baseline(config, "dada", encoder_learning_rate=1e-5, learning_rate=1e-4)
    network = build_network(settings)
    slow = next(g for g in make_optimiser(network, settings.optimisation).param_groups if g["initial_lr"] == 1e-5)
    assert len(slow["params"]) == sum(1 for name, _ in network.named_parameters() if ".encoder." in name) > 0


@pytest.fixture(scope="module")
def x4(config, tmp_path_factory):
    """Weights of MSG-Net at x4."""
    folder = tmp_path_factory.mktemp("msg-net")
    export(train(baseline(config, "msg-net", steps=1), folder, hardware=HERE), folder / "a.safetensors")
    return folder / "a.safetensors"


class TestWeights:
    @pytest.mark.parametrize("asked", ["msg-net-x8", "fdsr"])
    def test_of_another_method_or_factor_are_refused_with_both_names(self, x4, asked):
        with pytest.raises(InputError, match=f"are of msg-net-x4, not of {asked}; say msg-net-x4:"):
            graphsr.load(f"{asked}:{x4}")

    def test_without_a_name_go_by_that_inside(self, x4):
        assert graphsr.load(x4).digest() == graphsr.load(f"msg-net-x4:{x4}").digest()
