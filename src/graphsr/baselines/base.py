"""The base of all baselines: an entry in the registry, and one way to be run."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from torch import Tensor, nn

from graphsr.baselines.interpolation import interpolate_pil_bicubic
from graphsr.errors import InputError
from graphsr.features.channels import unit_range
from graphsr.features.padding import pad_to_multiple
from graphsr.models.base import Model
from graphsr.models.window import Window
from graphsr.sampling import fill_holes, interpolate_source
from graphsr.scaling import known_pixels, nonzero


@dataclass(frozen=True)
class Method:
    """One baseline, as `graphsr methods` lists it.

    Attributes:
        name: What it is called, as in `graphsr.load(name)`.
        title: What it is called in tables.
        year: Of the publication.
        reference: The publication.
        build: Builds the model for a factor, which most baselines ignore.
        learned: Whether it needs weights, which do not come with the package.
        factors: Those it exists for; empty: any.
        published_as: The form of its authors' weights; "": none that can be read.
        foreign_names: Maps the names of published weights at a factor to ours, where they differ.
    """

    name: str
    title: str
    year: int
    reference: str
    build: Callable[[int | None], Model]
    learned: bool = False
    factors: tuple[int, ...] = ()
    published_as: str = "a state dict of its authors (.pth)"
    foreign_names: Callable[[int], dict[str, str]] | None = None

    @property
    def weight_files(self) -> str:
        """Return what a file of weights may be, in words."""
        return " or ".join(filter(None, (self.published_as, "of ours (.safetensors)")))


class Baseline(Model):
    """A baseline without a graph: `prepare` fills holes, separates channels and scales; `estimate` does the work.

    Attributes:
        method: The name of its `Method`, by which it is saved and loaded.
        interpolation: Which bicubic interpolation `estimate` gets: "torch" (a = -0.75, as all our models) or "pil"
            (a = -0.5, for networks that were published with it).
    """

    method: str
    has_graph = False
    interpolation: ClassVar[Literal["torch", "pil"]] = "torch"

    def prepare(
        self,
        guide: Tensor,
        source: Tensor,
        *,
        confidence: Tensor | None = None,
        exact: bool = False,
        window: Window | None = None,
    ) -> Tensor:
        if exact:
            raise InputError(f"{type(self).__name__} cannot be exact; use a graph model such as 'colour'")
        if window is not None:
            raise InputError(
                f"{type(self).__name__} needs a source of boxes edge to edge on the guide: no footprint, no "
                "alignment, no tiles of a raster"
            )
        known = known_pixels(source, confidence)
        confidence = known.to(source.dtype) if confidence is None else torch.where(known, confidence, 0.0)
        batch, channels = source.shape[:2]
        size = (guide.shape[-2], guide.shape[-1])
        filled = fill_holes(torch.nan_to_num(source), known).flatten(0, 1).unsqueeze(1)
        low, unit = self.scale(filled)
        scaled = (filled - low) / nonzero(unit)
        interpolate = interpolate_pil_bicubic if self.interpolation == "pil" else interpolate_source
        guide = unit_range(guide).repeat_interleave(channels, 0)
        target = self.estimate(guide, scaled, interpolate(scaled, size), confidence.flatten(0, 1).unsqueeze(1))
        return (target * unit + low).reshape(batch, channels, *size)

    def scale(self, source: Tensor) -> tuple[Tensor, Tensor]:
        """Return what is subtracted from the source and what it is divided by: here, so that it lies in 0..1.

        A flat source has no scale: divided by 0 it becomes 0, and so does the target.

        Args:
            source: (B, 1, h, w).

        Returns:
            Two tensors (B, 1, 1, 1).
        """
        low, high = source.amin((-2, -1), keepdim=True), source.amax((-2, -1), keepdim=True)
        return low, high - low

    @abstractmethod
    def estimate(self, guide: Tensor, source: Tensor, interpolated: Tensor, confidence: Tensor) -> Tensor:
        """Return the target of a scaled pair.

        Args:
            guide: (B, C, H, W) in 0..1.
            source: (B, 1, h, w) scaled, holes filled.
            interpolated: (B, 1, H, W), the source interpolated.
            confidence: (B, 1, h, w), 0 in holes; elsewhere what was given, or 1.

        Returns:
            (B, 1, H, W) in the scale of the source.
        """


class NetworkBaseline(Baseline):
    """A learned baseline. Inputs are padded to what its strides need and the result is cropped.

    Attributes:
        multiple: What the sides of the target have to be divisible by.
        layout: The memory layout of tensors in training; whichever is faster on a CPU.
        factor: The only one that the weights are for; None: any.
    """

    multiple: int = 1
    layout: ClassVar[torch.memory_format] = torch.channels_last

    def __init__(self, network: nn.Module, factor: int | None = None) -> None:
        super().__init__()
        self.network = network
        self.factor = factor

    def learning_rates(self) -> list[tuple[float, list[nn.Parameter]]]:
        """Return the parameters, with what the learning rate is multiplied by for them where the authors did so."""
        return [(1.0, list(self.parameters()))]

    def estimate(self, guide: Tensor, source: Tensor, interpolated: Tensor, confidence: Tensor) -> Tensor:
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
    def predict(self, guide: Tensor, source: Tensor, interpolated: Tensor) -> Tensor:
        """Return the target (B, 1, H, W); arguments as in `estimate`, with sides divisible by `multiple`."""


def for_one_factor(
    name: str, factors: tuple[int, ...], build: Callable[[int], NetworkBaseline]
) -> Callable[[int | None], NetworkBaseline]:
    """Return the `Method.build` of a network that is another one at every factor."""

    def build_at(factor: int | None) -> NetworkBaseline:
        if factor is None:
            raise InputError(f"{name}: needs a factor, one of {', '.join(map(str, factors))}")
        return build(factor)

    return build_at
