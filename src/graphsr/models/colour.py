"""The graph model without a network: edge weights from the colours of the guide."""

from __future__ import annotations

import torch

from graphsr.graph import edge_weights, power_law_distance
from graphsr.models.base import Model, whole
from graphsr.models.window import Locality, Window
from graphsr.sampling import interpolate_source
from graphsr.scaling import known_pixels
from graphsr.solver import Problem


class Colour(Model):
    """The paper's variant without a network: the features are the guide's channels and the interpolated source, of
    several channels their first principal component.

    Edge weights fall with a power of the difference instead of a Gaussian of it. The defaults were fitted on training
    pairs (docs/design.md, "The colour model").
    """

    noise_unit = 4e-3  # fitted, docs/design.md, "Noise of the source"

    def __init__(
        self,
        weight: float = 9e-4,
        mu: float = 0.08,
        power: float = 1.75,
        floor: float = 2e-3,
        prior_weight: float = 3e-8,
    ) -> None:
        super().__init__()
        self.weight, self.mu, self.power, self.floor, self.prior_weight = weight, mu, power, floor, prior_weight

    @property
    def locality(self) -> Locality:
        return Locality(edge_weight=self.weight, floor=self.floor)

    def prepare(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
        window: Window | None = None,
    ) -> Problem:
        window = window or whole(guide, source, confidence)
        interpolated = interpolate_source(source, window.sampling, known_pixels(source, confidence))
        scale = window.scale
        features = torch.cat([scale.standardise_guide(guide), scale.first_component(interpolated)], 1)
        distance = power_law_distance(features.to(source.dtype), self.mu, self.power)
        return Problem(
            edge_weights(distance, weight=self.weight, floor=self.floor),
            window.sampling,
            source,
            confidence,
            prior=interpolated,
            prior_weight=self.prior_weight,
            exact=exact,
            start=interpolated,
        )
