"""What every method we are compared with has in common: a line in the registry, and one way to be run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from graphsr.errors import InputError
from graphsr.features.padding import pad_to_multiple
from graphsr.graph import Edges
from graphsr.model import Model
from graphsr.sampling import fill_holes, interpolate_source
from graphsr.scaling import known_cells
from graphsr.solver import SolveReport


@dataclass(frozen=True)
class Method:
    """One method, as `graphsr methods` lists it. `build` takes the factor, which most methods ignore."""

    name: str
    title: str
    year: int
    reference: str
    build: Callable[[int | None], Model]
    learned: bool = False  # needs weights, which do not come with the package
    factors: tuple[int, ...] = ()  # those it exists for; empty: any


class Baseline(Model):
    """A method without a graph. `run` fills holes, takes channels one by one, and scales; `estimate` does the work."""

    def forward(
        self, guide: torch.Tensor, source: torch.Tensor, confidence: torch.Tensor | None = None
    ) -> torch.Tensor:
        """guide (B, C, H, W), source (B, K, h, w) -> target (B, K, H, W); what is learned can be trained with it."""
        return self.run(guide, source, confidence=confidence)[0]

    def run(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
    ) -> tuple[torch.Tensor, Edges | None, SolveReport | None]:
        if exact:
            raise InputError(f"{type(self).__name__} cannot be exact; use a graph model such as 'colour'")
        known = known_cells(source, confidence)
        batch, channels = source.shape[:2]
        size = (guide.shape[-2], guide.shape[-1])
        filled = fill_holes(torch.nan_to_num(source), known).flatten(0, 1).unsqueeze(1)
        seen = known.expand_as(source).flatten(0, 1).unsqueeze(1)
        low, unit = self.scale(filled)
        scaled = (filled - low) / unit
        colours = unit_range(guide).repeat_interleave(channels, 0)
        target = self.estimate(colours, scaled, interpolate_source(scaled, size), seen)
        return (target * unit + low).reshape(batch, channels, *size), None, None

    def scale(self, source: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """What is subtracted from the source (B, 1, h, w) and what it is divided by, (B, 1, 1, 1): to 0..1 here."""
        low, high = source.amin((-2, -1), keepdim=True), source.amax((-2, -1), keepdim=True)
        return low, torch.where(high > low, high - low, torch.ones_like(high))

    @abstractmethod
    def estimate(
        self, guide: torch.Tensor, source: torch.Tensor, interpolated: torch.Tensor, known: torch.Tensor
    ) -> torch.Tensor:
        """guide (B, C, H, W) in 0..1; source (B, 1, h, w) scaled, holes filled; interpolated (B, 1, H, W); known
        (B, 1, h, w) -> target (B, 1, H, W), scaled."""


class NetworkBaseline(Baseline):
    """A learned method. Inputs are padded to what its strides need and the result is cropped."""

    multiple: ClassVar[int] = 1  # of the target's sides
    factors: ClassVar[tuple[int, ...]] = ()
    layout: ClassVar[torch.memory_format] = torch.channels_last  # of tensors in training; whichever is faster on a CPU

    def __init__(self, network: nn.Module, factor: int | None = None) -> None:
        super().__init__()
        self.network = network
        self.factor = factor

    def learning_rates(self) -> list[tuple[float, list[nn.Parameter]]]:
        """Parameters with what the learning rate is multiplied by for them, where the authors did so."""
        return [(1.0, list(self.parameters()))]

    def estimate(
        self, guide: torch.Tensor, source: torch.Tensor, interpolated: torch.Tensor, known: torch.Tensor
    ) -> torch.Tensor:
        height, width = guide.shape[-2:]
        if self.factor is not None:
            found = height / source.shape[-2], width / source.shape[-1]
            if found != (self.factor, self.factor):
                raise InputError(
                    f"{type(self).__name__}: these weights are for x{self.factor}, but the pair is "
                    f"x{found[0]:g} by x{found[1]:g}"
                )
        target = self.predict(
            pad_to_multiple(guide, self.multiple),
            pad_to_multiple(source, max(1, self.multiple // (self.factor or self.multiple))),
            pad_to_multiple(interpolated, self.multiple),
        )
        return target[..., :height, :width]

    @abstractmethod
    def predict(self, guide: torch.Tensor, source: torch.Tensor, interpolated: torch.Tensor) -> torch.Tensor:
        """As `estimate`, with sides divisible by `multiple`."""


def unit_range(guide: torch.Tensor) -> torch.Tensor:
    """A guide (B, C, H, W) in 0..1: whole numbers divided by 255 or 65535, other ranges stretched."""
    largest, least = float(guide.max()), float(guide.min())
    if least >= 0 and largest <= 1:
        return guide
    if least >= 0 and largest <= 65535 and bool((guide == guide.round()).all()):
        return guide / (255.0 if largest <= 255 else 65535.0)
    return (guide - least) / max(largest - least, 1e-30)


def three_channels(guide: torch.Tensor) -> torch.Tensor:
    """The first three channels of a guide; one is repeated, two are given their mean as third."""
    if guide.shape[1] == 2:
        return torch.cat([guide, guide.mean(1, keepdim=True)], 1)
    return guide.expand(-1, 3, -1, -1) if guide.shape[1] == 1 else guide[:, :3]
