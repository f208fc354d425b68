"""Bicubic interpolation, the least that every model has to beat."""

from __future__ import annotations

import torch

from graphsr.errors import InputError
from graphsr.models.base import Model
from graphsr.models.window import Locality, Window
from graphsr.sampling import interpolate_source
from graphsr.scaling import known_pixels


class Bicubic(Model):
    """Pixel-centred bicubic interpolation of the source; the guide only gives the size."""

    has_graph = False

    @property
    def locality(self) -> Locality:
        return Locality()

    def prepare(
        self,
        guide: torch.Tensor,
        source: torch.Tensor,
        *,
        confidence: torch.Tensor | None = None,
        exact: bool = False,
        window: Window | None = None,
    ) -> torch.Tensor:
        if exact:
            raise InputError("model 'bicubic' cannot be exact; use a graph model such as 'colour'")
        if window is not None:
            return interpolate_source(source, window.sampling)
        return interpolate_source(source, (guide.shape[-2], guide.shape[-1]), known_pixels(source, confidence))
