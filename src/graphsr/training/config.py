"""The configuration of a training run: a TOML file read into dataclasses, every key checked."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path

from graphsr.data.augmentation import Augmentation
from graphsr.data.degradation import Degradation, Factors
from graphsr.errors import InputError
from graphsr.learned import Architecture
from graphsr.settings import build

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
class Config:
    model: Architecture = field(default_factory=Architecture)
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
        raise InputError(
            f"{path}: no such file, and no preset of this name; presets are {', '.join(presets())}"
        ) from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{path}: cannot be read as TOML: {error}") from error
    config = build(Config, content, path)
    _check(config, path)
    return config


def _check(config: Config, path: str) -> None:
    how = config.optimisation
    if how.loss not in ("l1", "mse", "both", "relative"):
        raise InputError(f"{path}: optimisation.loss must be 'l1', 'mse', 'both' or 'relative', not {how.loss!r}")
    if not config.data.sets:
        raise InputError(f"{path}: data.sets is empty; name at least one data set")
    for name, value in (("steps", how.steps), ("batch", how.batch), ("learning_rate", how.learning_rate)):
        if value <= 0:
            raise InputError(f"{path}: optimisation.{name} must be positive, not {value}")
    watched = config.validation
    if watched.sets and (watched.every < 1 or watched.pairs < 1 or not watched.factors or min(watched.factors) < 1):
        raise InputError(f"{path}: validation needs every and pairs of at least 1, and factors of at least 1")
    if not 1 <= config.factors.least <= config.factors.most:
        raise InputError(f"{path}: factors must be at least 1, and `least` not above `most`")
