"""What a configuration trains: the graph model, or one of the baselines."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import torch
from torch import nn

from graphsr.baselines import METHODS
from graphsr.baselines.base import NetworkBaseline
from graphsr.baselines.dada import DADABaseline
from graphsr.baselines.weights import called_with
from graphsr.errors import InputError
from graphsr.features.encoder import Encoder
from graphsr.models.architecture import Architecture
from graphsr.models.graphsr import GraphSR
from graphsr.models.registry import load
from graphsr.settings import build
from graphsr.suggestion import suggestion
from graphsr.training.config import Config
from graphsr.training.sections import Optimisation

Trainable = GraphSR | NetworkBaseline
# What changes nothing before it is trained may be new to the model that a training starts from.
_MAY_BE_NEW = "reweighting.", "restoration.", "noise_network.statistics."


def build_network(config: Config, *, pretrained: bool | str = False) -> Trainable:
    """Build the network that a configuration trains.

    Args:
        config: says which network.
        pretrained: whether its encoder gets ImageNet weights; a path: those in a file.

    Returns:
        The network with the settings of training: guide (B, 3, H, W), source (B, 1, h, w) -> target (B, 1, H, W) in the
        source's unit, with gradients.
    """
    if not config.method:
        network = GraphSR(config.model, pretrained=pretrained)
        network.rtol = config.optimisation.rtol
        return network
    baseline = _build_baseline(config)
    if isinstance(baseline, DADABaseline):
        baseline.steps, baseline.tracked_steps = config.diffusion.steps, config.diffusion.tracked_steps
    encoder = encoder_of(baseline)
    if encoder is not None and pretrained is not False:
        encoder.load_imagenet(None if pretrained is True else pretrained)
    elif isinstance(pretrained, str):
        raise InputError(f"{config.method} has no encoder to load ImageNet weights into: leave `pretrained` out")
    return baseline


def initial_network(config: Config) -> Trainable:
    """Build the network of a new run: with ImageNet weights, or those of another model, as the configuration says."""
    if not config.start:
        return build_network(config, pretrained=config.pretrained)
    network = build_network(config)
    name = config.start
    if config.method:
        name = f"{called_with(METHODS[config.method], config.fixed_factor)}:{name.rpartition(':')[2]}"
    try:
        weights = load(name).state_dict()
    except InputError as error:
        raise InputError(f"start = {config.start!r}: {error}") from error
    own = network.state_dict()
    weights = {key: value for key, value in own.items() if key.startswith(_MAY_BE_NEW)} | weights
    other = sorted({key for key in own.keys() | weights.keys() if _shape(own, key) != _shape(weights, key)})
    if other:
        raise InputError(f"start = {config.start!r}: another network than that to be trained; {other[0]} differs")
    network.load_state_dict(weights)
    return network


def inference_network(config: Config) -> Trainable:
    """Build the network as it is used once it is trained, without its weights: full accuracy, all steps."""
    return _build_baseline(config).eval() if config.method else GraphSR(config.model).eval()


def set_training(network: Trainable, how: Optimisation) -> None:
    """Set a network to be trained."""
    network.train()
    if how.frozen_statistics:
        for module in network.modules():
            if isinstance(module, nn.BatchNorm2d | Encoder):
                module.eval()


def freeze(network: Trainable, beginnings: tuple[str, ...]) -> None:
    """Leave parameters out of the training whose names begin so."""
    names = [name for name, _ in network.named_parameters()]
    for beginning in beginnings:
        if not any(name.startswith(beginning) for name in names):
            known = sorted({name.partition(".")[0] for name in names})
            raise InputError(f"frozen: no parameter's name begins with {beginning!r}; {suggestion(beginning, known)}")
    for name, parameter in network.named_parameters():
        parameter.requires_grad_(not name.startswith(beginnings))


def _build_baseline(config: Config) -> NetworkBaseline:
    baseline = METHODS[config.method].build(config.fixed_factor)
    assert isinstance(baseline, NetworkBaseline)  # as all that are learned
    return baseline


def _shape(state: dict[str, torch.Tensor], key: str) -> tuple[int, ...] | None:
    return tuple(state[key].shape) if key in state else None


def parameter_groups(network: Trainable) -> list[tuple[float, list[nn.Parameter]]]:
    """Return the parameters, with what the learning rate is multiplied by for them."""
    return network.learning_rates() if isinstance(network, NetworkBaseline) else [(1.0, list(network.parameters()))]


def memory_format(network: Trainable) -> torch.memory_format:
    """Return how tensors lie in memory while the network is trained."""
    return network.layout if isinstance(network, NetworkBaseline) else torch.channels_last


def encoder_of(network: nn.Module) -> Encoder | None:
    """Return the part of a network that may begin with ImageNet weights."""
    return next((module for module in network.modules() if isinstance(module, Encoder)), None)


def network_settings(config: dict[str, Any], where: str) -> dict[str, Any]:
    """Return what must not change while a run goes on.

    Args:
        config: a configuration as checkpoints hold it.
        where: begins the message about what is wrong with it.

    Returns:
        Names and values; equal ones mean the same network.
    """
    # Through the dataclass, so that settings that did not exist yet have their defaults.
    settings = asdict(build(Architecture, config["model"], where))
    method = config.get("method", "")
    if method and METHODS[method].factors:
        settings["factor"] = config["factors"]["least"]
    return {"method": method, **settings}
