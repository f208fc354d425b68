"""What models are told of the sources when they are measured."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from graphsr.footprints import check_footprint
from graphsr.measurements.alignment import check_align
from graphsr.measurements.noise import Noise, check_noise
from graphsr.models.base import Model


@dataclass(frozen=True)
class Options:
    """Options of `graphsr.upsample` that say how sources were made; models that weigh no source pixels do without."""

    noise: Noise | None = None
    robust: bool = False
    footprint: str = "box"
    align: str | None = None

    def __post_init__(self) -> None:
        check_noise(self.noise, exact=False)
        check_footprint(self.footprint)
        check_align(self.align)

    def arguments(self, model: Model) -> dict[str, Any]:
        """Return the arguments of `graphsr.upsample` for a model."""
        return {} if model.noise_unit is None else asdict(self)

    def label(self, name: str, model: Model) -> str:
        """Return what a model with these options is called in tables."""
        given = [] if model.noise_unit is None else self._given()
        return f"{name} ({', '.join(given)})" if given else name

    def _given(self) -> list[str]:
        """Return those that are not the default, as words."""
        values = [(field.name, getattr(self, field.name), field.default) for field in fields(self)]
        return [name if value is True else f"{name} {value}" for name, value, default in values if value != default]


NO_OPTIONS = Options()
