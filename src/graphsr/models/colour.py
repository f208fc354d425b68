"""The graph model without a network: edge weights from the colours of the guide."""

from __future__ import annotations

import torch

from graphsr.graph import Edges, edge_weights, power_law_distance, stack_strips
from graphsr.models.base import Model, whole
from graphsr.models.window import Locality, Window
from graphsr.sampling import interpolate_source
from graphsr.scaling import Scale, known_pixels
from graphsr.solver import Problem

# Edge weights are computed for so many pixels at a time.
_BAND_PIXELS = 2**16


class Colour(Model):
    """The paper's variant without a network: the features are the guide's channels and the interpolated source, of
    several channels their first principal component.

    Edge weights fall with a power of the difference instead of a Gaussian of it. The defaults were fitted on training
    pairs (docs/evidence/colour-model.md).
    """

    noise_unit = 4e-3  # fitted, docs/evidence/noise-and-outliers.md

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
        component = window.scale.first_component(interpolated)
        return Problem(
            self._edges(guide, component, window.scale),
            window.sampling,
            source,
            confidence,
            prior=interpolated,
            prior_weight=self.prior_weight,
            exact=exact,
            start=interpolated,
        )

    def _edges(self, guide: torch.Tensor, component: torch.Tensor, scale: Scale) -> Edges:
        """Return the edge weights of a guide (B, C, H, W) and the interpolated source's plane (B, 1, H, W).

        In strips of rows, so that what lies between stays in the cache.
        """
        height = component.shape[-2]
        rows = max(1, _BAND_PIXELS // (component.shape[0] * component.shape[-1]))
        parts = []
        for first in range(0, height, rows):
            strip = slice(first, min(first + rows + 1, height))  # with the first row of the next
            colours = scale.standardise_guide(guide[..., strip, :])
            features = torch.cat([colours, component[..., strip, :]], 1).to(component.dtype)
            distance = power_law_distance(features, self.mu, self.power)
            parts.append(edge_weights(distance, weight=self.weight, floor=self.floor))
        return stack_strips(parts)
