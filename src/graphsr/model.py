"""From a pair to a target: features, edges, solve. Models are found by name or loaded from a file."""

from __future__ import annotations

import difflib
import os
from abc import abstractmethod
from collections.abc import Callable
from importlib import resources
from pathlib import Path

import torch
from torch import nn

from graphsr.errors import InputError
from graphsr.graph import Edges, affinity
from graphsr.sampling import interpolate_source
from graphsr.solver import SolveReport, solve_with_report


class Model(nn.Module):
    """What `graphsr.upsample` can run: an nn.Module with `run`."""

    def bytes_per_pixel(self, channels: int) -> int:
        """The most memory a run takes, inputs included, for each target pixel and a source of so many channels."""
        return 160 + 48 * channels

    @abstractmethod
    def run(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
    ) -> tuple[torch.Tensor, Edges | None, SolveReport | None]:
        """guide (B, C, H, W), source (B, K, h, w) with NaN = missing -> target (B, K, H, W), its graph, the solve."""


class Bicubic(Model):
    """Pixel-centred bicubic interpolation of the source; the guide only gives the size."""

    def run(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
    ) -> tuple[torch.Tensor, Edges | None, SolveReport | None]:
        if exact:
            raise InputError("model 'bicubic' cannot be exact; use a graph model such as 'colour'")
        known = torch.isfinite(source) if confidence is None else torch.isfinite(source) & (confidence > 0)
        return interpolate_source(source, guide.shape[-2:], known), None, None  # type: ignore[arg-type]


class Colour(Model):
    """The paper's variant without a network: the features are the guide's channels and the interpolated source.

    Four numbers, fitted on validation pairs (docs/design.md, "The colour model").
    """

    def __init__(self, weight: float, mu: float, floor: float, prior_weight: float) -> None:
        super().__init__()
        self.weight, self.mu, self.floor, self.prior_weight = weight, mu, floor, prior_weight

    def run(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
    ) -> tuple[torch.Tensor, Edges | None, SolveReport | None]:
        size = (guide.shape[-2], guide.shape[-1])
        known = torch.isfinite(source) if confidence is None else torch.isfinite(source) & (confidence > 0)
        interpolated = interpolate_source(source, size, known)
        features = torch.cat([standardised(guide), standardised(interpolated)], 1)
        edges = affinity(features, self.mu, weight=self.weight, floor=self.floor)
        target, report = solve_with_report(
            edges,
            source,
            size,
            confidence=confidence,
            prior=interpolated,
            prior_weight=self.prior_weight,
            exact=exact,
        )
        return target, edges, report


def standardised(images: torch.Tensor) -> torch.Tensor:
    """Every image of (B, C, H, W) scaled to mean 0 and standard deviation 1, its channels by one common factor.

    One factor keeps a channel that is almost constant from being blown up into noise.
    """
    centred = images - images.mean((-2, -1), keepdim=True)
    spread = centred.square().mean((1, 2, 3), keepdim=True).sqrt()
    return centred / torch.where(spread > 0, spread, torch.ones_like(spread))


_WEIGHTS = resources.files("graphsr") / "weights"
_BY_NAME: dict[str, Callable[[], Model]] = {
    "colour": lambda: Colour(weight=9e-4, mu=0.15, floor=1e-2, prior_weight=3e-8),
    "bicubic": Bicubic,
}


def _bundled() -> dict[str, Path]:
    """The models that came with the package, by name."""
    with resources.as_file(_WEIGHTS) as folder:
        return {file.stem: file for file in sorted(folder.glob("*.safetensors"))} if folder.is_dir() else {}


def models() -> list[str]:
    """The names that `graphsr.upsample(..., model=NAME)` and `graphsr.load` know."""
    from graphsr.baselines import METHODS  # which are made of what is above

    compared = (method.name for method in METHODS.values() if not method.learned)
    return ["default", *(name for name in _bundled() if name != "default"), *_BY_NAME, *compared]


def load(model: str | os.PathLike[str]) -> Model:
    """The model of that name, or in that file (docs/training.md); "dkn:FILE" is DKN with the weights in FILE."""
    from graphsr import model_files

    name = os.fspath(model)
    if name == "default" and name not in _bundled():
        name = "colour"
    if name in _BY_NAME:
        return _BY_NAME[name]().eval()
    if name in _bundled():
        return model_files.read(_bundled()[name])
    from graphsr.baselines import METHODS, weights

    if (method := weights.load(name)) is not None:
        return method
    if Path(name).suffix or Path(name).exists():
        return model_files.read(name)
    near = difflib.get_close_matches(name, {*models(), *METHODS}, n=2)
    hint = f"did you mean {' or '.join(near)}?" if near else f"use one of {', '.join(models())}"
    raise InputError(f"model {name!r}: no model of this name; {hint}")
