"""Where the contenders' models come from: the package, a file, or a training."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import torch

import graphsr
from graphsr.baselines import METHODS
from graphsr.baselines.weights import called_with, factor_inside
from graphsr.errors import InputError
from graphsr.experiments.contenders import EXTRACTORS, METHODS_AND_MODELS, PAPER_PRESET, Contender
from graphsr.experiments.plan import Plan
from graphsr.experiments.sets import FoundSet
from graphsr.models import files as model_files
from graphsr.models.base import Model, load
from graphsr.models.graphsr import GraphSR
from graphsr.suggestion import suggestion
from graphsr.training.checkpoint import as_plain
from graphsr.training.config import Config, DataSet, Validation, at_factor, for_steps, read_config
from graphsr.training.export import export
from graphsr.training.loop import Hardware, Progress, train
from graphsr.training.network import to_judge

_NONE_NEEDED = "none needed"
_SEED = 12345


@dataclass(frozen=True)
class Promise:
    """A model that can be had. `key` tells apart what may give different figures; making it may take a training.

    trained_on  the data set; "": it was not trained, or on what is not for us to say
    origin      what a file says of the training it comes from
    """

    weights: str
    key: str
    make: Callable[[], Model]
    trained_on: str = ""
    origin: str = ""


@dataclass(frozen=True)
class Absent:
    """No model, and why."""

    reason: str


@dataclass(frozen=True)
class _GivenFile:
    name: str
    factor: int | None
    path: Path


class Workshop:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.given = [_given(text) for text in plan.weights]
        self._home = plan.out / "weights"

    def promise(self, who: Contender, on: FoundSet | None, factor: int) -> Promise | Absent:
        """The model of a contender at a factor, trained on a data set where it has to be trained."""
        if who.factors and factor not in who.factors:
            return Absent(f"{who.name}: does not exist at x{factor}")
        if who.name == "default":
            return _bundled()
        if not who.preset:
            model = load(who.name)
            return Promise(_NONE_NEEDED, f"{model.digest()} {graphsr.__version__}", lambda: model)
        file = self._file(who, on, factor)
        if file is not None:
            trained_for = factor_inside(file)
            if who.name in METHODS and trained_for not in (None, factor):
                return Absent(f"{who.name}: no weights at x{factor}; {file.name} is for x{trained_for}")
            of_set = on is not None and file.parent == self._home / on.name
            shown = f"{file.parent.name}/{file.name}" if of_set else file.name
            trained_on = on.name if on is not None and of_set else ""
            key = _hash(file.read_bytes())
            return Promise(
                f"file {shown}", key, lambda: _read(who, factor, file), trained_on, f"file {shown}, {_origin(file)}"
            )
        if on is None or self.plan.budget <= 0:
            name = f"{who.name}-x{factor}" if who.factors else who.name
            return Absent(f"{who.name}: no weights at x{factor}; give --weights {name}:FILE or a --budget")
        config = self.configuration(who, on, factor)
        key = _hash(json.dumps(as_plain(config)).encode())
        folder = self.plan.out / "trained" / on.name / f"{who.name}-x{factor}-{key}"
        samples = config.optimisation.steps * config.optimisation.batch
        says = f"trained on {on.name} at x{factor}, {samples} samples"
        return Promise(says, key, lambda: self._trained(who, on, factor, config, folder), on.name)

    def untrained(self, who: Contender, factor: int) -> Promise | Absent:
        """The model with the weights there are, or else with random numbers, which take as long as others."""
        known = self.promise(who, None, factor)
        if isinstance(known, Promise) or not who.preset or (who.factors and factor not in who.factors):
            return known

        def make() -> Model:
            torch.manual_seed(_SEED)
            return self.skeleton(who, factor)

        return Promise("random", f"random {who.name} {graphsr.__version__}", make)

    def skeleton(self, who: Contender, factor: int) -> Model:
        """The model of a contender that is trained, before any training."""
        return to_judge(_without_data(who, factor))

    def configuration(self, who: Contender, on: FoundSet, factor: int) -> Config:
        """The contender's own preset, on the samples of the paper's, as long as the budget lasts."""
        paper, own = read_config(PAPER_PRESET), _without_data(who, factor)
        batch = min(own.optimisation.batch, self.plan.budget)
        data = replace(paper.data, root=str(on.folder), size=self.plan.patch, sets=(DataSet(on.place.kind),))
        config = replace(
            own,
            data=data,
            augmentation=paper.augmentation,
            degradation=paper.degradation,
            optimisation=replace(own.optimisation, batch=batch),
        )
        return for_steps(config, math.ceil(self.plan.budget / batch))

    def _file(self, who: Contender, on: FoundSet | None, factor: int) -> Path | None:
        """A file given for it, or in OUT/weights; one for the factor goes first."""
        for at in (factor, None):
            for given in self.given:
                if (given.name, given.factor) == (who.name, at):
                    return given.path
        folders = [self._home] if on is None else [self._home / on.name, self._home]
        names = [f"{who.name}-x{factor}.safetensors", *([] if who.factors else [f"{who.name}.safetensors"])]
        candidates = (folder / name for folder in folders for name in names)
        return next((path for path in candidates if path.is_file()), None)

    def _trained(self, who: Contender, on: FoundSet, factor: int, config: Config, folder: Path) -> Model:
        file = folder / "weights.safetensors"
        if file.exists():
            return _read(who, factor, file)

        def listen(progress: Progress) -> None:
            self.plan.tell(f"training {who.name} on {on.name} at x{factor}: step {progress.step} of {progress.steps}")

        checkpoint = train(config, folder, hardware=Hardware(workers=self.plan.workers), listen=listen)
        return load(export(checkpoint, file))


def _without_data(who: Contender, factor: int) -> Config:
    """The preset of a contender, who begins with random numbers as all others do."""
    config = at_factor(replace(read_config(who.preset), pretrained=False, validation=Validation()), factor)
    if not who.extractor:
        return config
    model = replace(config.model, extractor=who.extractor)
    return replace(config, model=replace(model, features=4) if who.extractor == "colour" else model)


@cache
def _bundled() -> Promise:
    model = load("default")
    return Promise("bundled with the package", model.digest(), lambda: model)


def _given(text: str) -> _GivenFile:
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


def _read(who: Contender, factor: int, file: Path) -> Model:
    if who.name in METHODS:
        return load(f"{called_with(METHODS[who.name], factor if who.factors else None)}:{file}")
    model = load(file)
    expected = _without_data(who, factor).model.extractor
    if not isinstance(model, GraphSR) or model.architecture.extractor != expected:
        found = model.architecture.extractor if isinstance(model, GraphSR) else "no graph model"
        raise InputError(f"--weights {who.name}:{file}: holds {found}, but {who.name} is made of {expected}")
    return model


def _origin(file: Path) -> str:
    about = model_files.about(file)
    if "samples" not in about:
        return "which does not say how it was trained"
    return f"{about['samples']} samples of {about.get('data', '?')}, {about.get('factors', '?')}"


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]
