"""What models are told of the sources when they are measured."""

from __future__ import annotations

from dataclasses import dataclass, fields

from graphsr.models.base import Model
from graphsr.options import UpsamplingOptions


@dataclass(frozen=True, eq=False)
class Options(UpsamplingOptions):
    """Options that say how sources were made; models that weigh no source pixels do without."""

    def for_model(self, model: Model) -> Options:
        """Return what a model is told."""
        return NO_OPTIONS if model.noise_unit is None else self

    def label(self, name: str, model: Model) -> str:
        """Return what a model with these options is called in tables."""
        given = [] if model.noise_unit is None else self._given()
        return f"{name} ({', '.join(given)})" if given else name

    def _given(self) -> list[str]:
        """Return those that are not the default, as words."""
        values = [(field.name, getattr(self, field.name), field.default) for field in fields(self)]
        return [name if value is True else f"{name} {value}" for name, value, default in values if value != default]


NO_OPTIONS = Options()
