"""How good a model is on pairs it never saw, in the short form that training watches."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from graphsr.data import PairList
from graphsr.data.augmentation import centre_patch
from graphsr.data.degradation import average
from graphsr.data.pair import Pair
from graphsr.errors import InputError
from graphsr.evaluation.evaluate import Example
from graphsr.evaluation.example_sheet import example_sheet
from graphsr.evaluation.protocols import Case
from graphsr.models.base import Model
from graphsr.pictures import Picture
from graphsr.sampling import interpolate_source
from graphsr.upsampling import upsample


@dataclass(frozen=True)
class Score:
    """One data set at one factor: mean squared errors, in squared standard deviations of each patch's map."""

    name: str
    factor: float
    error: float
    bicubic_error: float

    @property
    def ratio(self) -> float:
        return self.error / self.bicubic_error


class Judge:
    """Centre patches of some pairs of each data set, read once."""

    def __init__(self, sets: Sequence[tuple[str, PairList]], size: int, factors: Sequence[float], most: int) -> None:
        self.factors = tuple(factors)
        self.patches: dict[str, list[Pair]] = {}
        for name, pairs in sets:
            # Spread over the data set: neighbours are often views of one scene.
            numbers = np.unique(np.linspace(0, len(pairs) - 1, min(most, len(pairs))).round().astype(int))
            patches = [centre_patch(pairs[int(n)], (size, size)) for n in numbers]
            self.patches[name] = [patch for patch in patches if np.nanstd(patch.target) > 0]
            if not self.patches[name]:
                raise InputError(f"{name}: no middle of a validation pair has any relief to judge by")

    def picture(self, model: Model) -> Picture:
        """One patch of each data set at the middle factor, to look at."""
        factor = self.factors[len(self.factors) // 2]
        examples = []
        for patches in self.patches.values():
            patch = patches[0]
            source = _source(patch, factor)
            result = upsample(patch.guide, source, model=model)
            examples.append(Example(Case(patch, source, np.isfinite(patch.target)), result.target, None))
        return example_sheet(examples, f"x{factor:g}")

    def scores(self, model: Model) -> list[Score]:
        return [
            _score(model, name, factor, patches) for name, patches in self.patches.items() for factor in self.factors
        ]


def overall(scores: Sequence[Score]) -> float:
    """The geometric mean of the ratios to bicubic, so that no data set and no factor outweighs another."""
    return float(np.exp(np.mean([np.log(score.ratio) for score in scores])))


def _source(patch: Pair, factor: float) -> np.ndarray:
    return average(patch.target, (round(patch.size[0] / factor), round(patch.size[1] / factor)))


def _score(model: Model, name: str, factor: float, patches: Sequence[Pair]) -> Score:
    errors: list[float] = []
    bicubic_errors: list[float] = []
    with torch.no_grad():
        for patch in patches:
            size = patch.size
            source = torch.from_numpy(_source(patch, factor))[None, None]
            guide = torch.tensor(patch.guide).permute(2, 0, 1)[None].float() / 255
            truth = torch.tensor(patch.target)
            known = torch.isfinite(truth)
            unit = truth[known].std().square()
            for found, into in (
                (model.run(guide, source)[0], errors),
                (interpolate_source(source, size), bicubic_errors),
            ):
                into.append(float((found[0, 0] - truth)[known].square().mean() / unit))
    return Score(name, factor, float(np.mean(errors)), float(np.mean(bicubic_errors)))
