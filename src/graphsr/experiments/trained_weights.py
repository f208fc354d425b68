"""Where the participants' weights come from: the package, a file, or a training."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import torch

import graphsr
from graphsr.baselines import METHODS
from graphsr.baselines.weights import called_with, factor_inside
from graphsr.errors import InputError
from graphsr.experiments.data_sets import DataSet
from graphsr.experiments.options import Options
from graphsr.experiments.participants import EXTRACTORS, METHODS_AND_MODELS, PAPER_PRESET, Participant
from graphsr.models.base import Model
from graphsr.models.files import read_metadata
from graphsr.models.graphsr import GraphSR
from graphsr.models.registry import load
from graphsr.suggestion import suggestion
from graphsr.training.checkpoint import as_plain
from graphsr.training.config import Config, at_factor, for_steps, read_config
from graphsr.training.export import export
from graphsr.training.loop import Hardware, Progress, train
from graphsr.training.network import inference_network
from graphsr.training.sections import DataSet as TrainingData
from graphsr.training.sections import Validation

_SEED = 12345


@dataclass(frozen=True)
class AvailableModel:
    """A model that can be loaded.

    Attributes:
        weights: Where its weights come from, for tables.
        key: Tells apart models that may give different figures.
        load: Return the model; this may take a training.
        trained_on: The data set, or what a file says of it; "": it is not trained, or on what is unknown.
        origin: What a file says of the training it comes from.
    """

    weights: str
    key: str
    load: Callable[[], Model]
    trained_on: str = ""
    origin: str = ""


@dataclass(frozen=True)
class MissingModel:
    """No model, and why."""

    reason: str


@dataclass(frozen=True)
class _GivenFile:
    name: str
    factor: int | None
    path: Path


class TrainedWeights:
    """Finds the model of each participant: with given weights, those in OUT/weights, or those of a training."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.given = [_parse_given(text) for text in options.weights]
        self._folder = options.out / "weights"

    def find(self, who: Participant, on: DataSet | None, factor: int) -> AvailableModel | MissingModel:
        """Find the model of a participant.

        Args:
            who: The participant.
            on: The data set it is trained on, if it has to be trained; None: nothing is trained.
            factor: The upsampling factor.
        """
        if not who.exists_at(factor):
            return MissingModel(f"{who.name}: does not exist at x{factor}")
        if who.name == "default":
            return _bundled()
        if not who.preset:
            model = load(who.name)
            return AvailableModel("none needed", f"{model.digest()} {graphsr.__version__}", lambda: model)
        file = self._find_file(who, on, factor)
        if file is not None:
            return self._from_file(who, on, factor, file)
        if on is None or self.options.budget <= 0:
            name = f"{who.name}-x{factor}" if who.factors else who.name
            return MissingModel(f"{who.name}: no weights at x{factor}; give --weights {name}:FILE or a --budget")
        config = self.configuration(who, on, factor)
        key = _hash(json.dumps(as_plain(config)).encode())
        folder = self.options.out / "trained" / on.name / f"{who.name}-x{factor}-{key}"
        samples = config.optimisation.steps * config.optimisation.batch
        weights = f"trained on {on.name} at x{factor}, {samples} samples"
        return AvailableModel(weights, key, lambda: self._train(who, on, factor, config, folder), on.name)

    def find_or_random(self, who: Participant, factor: int) -> AvailableModel | MissingModel:
        """Find the model with the weights there are, or else with random ones, which take as long as others."""
        found = self.find(who, None, factor)
        if isinstance(found, AvailableModel) or not who.preset or not who.exists_at(factor):
            return found

        def build() -> Model:
            torch.manual_seed(_SEED)
            return untrained_model(who, factor)

        return AvailableModel("random", f"random {who.name} {graphsr.__version__}", build)

    def configuration(self, who: Participant, on: DataSet, factor: int) -> Config:
        """Return the participant's own preset, on samples made as for the paper, as many as the budget allows."""
        paper, own = read_config(PAPER_PRESET), _preset(who, factor)
        batch = min(own.optimisation.batch, self.options.budget)
        data = replace(paper.data, root=str(on.folder), size=self.options.patch, sets=(TrainingData(on.spec.kind),))
        config = replace(
            own,
            data=data,
            augmentation=paper.augmentation,
            degradation=paper.degradation,
            optimisation=replace(own.optimisation, batch=batch),
        )
        return for_steps(config, math.ceil(self.options.budget / batch))

    def _find_file(self, who: Participant, on: DataSet | None, factor: int) -> Path | None:
        """Find a file given for it, or in OUT/weights; one for the factor goes first."""
        for at in (factor, None):
            for given in self.given:
                if (given.name, given.factor) == (who.name, at):
                    return given.path
        folders = [self._folder] if on is None else [self._folder / on.name, self._folder]
        names = [f"{who.name}-x{factor}.safetensors", *([] if who.factors else [f"{who.name}.safetensors"])]
        candidates = (folder / name for folder in folders for name in names)
        return next((path for path in candidates if path.is_file()), None)

    def _from_file(
        self, who: Participant, on: DataSet | None, factor: int, file: Path
    ) -> AvailableModel | MissingModel:
        trained_for = factor_inside(file)
        if who.name in METHODS and trained_for not in (None, factor):
            return MissingModel(f"{who.name}: no weights at x{factor}; {file.name} is for x{trained_for}")
        about = read_metadata(file)
        trained_on, name = about.get("data", ""), f"file {file.name}"
        if on is not None and file.parent == self._folder / on.name:
            trained_on, name = on.name, f"file {on.name}/{file.name}"
        key = _hash(file.read_bytes())
        return AvailableModel(name, key, lambda: _load_file(who, factor, file), trained_on, f"{name}, {_origin(about)}")

    def _train(self, who: Participant, on: DataSet, factor: int, config: Config, folder: Path) -> Model:
        file = folder / "weights.safetensors"
        if file.exists():
            return _load_file(who, factor, file)

        def listen(done: Progress) -> None:
            step = f"step {done.step} of {done.steps}"
            self.options.progress(f"training {who.name} on {on.name} at x{factor}: {step}")

        checkpoint = train(config, folder, hardware=Hardware(workers=self.options.workers), listen=listen)
        return load(export(checkpoint, file))


def untrained_model(who: Participant, factor: int) -> Model:
    """Build the model of a learned participant with random weights."""
    return inference_network(_preset(who, factor))


def _preset(who: Participant, factor: int) -> Config:
    """Return the preset of a participant without data; all begin with random weights."""
    config = at_factor(replace(read_config(who.preset), pretrained=False, validation=Validation()), factor)
    if not who.extractor:
        return config
    model = replace(config.model, extractor=who.extractor)
    return replace(config, model=replace(model, features=4) if who.extractor == "colour" else model)


@cache
def _bundled() -> AvailableModel:
    model = load("default")
    return AvailableModel("bundled with the package", model.digest(), lambda: model)


def _parse_given(text: str) -> _GivenFile:
    """Read NAME:FILE or NAME-xFACTOR:FILE."""
    name, colon, file = text.partition(":")
    if not colon or not file:
        raise InputError(f"--weights {text!r}: say NAME:FILE, or NAME-xFACTOR:FILE for weights of one factor")
    if not Path(file).is_file():
        raise InputError(f"--weights {text!r}: {file}: no such file")
    parts = re.fullmatch(r"(.+)-x(\d+)", name)
    given = _GivenFile(parts[1], int(parts[2]), Path(file)) if parts else _GivenFile(name, None, Path(file))
    learned = {one.name: one for one in (*METHODS_AND_MODELS, *EXTRACTORS) if one.preset}
    if given.name not in learned:
        hint = suggestion(given.name, learned)
        raise InputError(f"--weights {text!r}: nothing learned is called {given.name!r}; {hint}")
    factors = learned[given.name].factors
    if factors and given.factor not in factors:
        there = ", ".join(f"{given.name}-x{factor}:FILE" for factor in factors)
        raise InputError(f"--weights {text!r}: {given.name} is another network at every factor; say one of {there}")
    return given


def _load_file(who: Participant, factor: int, file: Path) -> Model:
    if who.name in METHODS:
        return load(f"{called_with(METHODS[who.name], factor if who.factors else None)}:{file}")
    model = load(file)
    expected = _preset(who, factor).model.extractor
    if not isinstance(model, GraphSR) or model.architecture.extractor != expected:
        found = model.architecture.extractor if isinstance(model, GraphSR) else "no graph model"
        raise InputError(f"--weights {who.name}:{file}: holds {found}, but {who.name} is made of {expected}")
    return model


def _origin(about: Mapping[str, str]) -> str:
    """Return what the metadata of a file says of its training."""
    if "samples" not in about:
        return "which does not say how it was trained"
    return f"{about['samples']} samples of {about.get('data', '?')}, {about.get('factors', '?')}"


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
