"""The configuration of a training run: a TOML file read into dataclasses, every key checked."""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field, replace
from importlib import resources
from pathlib import Path

import torch

from graphsr.baselines import METHODS
from graphsr.data.augmentation import Augmentation
from graphsr.data.degradation import Degradation, Factors
from graphsr.errors import InputError
from graphsr.models.base import load
from graphsr.models.graphsr import Architecture, GraphSR
from graphsr.settings import build
from graphsr.suggestion import suggestion
from graphsr.training.loss import LOSSES

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True)
class DataSet:
    """One data set. `folder` lies under the root; of all samples it gives `share` parts."""

    kind: str
    folder: str = ""
    share: float = 1.0


@dataclass(frozen=True)
class Data:
    root: str = "."
    size: int = 256  # patches are square
    keep_gb: float = 2.0  # memory for pairs already read, in each process that prepares samples
    sets: tuple[DataSet, ...] = ()


@dataclass(frozen=True)
class Schedule:
    """The learning rate: warmed up, then times `times` after every `every` steps, and cosine to 0 at `end` if given."""

    warm_up: int = 0
    every: int = 0
    times: float = 1.0
    end: int = 0


@dataclass(frozen=True)
class Optimisation:
    steps: int = 25_000
    batch: int = 8
    learning_rate: float = 1e-4
    encoder_learning_rate: float | None = None  # default: the same
    weight_decay: float = 1e-5  # as L2 inside Adam
    clip: float = 0.01  # of the gradient's norm; 0: none
    loss: str = "l1"  # "l1", "mse", "both", or "relative": both, each as a part of bicubic interpolation's
    loss_times: float = 1.0  # what the loss is multiplied by; with `clip`, that matters
    average: float = 0.0  # decay of the running mean of the weights, which is what is validated and kept; 0: none
    rtol: float = 1e-4  # of the solves
    seed: int = 12345


@dataclass(frozen=True)
class Validation:
    """How the model is judged on the way. Without sets it is not, and the last state is all there is."""

    every: int = 1000  # steps
    factors: tuple[float, ...] = (4.0, 8.0, 16.0)
    pairs: int = 16  # of each data set, at most
    size: int = 256  # of the patches, from the middle
    sets: tuple[DataSet, ...] = ()


@dataclass(frozen=True)
class Diffusion:
    """Of the method "dada": training takes a random number of steps below `steps`, then `tracked_steps` that learn."""

    steps: int = 8000
    tracked_steps: int = 1024


@dataclass(frozen=True)
class Config:
    """Trains the graph model of [model], or the method of another that `method` names."""

    method: str = ""
    start: str = ""  # begin with the numbers of this model, a name or a file; [model] may then be left out
    model: Architecture = field(default_factory=Architecture)
    diffusion: Diffusion = field(default_factory=Diffusion)
    pretrained: bool | str = True
    data: Data = field(default_factory=Data)
    augmentation: Augmentation = field(default_factory=Augmentation)
    degradation: Degradation = field(default_factory=Degradation)
    factors: Factors = field(default_factory=Factors)
    optimisation: Optimisation = field(default_factory=Optimisation)
    schedule: Schedule = field(default_factory=Schedule)
    validation: Validation = field(default_factory=Validation)


def presets() -> list[str]:
    folder = resources.files("graphsr.training") / "presets"
    return sorted(file.name.removesuffix(".toml") for file in folder.iterdir() if file.name.endswith(".toml"))


def read_config(path: str) -> Config:
    """The configuration in a TOML file, or the preset of that name."""
    preset = resources.files("graphsr.training") / "presets" / f"{path}.toml"
    try:
        text = preset.read_text() if path in presets() else Path(path).read_text()
        content = tomllib.loads(text)
    except FileNotFoundError:
        raise InputError(f"{path}: no such file, and no preset of this name; {suggestion(path, presets())}") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: cannot be read as TOML: {error}") from error
    config = build(Config, content, path)
    if config.start and not config.method and "model" not in content:
        config = replace(config, model=_architecture_of(config.start, path))
    check(config, path)
    return config


def _architecture_of(name: str, path: str) -> Architecture:
    model = load(name)
    if not isinstance(model, GraphSR):
        raise InputError(f"{path}: start = {name!r} is no graph model with a network; 'default' is one")
    return model.architecture


def fixed_factor(config: Config) -> int | None:
    """The factor that a method is built for, where it is built for one."""
    return int(config.factors.least) if config.method and METHODS[config.method].factors else None


def at_factor(config: Config, factor: float) -> Config:
    """The same for one factor."""
    return replace(
        config,
        factors=replace(config.factors, least=factor, most=factor),
        validation=replace(config.validation, factors=(factor,)),
    )


def for_steps(config: Config, steps: int) -> Config:
    """The same, shorter or longer: the schedule is stretched with it."""
    part = steps / config.optimisation.steps
    schedule = config.schedule
    stretched = {name: max(1, round(part * getattr(schedule, name))) for name in ("warm_up", "every", "end")}
    return replace(
        config,
        optimisation=replace(config.optimisation, steps=steps),
        schedule=replace(schedule, **{name: value for name, value in stretched.items() if getattr(schedule, name)}),
    )


def check(config: Config, path: str) -> None:
    """Refuses what no run could follow; `path` begins the message."""
    how = config.optimisation
    if how.loss not in LOSSES:
        raise InputError(f"{path}: optimisation.loss must be one of {', '.join(LOSSES)}, not {how.loss!r}")
    if not config.data.sets:
        raise InputError(f"{path}: data.sets is empty; name at least one data set")
    for name in ("steps", "batch", "learning_rate", "encoder_learning_rate", "loss_times"):
        value = getattr(how, name)
        if value is not None and not 0 < value < math.inf:
            raise InputError(f"{path}: optimisation.{name} must be positive, not {value}")
    if min(config.schedule.warm_up, config.schedule.every, config.schedule.end) < 0:
        raise InputError(f"{path}: schedule: warm_up, every and end must be 0 or more")
    if config.start and isinstance(config.pretrained, str):
        raise InputError(f"{path}: start and a file as `pretrained` exclude each other: both say what to begin with")
    if how.clip < 0 or not 0 <= how.average < 1 or not 0 < how.rtol < 1:
        raise InputError(
            f"{path}: optimisation.clip must be 0 or more, average from 0 to below 1, rtol between 0 and 1; not "
            f"{how.clip:g}, {how.average:g} and {how.rtol:g}"
        )
    if not 1 <= config.factors.least <= config.factors.most:
        raise InputError(f"{path}: factors must be at least 1, and `least` not above `most`")
    _check_size(f"{path}: data.size", config.data.size, config.factors.most)
    if config.validation.sets:
        _check_validation(config.validation, path)
    if config.method:
        _check_method(config, path)
    elif config.diffusion != Diffusion():
        raise InputError(f"{path}: [diffusion] is for method = 'dada' alone")
    else:
        _check_model(config, path)


def _check_validation(watched: Validation, path: str) -> None:
    if watched.every < 1 or watched.pairs < 1 or not watched.factors or min(watched.factors) <= 1:
        raise InputError(
            f"{path}: validation needs every and pairs of at least 1, and factors above 1 (errors are compared with "
            "those of bicubic interpolation, which at 1 has none)"
        )
    _check_size(f"{path}: validation.size", watched.size, max(watched.factors))


def _check_size(name: str, size: int, factor: float) -> None:
    least = max(32, math.ceil(2 * factor))
    if size < least:
        raise InputError(f"{name} must be at least {least} at x{factor:g}, not {size}")


def _check_model(config: Config, path: str) -> None:
    """Builds the network without giving it numbers, which says what does not fit together."""
    try:
        with torch.device("meta"):
            GraphSR(config.model)
    except InputError as error:
        raise InputError(f"{path}: [model]: {error}") from error


def _check_method(config: Config, path: str) -> None:
    name = config.method
    learned = [method.name for method in METHODS.values() if method.learned]
    if name not in learned:
        what = "is not trained in advance" if name in METHODS else "no method is called so"
        raise InputError(f"{path}: method {name!r}: {what}; {suggestion(name, learned)}")
    if config.model != Architecture():
        raise InputError(f"{path}: method = {name!r} and [model] exclude each other; [model] is the graph model's")
    if name == "dada" and (config.diffusion.steps < 0 or config.diffusion.tracked_steps < 1):
        raise InputError(f"{path}: diffusion.steps must not be negative, and tracked_steps at least 1")
    if name != "dada" and config.diffusion != Diffusion():
        raise InputError(f"{path}: [diffusion] is for method = 'dada', not {name!r}")
    if METHODS[name].factors:
        _check_fixed_factor(config, path, METHODS[name].factors)


def _check_fixed_factor(config: Config, path: str, factors: tuple[int, ...]) -> None:
    least, most = config.factors.least, config.factors.most
    if least != most or least not in factors:
        raise InputError(
            f"{path}: {config.method} is trained for one factor, {', '.join(map(str, factors))}, "
            f"but factors are {least:g} to {most:g}; say which with --factor or [factors]"
        )
    if config.data.size % int(least):
        raise InputError(f"{path}: data.size {config.data.size} is no multiple of the factor {least:g}")
    watched = config.validation
    if watched.sets and (set(watched.factors) != {least} or watched.size % int(least)):
        raise InputError(
            f"{path}: {config.method} at x{least:g} cannot be validated at "
            f"{', '.join(f'x{factor:g}' for factor in watched.factors)} and size {watched.size}"
        )
