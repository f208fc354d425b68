"""The configuration of a training run: a TOML file read into a dataclass that checks itself when it is made."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path

import torch

from graphsr.baselines import METHODS
from graphsr.data.augmentation import Augmentation
from graphsr.data.degradation import RandomDegradation
from graphsr.data.factors import Factors
from graphsr.errors import InputError
from graphsr.files.limits import check_regular_file
from graphsr.models.architecture import Architecture
from graphsr.models.graphsr import GraphSR
from graphsr.models.registry import load
from graphsr.settings import build
from graphsr.suggestion import suggestion
from graphsr.training.sections import Data, Diffusion, Optimisation, Schedule, Validation

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class Config:
    """Say what is trained, on what, and how.

    Attributes:
        method: the baseline to train instead of the graph model; "": none.
        start: begin with the weights of this model, a name or a file; [model] may then be left out.
        model: what the graph model is made of.
        diffusion: of the baseline "dada".
        pretrained: whether the encoder begins with ImageNet weights; a path: with those in a file.
    """

    method: str = ""
    start: str = ""
    model: Architecture = field(default_factory=Architecture)
    diffusion: Diffusion = field(default_factory=Diffusion)
    pretrained: bool | str = True
    data: Data = field(default_factory=Data)
    augmentation: Augmentation = field(default_factory=Augmentation)
    degradation: RandomDegradation = field(default_factory=RandomDegradation)
    factors: Factors = field(default_factory=Factors)
    optimisation: Optimisation = field(default_factory=Optimisation)
    schedule: Schedule = field(default_factory=Schedule)
    validation: Validation = field(default_factory=Validation)

    def __post_init__(self) -> None:
        if not self.data.sets:
            raise InputError("data.sets is empty; name at least one data set")
        if self.start and isinstance(self.pretrained, str):
            raise InputError("start and a file as `pretrained` exclude each other: both say what to begin with")
        _check_size("data.size", self.data.size, self.factors.most)
        if self.validation.sets:
            _check_size("validation.size", self.validation.size, max(self.validation.factors))
        if self.diffusion != Diffusion() and self.method != "dada":
            raise InputError("[diffusion] is for method = 'dada' alone")
        if self.method:
            _check_method(self)

    @property
    def fixed_factor(self) -> int | None:
        """Return the factor that a baseline is built for, where it is built for one."""
        return int(self.factors.least) if self.method and METHODS[self.method].factors else None


def presets() -> list[str]:
    """Return the names of the configurations that come with the package."""
    folder = resources.files("graphsr.training") / "presets"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def read_config(path: str) -> Config:
    """Read a configuration.

    Args:
        path: a TOML file, or the name of a preset.

    Returns:
        The configuration; what is wrong with it is an InputError that begins with `path`.

    Example:
        >>> read_config("bundled").model.extractor
        'unet-lite0'
    """
    preset = resources.files("graphsr.training") / "presets" / f"{path}.toml"
    try:
        if path in presets():
            text = preset.read_text()
        elif Path(path).exists():
            check_regular_file(path, "a TOML file")
            text = Path(path).read_text()
        else:
            raise InputError(f"{path}: no such file, and no preset of this name; {suggestion(path, presets())}")
        content = tomllib.loads(text)
    except RecursionError:
        raise InputError(f"{path}: cannot be read as TOML: its tables are nested too deeply") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: cannot be read as TOML: {error}") from error
    config = build(Config, content, path)
    if config.start and not config.method and "model" not in content:
        config = replace(config, model=_architecture_of(config.start, path))
    elif not config.method:
        _check_architecture(config.model, path)
    if config.optimisation.loss == "noise" and (config.method or not config.model.confidence):
        raise InputError(f"{path}: loss = 'noise' is for graph models that predict it: [model] confidence = true")
    return config


def _architecture_of(name: str, path: str) -> Architecture:
    model = load(name)
    if not isinstance(model, GraphSR):
        raise InputError(f"{path}: start = {name!r} is no graph model with a network; 'default' is one")
    return model.architecture


def _check_architecture(architecture: Architecture, path: str) -> None:
    """Build the network without memory for its weights, which says what does not fit together."""
    try:
        with torch.device("meta"):
            GraphSR(architecture)
    except InputError as error:
        raise InputError(f"{path}: [model]: {error}") from error


def at_factor(config: Config, factor: float) -> Config:
    """Return the same configuration for one factor alone."""
    return replace(
        config,
        factors=replace(config.factors, least=factor, most=factor),
        validation=replace(config.validation, factors=(factor,)),
    )


def for_steps(config: Config, steps: int) -> Config:
    """Return the same configuration for a shorter or longer run; the schedule is stretched with it."""
    part = steps / config.optimisation.steps
    schedule = config.schedule
    stretched = {name: max(1, round(part * getattr(schedule, name))) for name in ("warm_up", "every", "end")}
    return replace(
        config,
        optimisation=replace(config.optimisation, steps=steps),
        schedule=replace(schedule, **{name: value for name, value in stretched.items() if getattr(schedule, name)}),
    )


def _check_size(name: str, size: int, factor: float) -> None:
    least = max(32, math.ceil(2 * factor))
    if size < least:
        raise InputError(f"{name} must be at least {least} at x{factor:g}, not {size}")


def _check_method(config: Config) -> None:
    name = config.method
    learned = [method.name for method in METHODS.values() if method.learned]
    if name not in learned:
        what = "is not trained in advance" if name in METHODS else "no method is called so"
        raise InputError(f"method {name!r}: {what}; {suggestion(name, learned)}")
    if config.model != Architecture():
        raise InputError(f"method = {name!r} and [model] exclude each other; [model] is the graph model's")
    if METHODS[name].factors:
        _check_fixed_factor(config, METHODS[name].factors)


def _check_fixed_factor(config: Config, factors: tuple[int, ...]) -> None:
    least, most = config.factors.least, config.factors.most
    if least != most or least not in factors:
        raise InputError(
            f"{config.method} is trained for one factor, {', '.join(map(str, factors))}, "
            f"but factors are {least:g} to {most:g}; say which with --factor or [factors]"
        )
    if config.data.size % int(least):
        raise InputError(f"data.size {config.data.size} is no multiple of the factor {least:g}")
    watched = config.validation
    if watched.sets and (set(watched.factors) != {least} or watched.size % int(least)):
        raise InputError(
            f"{config.method} at x{least:g} cannot be validated at "
            f"{', '.join(f'x{factor:g}' for factor in watched.factors)} and size {watched.size}"
        )
