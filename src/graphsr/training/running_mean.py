"""The running mean of a network's weights."""

from __future__ import annotations

import torch
from torch import nn


class RunningMean:
    """Average the weights of the last steps, which is less noisy than any single state. With decay 0 none is kept."""

    def __init__(self, network: nn.Module, decay: float) -> None:
        self.decay = decay
        self.state: dict[str, torch.Tensor] = {}
        if decay > 0:
            self.state = {name: value.detach().clone() for name, value in network.state_dict().items()}
            self.state["count"] = torch.zeros((), dtype=torch.int64)

    def load(self, state: dict[str, torch.Tensor]) -> None:
        """Go on from an earlier mean; without one, a mean that is wanted now begins with the weights."""
        if state and self.decay > 0:
            self.state = dict(state)

    def update(self, network: nn.Module) -> None:
        """Take in the weights after a step."""
        if not self.state:
            return
        self.state["count"] += 1
        count = int(self.state["count"])
        decay = min(self.decay, count / (count + 10))
        now = {name: value.detach() for name, value in network.state_dict().items()}
        floating = [name for name, value in now.items() if value.dtype.is_floating_point]
        means = [self.state[name] for name in floating]
        values = [now[name].to(mean.device) for name, mean in zip(floating, means, strict=True)]
        torch._foreach_lerp_(means, values, 1 - decay)  # all at once, which is many times as fast
        self.state |= {name: value.clone() for name, value in now.items() if not value.dtype.is_floating_point}


def mean_weights(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Return the mean in a `RunningMean.state` as a state dict; empty if none is kept."""
    return {name: value for name, value in state.items() if name != "count"}
