"""What a GraphSR is made of."""

from __future__ import annotations

import math
from dataclasses import dataclass

from graphsr.errors import InputError
from graphsr.graph import FLOOR

# How far the network may raise or lower the floor of an edge weight (e^2.5 times).
MOST_FLOOR_CHANGE = 2.5


@dataclass(frozen=True)
class Architecture:
    """What a GraphSR is made of. The defaults are the paper's model; the rest goes beyond it.

    Attributes:
        extractor: A name of `graphsr.features.names()`.
        features: How many feature channels.
        decoder_channels: Widths of a U-Net's decoder from coarse to fine.
        sharp: Whether the last block of a U-Net's decoder sees the input.
        first_lambda: The strongest edge weight before training.
        first_mu: The difference of features that counts as one, before training.
        floor: The weakest edge weight as a part of the strongest.
        floors: Whether to predict the floor of every edge, about `floor`.
        offsets: Whether to predict offsets: slanted surfaces are not piecewise constant.
        hints: Whether to show the network the factor and which source pixels are known.
        detail: Whether to show the network how far each source pixel is from the median of those around it.
        confidence: Whether to predict the standard deviation of each source pixel's error, and from it a confidence.
        noise_statistics: Whether what predicts that also sees how the source as a whole was sampled, whether it lies
            aside, and how noisy it is.
        restoration: Width of a small network at the source's resolution that removes noise as far as it is predicted;
            0: none.
        colour_mu: The mu of the colour graph to begin from, which the network strengthens or weakens; 0: none.
        colour_power: With which power of the squared difference edge weights of that colour graph fall.
        first_target: Whether to show the network the target of that colour graph beside the interpolated source, and to
            predict how far its steps lower edge weights.
        local_scale: Whether the network sees source and targets on their scale around each pixel, instead of that of
            the whole source.
        reweighting: Width of a second, small network that looks at the target on the predicted graph and changes edge
            weights once more; 0: none.
        published: Guide scaling and interpolation of the reference implementation, for its checkpoints.
    """

    extractor: str = "unet-resnet50"
    features: int = 64
    decoder_channels: tuple[int, ...] | None = None
    sharp: bool = False
    first_lambda: float = 1.0
    first_mu: float = 0.1
    floor: float = FLOOR
    floors: bool = False
    offsets: bool = False
    hints: bool = False
    detail: bool = False
    confidence: bool = False
    noise_statistics: bool = False
    restoration: int = 0
    colour_mu: float = 0.0
    colour_power: float = 1.25
    first_target: bool = False
    local_scale: bool = False
    reweighting: int = 0
    published: bool = False

    @property
    def extra_channels(self) -> tuple[str, ...]:
        """Return the names of the network's output channels after the features."""
        offsets = ("offset_down", "offset_right") if self.offsets else ()
        share = ("colour_share",) if self.colour_mu > 0 else ()
        first = ("first_share",) if self.first_target else ()
        return (*offsets, *share, *(("floor",) if self.floors else ()), *first)

    def check(self) -> None:
        """Raise InputError for what does not fit together."""
        if self.extractor == "colour" and self.extra_channels:
            raise InputError(
                "GraphSR: the extractor 'colour' predicts nothing; leave offsets, floors and colour_mu out"
            )
        if not (self.first_lambda > 0 and self.first_mu > 0):
            raise InputError("GraphSR: first_lambda and first_mu must be positive")
        if not 0 <= self.floor < 1 or self.colour_mu < 0 or not self.colour_power > 0:
            raise InputError(
                "GraphSR: floor must lie in [0, 1), colour_mu must not be negative, colour_power be positive"
            )
        if self.first_target and (not self.colour_mu > 0 or self.published):
            raise InputError(
                "GraphSR: first_target is that of the colour graph: it needs colour_mu, and not `published`"
            )
        if self.noise_statistics and not self.confidence:
            raise InputError("GraphSR: noise_statistics are for the network of the noise: they need confidence")
        if self.restoration < 0 or (self.restoration and not self.confidence):
            raise InputError("GraphSR: restoration is a number of channels, and needs confidence")
        if self.reweighting < 0 or (self.reweighting and self.published):
            raise InputError("GraphSR: reweighting is a number of channels, and not for `published` models")
        if self.local_scale and (self.published or self.offsets):
            raise InputError(
                "GraphSR: local_scale is neither for `published` models nor for those that predict offsets"
            )
        if self.floors and not 0 < self.floor * math.exp(MOST_FLOOR_CHANGE) < 1:
            raise InputError(f"GraphSR: with floors, floor must be positive and below 0.08, not {self.floor}")
