"""Adam over the parameters of a network, and how its learning rate goes."""

from __future__ import annotations

import math

import torch

from graphsr.training.network import Trainable, encoder_of, parameter_groups
from graphsr.training.sections import Optimisation, Schedule


def make_optimiser(network: Trainable, how: Optimisation) -> torch.optim.Adam:
    """Make the optimiser of a network; `initial_lr` of each group is its learning rate before any schedule."""
    encoder = encoder_of(network)
    of_encoder = set() if encoder is None else {id(p) for p in encoder.parameters()}
    rate = how.learning_rate if how.encoder_learning_rate is None else how.encoder_learning_rate
    groups = []
    for times, parameters in parameter_groups(network):
        trained = [p for p in parameters if p.requires_grad]
        others = [p for p in trained if id(p) not in of_encoder]
        encoding = [p for p in trained if id(p) in of_encoder]
        for base, chosen in ((how.learning_rate, others), (rate, encoding)):
            if chosen:
                groups.append({"params": chosen, "initial_lr": times * base})
    # Fused: parameter by parameter, as is the default on the CPU, takes four times as long.
    return torch.optim.Adam(groups, lr=how.learning_rate, weight_decay=how.weight_decay, fused=True)


def learning_rate(step: int, how: Schedule) -> float:
    """Return what the learning rate is multiplied by at a step."""
    rate = min(1.0, (step + 1) / how.warm_up) if how.warm_up else 1.0
    if how.every:
        rate *= how.times ** (step // how.every)
    if how.end:
        rate *= 0.5 * (1 + math.cos(math.pi * min(step / how.end, 1.0)))
    return rate
