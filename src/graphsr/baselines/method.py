"""What every method we are compared with has in common: a line in the registry, and one way to be run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import nn

from graphsr.errors import InputError
from graphsr.features.channels import unit_range
from graphsr.features.padding import pad_to_multiple
from graphsr.graph import Edges
from graphsr.models.base import Model
from graphsr.sampling import fill_holes, interpolate_source
from graphsr.scaling import known_pixels, nonzero
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
    published_as: str = "a state dict of its authors (.pth)"  # its weights; "": not in a form that can be read
    # The names that published weights have for those of ours, at a factor, where they are others.
    foreign_names: Callable[[int], dict[str, str]] | None = None

    @property
    def weight_files(self) -> str:
        """What a file of weights may be."""
        return " or ".join(filter(None, (self.published_as, "of ours (.safetensors)")))


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
            raise InputError("this method cannot be exact; use a graph model such as 'colour'")
        known = known_pixels(source, confidence)
        trust = known.to(source.dtype) if confidence is None else torch.where(known, confidence, 0.0)
        batch, channels = source.shape[:2]
        size = (guide.shape[-2], guide.shape[-1])
        filled = fill_holes(torch.nan_to_num(source), known).flatten(0, 1).unsqueeze(1)
        low, unit = self.scale(filled)
        scaled = (filled - low) / nonzero(unit)
        colours = unit_range(guide).repeat_interleave(channels, 0)
        target = self.estimate(colours, scaled, interpolate_source(scaled, size), trust.flatten(0, 1).unsqueeze(1))
        return (target * unit + low).reshape(batch, channels, *size), None, None

    def scale(self, source: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """What is subtracted from the source (B, 1, h, w) and what it is divided by, (B, 1, 1, 1): to 0..1 here.

        Divided by 0, it is left at 0, and so is the target: a flat source has no scale.
        """
        low, high = source.amin((-2, -1), keepdim=True), source.amax((-2, -1), keepdim=True)
        return low, high - low

    @abstractmethod
    def estimate(
        self, guide: torch.Tensor, source: torch.Tensor, interpolated: torch.Tensor, trust: torch.Tensor
    ) -> torch.Tensor:
        """guide (B, C, H, W) in 0..1; source (B, 1, h, w) scaled, holes filled; interpolated (B, 1, H, W); trust
        (B, 1, h, w), 0 in holes and the confidence, or 1, elsewhere -> target (B, 1, H, W), scaled."""


class NetworkBaseline(Baseline):
    """A learned method. Inputs are padded to what its strides need and the result is cropped.

    `factor` is the only one that the weights are for; None: any.
    """

    multiple: int = 1  # of the target's sides
    layout: ClassVar[torch.memory_format] = torch.channels_last  # of tensors in training; whichever is faster on a CPU

    def __init__(self, network: nn.Module, factor: int | None = None) -> None:
        super().__init__()
        self.network = network
        self.factor = factor

    def learning_rates(self) -> list[tuple[float, list[nn.Parameter]]]:
        """Parameters with what the learning rate is multiplied by for them, where the authors did so."""
        return [(1.0, list(self.parameters()))]

    def estimate(
        self, guide: torch.Tensor, source: torch.Tensor, interpolated: torch.Tensor, trust: torch.Tensor
    ) -> torch.Tensor:
        height, width = guide.shape[-2:]
        if self.factor is not None:
            found = height / source.shape[-2], width / source.shape[-1]
            if found != (self.factor, self.factor):
                raise InputError(f"the weights are for x{self.factor}, but the pair is x{found[0]:g} by x{found[1]:g}")
        target = self.predict(
            pad_to_multiple(guide, self.multiple),
            pad_to_multiple(source, max(1, self.multiple // (self.factor or self.multiple))),
            pad_to_multiple(interpolated, self.multiple),
        )
        return target[..., :height, :width]

    @abstractmethod
    def predict(self, guide: torch.Tensor, source: torch.Tensor, interpolated: torch.Tensor) -> torch.Tensor:
        """As `estimate`, with sides divisible by `multiple`."""


def for_one_factor(
    name: str, factors: tuple[int, ...], build: Callable[[int], NetworkBaseline]
) -> Callable[[int | None], NetworkBaseline]:
    """`Method.build` of a network that is another one at every factor."""

    def built(factor: int | None) -> NetworkBaseline:
        if factor is None:
            raise InputError(f"{name}: needs a factor, one of {', '.join(map(str, factors))}")
        return build(factor)

    return built
