"""How good a model is on pairs it never saw, in the short form that training watches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from graphsr.data import Pair, PairList
from graphsr.data.augmentation import centre_patch
from graphsr.data.degradation import Degradation
from graphsr.errors import InputError
from graphsr.evaluation.evaluate import Example
from graphsr.evaluation.example_sheet import example_sheet
from graphsr.evaluation.protocols import Case, make_source
from graphsr.models.base import Model
from graphsr.pictures import Picture
from graphsr.sampling import interpolate_source
from graphsr.training.config import Config
from graphsr.training.sections import Validation
from graphsr.upsampling import upsample

_CLEAN = Degradation()


@dataclass(frozen=True)
class Score:
    """Hold the errors on one data set at one factor: mean squared, in variances of each patch's map.

    Attributes:
        name: of the data set, and what is wrong with its sources.
        factor: between target and source.
        error: of the model.
        bicubic_error: of bicubic interpolation of the same sources.
        degraded: whether anything is wrong with the sources.
    """

    name: str
    factor: float
    error: float
    bicubic_error: float
    degraded: bool = False

    @property
    def ratio(self) -> float:
        """Return the error as a part of bicubic interpolation's."""
        return self.error / self.bicubic_error


def overall(scores: Sequence[Score]) -> float:
    """Return one number to choose the best step by: the smaller the better.

    It is the geometric mean of the ratios to bicubic interpolation, so that no data set and no factor outweighs
    another; clean and degraded sources count one half each where there are both.
    """
    kinds = [[np.log(score.ratio) for score in scores if score.degraded == kind] for kind in (False, True)]
    return float(np.exp(np.mean([np.mean(kind) for kind in kinds if kind])))


class Validator:
    """Measure models on the middle of some pairs of each data set, which are read once.

    Args:
        sets: names and pairs.
        how: size, factors and degradations, and how many pairs of each data set.
    """

    def __init__(self, sets: Sequence[tuple[str, PairList]], how: Validation) -> None:
        self.factors = how.factors
        self.middle_factor = how.factors[len(how.factors) // 2]
        self.degradations = [Degradation.parse(text) for text in how.degraded]
        self.patches: dict[str, list[Pair]] = {}
        self.notes = [note for _, pairs in sets for note in pairs.notes]
        for name, pairs in sets:
            # Over the whole data set: neighbours are often views of one scene.
            numbers = np.unique(np.linspace(0, len(pairs) - 1, min(how.pairs, len(pairs))).round().astype(int))
            patches = [centre_patch(pairs[int(n)], (how.size, how.size)) for n in numbers]
            self.patches[name] = [patch for patch in patches if np.nanstd(patch.target) > 0]
            if not self.patches[name]:
                raise InputError(f"{name}: the middle of every validation pair is flat; nothing can be measured on it")

    @classmethod
    def of(cls, config: Config) -> Validator | None:
        """Open the validation sets of a configuration; None if there are none."""
        sets = config.validation.sets
        if not sets:
            return None
        kinds = [one.kind for one in sets]
        names = [one.kind if kinds.count(one.kind) == 1 else f"{one.kind}:{one.folder}" for one in sets]
        opened = [one.open(config.data.root, "val") for one in sets]
        return cls(list(zip(names, opened, strict=True)), config.validation)

    def scores(self, model: Model) -> list[Score]:
        """Measure a model: clean sources at every factor, degraded ones at the middle factor."""
        cases = [(factor, _CLEAN) for factor in self.factors]
        cases += [(self.middle_factor, degradation) for degradation in self.degradations]
        return [
            _score(model, name, patches, factor, degradation)
            for name, patches in self.patches.items()
            for factor, degradation in cases
        ]

    def picture(self, model: Model) -> Picture:
        """Draw one result of each data set at the middle factor."""
        examples = []
        for patch in (patches[0] for patches in self.patches.values()):
            source = make_source(patch, self.middle_factor, _CLEAN)
            result = upsample(patch.guide, source, model=model)
            examples.append(Example(Case(patch, source, np.isfinite(patch.target)), result.target, None))
        return example_sheet(examples, f"x{self.middle_factor:g}")


def _score(model: Model, name: str, patches: Sequence[Pair], factor: float, degradation: Degradation) -> Score:
    errors: list[float] = []
    bicubic_errors: list[float] = []
    for patch in patches:
        source = torch.from_numpy(make_source(patch, factor, degradation))[None, None]
        guide = torch.tensor(patch.guide).permute(2, 0, 1)[None].float() / 255
        truth = torch.tensor(patch.target)
        known = torch.isfinite(truth)
        with torch.no_grad():
            targets = (model(guide, source), interpolate_source(source, patch.size))
        for found, into in zip(targets, (errors, bicubic_errors), strict=True):
            into.append(float((found[0, 0] - truth)[known].square().mean() / truth[known].var()))
    degraded = degradation != _CLEAN
    name = f"{name} {degradation}" if degraded else name
    return Score(name, factor, float(np.mean(errors)), float(np.mean(bicubic_errors)), degraded)
