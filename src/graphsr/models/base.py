"""From a pair to a target: features, edges, solve. Models are found by name or loaded from a file."""

from __future__ import annotations

import hashlib
import os
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Any

import torch
from torch import nn

from graphsr.errors import InputError
from graphsr.graph import Edges, edge_weights, power_law_distance
from graphsr.models.window import Locality, Part
from graphsr.sampling import Sampling, interpolate_source
from graphsr.scaling import Scale, known_pixels
from graphsr.solver import SolveReport, solve_with_report
from graphsr.suggestion import suggestion


class Model(nn.Module):
    """What `graphsr.upsample` can run: an nn.Module with `run`."""

    def bytes_per_pixel(self, channels: int) -> int:
        """The most memory a run takes, inputs included, for each target pixel and a source of so many channels."""
        return 160 + 48 * channels

    def digest(self) -> str:
        """A short word for what it is and all numbers in it: the same for the same, another for any other."""
        plain = {name: value for name, value in vars(self).items() if name[0] != "_" and name != "training"}
        simple = {n: v for n, v in plain.items() if isinstance(v, (int, float, str, tuple)) or is_dataclass(v)}
        found = hashlib.sha256(f"{type(self).__name__} {sorted(simple.items())}".encode())
        for name, value in sorted(self.state_dict().items()):
            found.update(name.encode())
            found.update(value.detach().cpu().contiguous().numpy().tobytes())
        return found.hexdigest()[:16]

    @property
    def locality(self) -> Locality | None:
        """What tiles of a raster need to know of the model; None: it needs to see the whole."""
        return None

    def seen(self, guide: torch.Tensor) -> torch.Tensor:
        """The channels of a guide (B, C, H, W) that the model reads."""
        return guide

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


@dataclass(frozen=True)
class Posed:
    """A solve that is ready to be done: what a model makes of a pair. In units of `scale`, or else of the source."""

    edges: Edges
    source: torch.Tensor  # (B, K, h, w)
    sampling: Sampling
    rtol: float
    exact: bool
    confidence: torch.Tensor | None
    prior: torch.Tensor | None = None
    prior_weight: torch.Tensor | float | None = None
    offsets: Edges | None = None
    scale: Scale | None = None

    def solve(self) -> tuple[torch.Tensor, Edges, SolveReport]:
        target, report = solve_with_report(
            self.edges,
            self.source,
            self.sampling,
            confidence=self.confidence,
            offsets=self.offsets,
            prior=self.prior,
            prior_weight=self.prior_weight,
            exact=self.exact,
            rtol=self.rtol,
        )
        return target if self.scale is None else self.scale.restore_source(target), self.edges, report

    def in_double_precision(self) -> Posed:
        """The same solve where single precision cannot keep `rtol`."""

        def double(value: Any) -> Any:
            if isinstance(value, Edges):
                return Edges(value.down.double(), value.right.double())
            return value.double() if isinstance(value, torch.Tensor) else value

        return replace(self, **{each.name: double(getattr(self, each.name)) for each in fields(self)})


class GraphModel(Model):
    """A model that poses a solve. Tiles pose the next one while another is being solved."""

    rtol: float = 1e-4

    @abstractmethod
    def pose(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
        part: Part | None = None,
    ) -> Posed:
        """As `run`, up to the solve; `part` says that the pair is a window of a larger one."""

    def run(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
        part: Part | None = None,
    ) -> tuple[torch.Tensor, Edges | None, SolveReport | None]:
        return self.pose(guide, source, confidence=confidence, exact=exact, part=part).solve()


def whole(guide: torch.Tensor, source: torch.Tensor, known: torch.Tensor, rtol: float) -> Part:
    """What a pair that is no window of a larger one tells of itself; guide as the model sees it."""
    sampling = Sampling((guide.shape[-2], guide.shape[-1]), (source.shape[-2], source.shape[-1]))
    return Part(sampling, Scale.of(guide, source, known), known, rtol)


class Bicubic(Model):
    """Pixel-centred bicubic interpolation of the source; the guide only gives the size."""

    @property
    def locality(self) -> Locality:
        return Locality()

    def run(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
        part: Part | None = None,
    ) -> tuple[torch.Tensor, Edges | None, SolveReport | None]:
        if exact:
            raise InputError("model 'bicubic' cannot be exact; use a graph model such as 'colour'")
        if part is not None:
            return interpolate_source(source, part.sampling), None, None
        known = known_pixels(source, confidence)
        return interpolate_source(source, guide.shape[-2:], known), None, None  # type: ignore[arg-type]


class Colour(GraphModel):
    """The paper's variant without a network: the features are the guide's channels and the interpolated source.

    Ties fall with a power of the difference instead of a Gaussian of it; five numbers, fitted on training pairs
    (docs/design.md, "The colour model").
    """

    def __init__(self, weight: float, mu: float, power: float, floor: float, prior_weight: float) -> None:
        super().__init__()
        self.weight, self.mu, self.power, self.floor, self.prior_weight = weight, mu, power, floor, prior_weight

    @property
    def locality(self) -> Locality:
        return Locality(weight=self.weight, floor=self.floor)

    def pose(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
        part: Part | None = None,
    ) -> Posed:
        part = part or whole(guide, source, known_pixels(source, confidence), self.rtol)
        sampling, scale = part.sampling, part.scale
        interpolated = interpolate_source(source, sampling, known_pixels(source, confidence))
        features = torch.cat([scale.standardise_guide(guide), scale.standardise_source(interpolated)], 1)
        return Posed(
            edge_weights(power_law_distance(features, self.mu, self.power), weight=self.weight, floor=self.floor),
            source,
            sampling,
            rtol=part.rtol,
            exact=exact,
            confidence=confidence,
            prior=interpolated,
            prior_weight=self.prior_weight,
        )


_WEIGHTS = resources.files("graphsr.models") / "weights"
_SUFFIX = ".safetensors"
_BY_NAME: dict[str, Callable[[], Model]] = {
    "colour": lambda: Colour(weight=9e-4, mu=0.08, power=1.75, floor=2e-3, prior_weight=3e-8),
    "bicubic": Bicubic,
}


def _bundled() -> list[str]:
    """The names of the models that came with the package."""
    files = (file.name for file in _WEIGHTS.iterdir()) if _WEIGHTS.is_dir() else ()
    return sorted(name.removesuffix(_SUFFIX) for name in files if name.endswith(_SUFFIX))


def models() -> list[str]:
    """The names that `graphsr.upsample(..., model=NAME)` and `graphsr.load` know."""
    from graphsr.baselines import METHODS  # which are made of what is above

    compared = (method.name for method in METHODS.values() if not method.learned)
    return ["default", *(name for name in _bundled() if name != "default"), *_BY_NAME, *compared]


def load(model: str | os.PathLike[str]) -> Model:
    """The model of that name, or in that file (docs/training.md); "dkn:FILE" is DKN with the weights in FILE."""
    from graphsr.models import files as model_files

    name = os.fspath(model)
    called = name.lower()
    if called in _BY_NAME:
        return _BY_NAME[called]().eval()
    if called in _bundled():
        with resources.as_file(_WEIGHTS / f"{called}{_SUFFIX}") as path:
            return model_files.read(path)
    from graphsr.baselines import METHODS, weights

    if (method := weights.load(name)) is not None:
        return method
    if name and (Path(name).suffix or Path(name).exists()):
        return model_files.read(name)
    hint = suggestion(called, [*models(), *(one for one in METHODS if one not in models())])
    raise InputError(f"model {name!r}: no model of this name; {hint}")
