"""What a configuration trains: the graph model, or one of the methods it is compared with."""

from __future__ import annotations

from collections.abc import Iterable
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
from graphsr.models.graphsr import Architecture, GraphSR
from graphsr.models.registry import load
from graphsr.settings import build as from_table
from graphsr.training.config import Config, fixed_factor

# Guide (B, 3, H, W) and source (B, 1, h, w) -> target (B, 1, H, W) in the source's unit, with gradients.
Trainable = GraphSR | NetworkBaseline


def build(config: Config, *, pretrained: bool | str = False) -> Trainable:
    if not config.method:
        network = GraphSR(config.model, pretrained=pretrained)
        network.rtol = config.optimisation.rtol
        return network
    rival = METHODS[config.method].build(fixed_factor(config))
    assert isinstance(rival, NetworkBaseline)  # as all that are learned
    if isinstance(rival, DADABaseline):
        rival.steps, rival.tracked_steps = config.diffusion.steps, config.diffusion.tracked_steps
    encoder = encoder_of(rival)
    if encoder is not None and pretrained is not False:
        encoder.load_imagenet(None if pretrained is True else pretrained)
    elif isinstance(pretrained, str):
        raise InputError(f"{config.method} has no encoder to load ImageNet weights into: leave `pretrained` out")
    return rival


def begun(config: Config) -> Trainable:
    """The network of a new run: with ImageNet weights, or the numbers of another model, as the configuration says."""
    if not config.start:
        return build(config, pretrained=config.pretrained)
    network = build(config)
    name = config.start
    if config.method:
        name = f"{called_with(METHODS[config.method], fixed_factor(config))}:{name.rpartition(':')[2]}"
    try:
        numbers = load(name).state_dict()
    except InputError as error:
        raise InputError(f"start = {config.start!r}: {error}") from error
    own = network.state_dict()
    other = sorted({key for key in own.keys() | numbers.keys() if _shape(own, key) != _shape(numbers, key)})
    if other:
        raise InputError(f"start = {config.start!r}: another network than that to be trained; {other[0]} differs")
    network.load_state_dict(numbers)
    return network


def _shape(state: dict[str, torch.Tensor], key: str) -> tuple[int, ...] | None:
    return tuple(state[key].shape) if key in state else None


def to_judge(config: Config) -> Trainable:
    """The network as it is used once trained, without its numbers yet: full accuracy, all steps."""
    if config.method:
        rival = METHODS[config.method].build(fixed_factor(config))
        assert isinstance(rival, NetworkBaseline)
        return rival.eval()
    return GraphSR(config.model).eval()


def parts(network: Trainable) -> Iterable[tuple[float, list[nn.Parameter]]]:
    """Parameters with what their learning rate is multiplied by."""
    return network.learning_rates() if isinstance(network, NetworkBaseline) else [(1.0, list(network.parameters()))]


def layout(network: Trainable) -> torch.memory_format:
    """How tensors lie in memory while it is trained."""
    return network.layout if isinstance(network, NetworkBaseline) else torch.channels_last


def encoder_of(network: nn.Module) -> Encoder | None:
    """The part that may begin with ImageNet weights."""
    return next((module for module in network.modules() if isinstance(module, Encoder)), None)


def what_is_trained(config: dict[str, Any], where: str) -> dict[str, Any]:
    """What must not change while a run goes on, of a configuration as checkpoints hold it."""
    # Through the dataclass, so that settings that did not exist yet have their defaults.
    settings = asdict(from_table(Architecture, config["model"], where))
    method = config.get("method", "")
    if method and METHODS[method].factors:
        settings["factor"] = config["factors"]["least"]
    return {"method": method, **settings}
