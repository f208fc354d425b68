"""The tables of a configuration. Each checks itself when it is made."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

from graphsr.data import PairList, open_pairs
from graphsr.data.degradation import Degradation
from graphsr.errors import InputError
from graphsr.training.loss import LOSSES


@dataclass(frozen=True)
class DataSet:
    """Name a data set.

    Attributes:
        kind: one of `graphsr.data.kinds()`.
        folder: where it lies under the root.
        share: how many of all samples it gives, in parts.
        missing: of the kind "folder": the value that means "unknown".
        validation: of the kind "folder": patterns of the names that are for validation, instead of every tenth.
    """

    kind: str
    folder: str = ""
    share: float = 1.0
    missing: float | None = None
    validation: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.share < math.inf:
            raise InputError(f"share must be 0 or more, not {self.share:g}")

    def open(self, root: str, split: str) -> PairList:
        """Open a split of the data set under a root folder."""
        folder = Path(root) / self.folder
        return open_pairs(self.kind, folder, split, missing=self.missing, validation=self.validation)


@dataclass(frozen=True)
class Data:
    """Say what is trained on.

    Attributes:
        root: the folder that all data sets lie under.
        size: of the patches, which are square.
        keep_gb: memory for pairs that were read, in each process that prepares samples.
        sets: the data sets.
    """

    root: str = "."
    size: int = 256
    keep_gb: float = 2.0
    sets: tuple[DataSet, ...] = ()

    def __post_init__(self) -> None:
        if self.sets and not any(one.share for one in self.sets):
            raise InputError("sets: the shares must not all be 0")


@dataclass(frozen=True)
class Schedule:
    """Say how the learning rate goes.

    Attributes:
        warm_up: it rises to its full value over so many steps.
        every, times: it is multiplied by `times` after every `every` steps; 0: never.
        end: it falls to 0 at this step along a cosine; 0: it does not.
    """

    warm_up: int = 0
    every: int = 0
    times: float = 1.0
    end: int = 0

    def __post_init__(self) -> None:
        if min(self.warm_up, self.every, self.end) < 0:
            raise InputError("warm_up, every and end must be 0 or more")


@dataclass(frozen=True)
class Optimisation:
    """Say how the weights are found.

    Attributes:
        steps: how many there are.
        batch: samples of a step, on each device.
        learning_rate: of Adam, at its highest.
        encoder_learning_rate: that of the encoder; by default the same.
        weight_decay: as L2 inside Adam.
        clip: largest norm of a gradient; 0: any.
        clip_networks: whether `clip` is for the gradient of each network of the model by itself, in each process by
            itself. With one norm for all, a single sample that one network finds hard leaves nothing of what the
            others would have learned from the step.
        loss: "l1", "mse", "both", or "relative": both, each as a part of bicubic interpolation's; or "pooled": the
            same, but patches that are harder than others of the batch count more; or "noise": only the networks that
            predict the source's noise and remove it are trained, which needs no solve.
        squared_times: how many times the squared error counts beside the absolute one, in "both", "relative" and
            "pooled".
        loss_times: what the loss is multiplied by; with `clip`, that matters.
        noise_loss: weight of the negative log-likelihood of the source's errors under the noise that the network
            predicts, where it predicts noise.
        average: decay of the running mean of the weights, which is what is validated and exported; 0: none.
        rtol: of the solves, see `graphsr.solve`.
        frozen_statistics: whether batch normalisations keep the statistics that the network begins with, as they do
            once it is trained: those of a few samples are others, and a network may come to rely on them. Encoders
            then leave out no branches at random either.
        frozen: beginnings of the names of parameters that keep the values that the network begins with.
        seed: all samples follow from it.
    """

    steps: int = 25_000
    batch: int = 8
    learning_rate: float = 1e-4
    encoder_learning_rate: float | None = None
    weight_decay: float = 1e-5
    clip: float = 0.01
    clip_networks: bool = False
    loss: str = "l1"
    squared_times: float = 1.0
    loss_times: float = 1.0
    noise_loss: float = 0.0
    average: float = 0.0
    rtol: float = 1e-4
    frozen_statistics: bool = False
    frozen: tuple[str, ...] = ()
    seed: int = 12345

    def __post_init__(self) -> None:
        if self.loss not in LOSSES:
            raise InputError(f"loss must be one of {', '.join(LOSSES)}, not {self.loss!r}")
        for name in ("steps", "batch", "learning_rate", "encoder_learning_rate", "loss_times"):
            value = getattr(self, name)
            if value is not None and not 0 < value < math.inf:
                raise InputError(f"{name} must be positive, not {value}")
        for name in ("weight_decay", "clip", "noise_loss", "squared_times"):
            if not 0 <= getattr(self, name) < math.inf:
                raise InputError(f"{name} must be 0 or more, not {getattr(self, name)}")
        if not 0 <= self.average < 1 or not 0 < self.rtol < 1:
            raise InputError(
                f"average must be from 0 to below 1, rtol between 0 and 1; not {self.average:g} and {self.rtol:g}"
            )


@dataclass(frozen=True)
class Validation:
    """Say how the model is measured on the way. Without sets it is not, and the last state is all there is.

    Attributes:
        every: steps between two validations; the state before the first step is validated too.
        factors: those that are measured.
        degraded: imperfections, such as "noise=0.03", that are measured beside the clean sources at the middle factor;
            written as in `graphsr evaluate --degrade`.
        pairs: of each data set, at most.
        size: of the patches, from the middle of each pair.
        sets: the data sets.
    """

    every: int = 1000
    factors: tuple[float, ...] = (4.0, 8.0, 16.0)
    degraded: tuple[str, ...] = ()
    pairs: int = 16
    size: int = 256
    sets: tuple[DataSet, ...] = ()

    def __post_init__(self) -> None:
        if self.every < 1 or self.pairs < 1 or not self.factors or min(self.factors) <= 1:
            raise InputError(
                "every and pairs must be at least 1, and factors above 1 (errors are compared with those of bicubic "
                "interpolation, which at 1 has none)"
            )
        for text in self.degraded:
            Degradation.parse(text)


@dataclass(frozen=True)
class Diffusion:
    """Say how the baseline "dada" is trained.

    Attributes:
        steps: of the diffusion, without gradients: a random number below this.
        tracked_steps: with gradients, after those.
    """

    steps: int = 8000
    tracked_steps: int = 1024

    def __post_init__(self) -> None:
        if self.steps < 0 or self.tracked_steps < 1:
            raise InputError("steps must not be negative, and tracked_steps at least 1")
