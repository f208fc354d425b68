"""Adam over the parts of a network, and how its learning rate goes."""

from __future__ import annotations

import math

import torch

from graphsr.training.config import Optimisation, Schedule
from graphsr.training.network import Trainable, encoder_of, parts


def optimiser(network: Trainable, how: Optimisation) -> torch.optim.Adam:
    encoder = encoder_of(network)
    slow = set() if encoder is None else {id(p) for p in encoder.parameters()}
    rate = how.learning_rate if how.encoder_learning_rate is None else how.encoder_learning_rate
    groups = []
    for times, parameters in parts(network):
        others = [p for p in parameters if id(p) not in slow]
        encoding = [p for p in parameters if id(p) in slow]
        for base, chosen in ((how.learning_rate, others), (rate, encoding)):
            if chosen:
                groups.append({"params": chosen, "initial_lr": times * base})
    return torch.optim.Adam(groups, lr=how.learning_rate, weight_decay=how.weight_decay)


def learning_rate(step: int, how: Schedule) -> float:
    """The factor of the learning rate at a step."""
    rate = min(1.0, (step + 1) / how.warm_up) if how.warm_up else 1.0
    if how.every:
        rate *= how.times ** (step // how.every)
    if how.end:
        rate *= 0.5 * (1 + math.cos(math.pi * min(step / how.end, 1.0)))
    return rate
