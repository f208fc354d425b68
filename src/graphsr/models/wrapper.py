"""A model around another one: it changes what that one is given, what it prepares, or how that is solved."""

from __future__ import annotations

import copy

import torch

from graphsr.models.base import Model


class Wrapper(Model):
    """Reads the channels of a guide that another model reads, and weighs and solves as that one does.

    Args:
        model: The other one.
        bytes_per_channel: Memory that it takes itself, for each target pixel and source channel.
    """

    def __init__(self, model: Model, *, bytes_per_channel: int) -> None:
        super().__init__()
        self.model, self.bytes_per_channel = model, bytes_per_channel
        self.rtol, self.shift_equivariant = model.rtol, model.shift_equivariant
        self.has_graph = model.has_graph
        self.noise_unit, self.calibration = model.noise_unit, model.calibration

    def bytes_per_pixel(self, channels: int) -> int:
        return self.model.bytes_per_pixel(channels) + self.bytes_per_channel * channels

    def select_channels(self, guide: torch.Tensor) -> torch.Tensor:
        return self.model.select_channels(guide)

    def without_restoration(self) -> Model:
        other = copy.copy(self)
        # What a copy refers to is shared: its own table of modules leaves that of the original as it is.
        other._modules = {**self._modules, "model": self.model.without_restoration()}
        return other
