"""How a source is upsampled: what a user says beside the guide and the source."""

from __future__ import annotations

import os
from dataclasses import dataclass

import numpy as np

from graphsr.errors import InputError
from graphsr.footprints import check_footprint
from graphsr.measurements.alignment import check_align
from graphsr.measurements.noise import Noise, check_noise
from graphsr.measurements.outliers import check_robust
from graphsr.measurements.source_errors import SourceErrors
from graphsr.measurements.uncertainty import check_uncertainty
from graphsr.models.base import Model, check_rtol
from graphsr.models.registry import load
from graphsr.probabilities import check_kind


@dataclass(frozen=True, eq=False)
class UpsamplingOptions:
    """The options of `graphsr.upsample`, which says what they mean; made where they enter, and passed on as they are.

    Raises:
        InputError: One of them is wrong for every pair, or two of them contradict each other.
    """

    model: str | os.PathLike[str] | Model = "default"
    confidence: np.ndarray | float | None = None
    exact: bool = False
    noise: Noise | None = None
    robust: bool | float = False
    footprint: str = "box"
    kind: str = "values"
    uncertainty: bool = False
    align: str | None = None
    rtol: float | None = None

    def __post_init__(self) -> None:
        for name in ("exact", "uncertainty"):
            _check_truth(name, getattr(self, name))
        check_kind(self.kind, self.exact, self.footprint)
        check_align(self.align)
        check_footprint(self.footprint)
        check_rtol(self.rtol)
        # Whatever kind of number or truth value was given, it is Python's from here on.
        object.__setattr__(self, "noise", check_noise(self.noise, exact=self.exact))
        object.__setattr__(self, "robust", check_robust(self.robust))

    @property
    def errors(self) -> SourceErrors:
        """Return what is said of the errors of the source."""
        return SourceErrors(self.noise, self.robust)

    def load_model(self) -> Model:
        """Return the model, with the tolerance that was asked for."""
        model = self.model if isinstance(self.model, Model) else load(self.model)
        return model.with_rtol(self.rtol)

    def looks_for_shift(self, model: Model, channels: int) -> bool:
        """Return whether a source of so many channels is corrected for a shift that nobody spoke of."""
        # An exact target averages back to the source where it was said to lie.
        return self.align is None and model.corrects_shift and not self.exact and channels == 1

    def check_model(self, model: Model) -> None:
        """Raise InputError if a model cannot do what is asked for."""
        if self.uncertainty:
            check_uncertainty(model)
        if self.errors.said and model.noise_unit is None:
            option = "robust" if self.noise is None else "noise"
            raise InputError(
                f"{option}: {type(model).__name__} does not weigh source pixels; use a graph model such as 'default' "
                "or 'colour'"
            )


def _check_truth(name: str, value: object) -> None:
    if not isinstance(value, (bool, np.bool_)):
        raise InputError(f"{name}: must be True or False, not {value!r}")
